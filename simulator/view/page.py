"""The page of a trace: one HTML file that needs no network."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from ..trace import Trace
from .figure import figure
from .frames import document
from .style import VERDICTS, css_variables
from .svg import svg


def render(trace: Trace) -> str:
    """The page as HTML text, at most 300 kB for 2,000 steps. It opens on the breaking step."""
    return page(document(trace))


def page(told: dict[str, Any]) -> str:
    """The page of a value of `frames.document`."""
    outline, sign = VERDICTS.get(told["verdict"], VERDICTS["UNDETERMINED"])
    own = told["views"][0]
    words = {
        "title": f"{told['verdict']} {told['promise']['name']} {told['handle']}",
        "verdict": told["verdict"],
        "promise": told["promise"]["name"],
        "about": told["promise"]["about"],
        "source": told["promise"]["source"]
        .replace("RFC-66", "RFC-66 of Apache Hudi", 1)
        .replace("docs/contract.md", "nbcc's contract", 1),
        "rule": own["label"] or "default protocol",
        "handle": told["handle"],
        "sentence": plain(told["sentence"]),
    }
    markup = {
        "variables": css_variables(told["kinds"]),
        "css": _asset("page.css"),
        "script": _asset("page.js"),
        "outline": outline,
        "sign": sign,
        "figure": svg(figure(told)),
        "explanation": "".join(f"<li>{escape(plain(caption))}</li>" for caption in _captions(told)),
        "data": embedded(told),
    }
    return Template(_asset("page.html")).substitute({name: escape(text) for name, text in words.items()} | markup)


def embedded(value: Any) -> str:
    """JSON for a script element, with `<` and `&` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def plain(parts: list[Any]) -> str:
    """A sentence without its colours."""
    return "".join(part if isinstance(part, str) else part[0] for part in parts)


def _captions(told: dict[str, Any]) -> list[list[Any]]:
    """The sentences of the path at the breaking step, and the effect of the default protocol."""
    own = told["views"][0]
    number = next((answer[2] for step, answer in reversed(own["answers"]) if step <= told["breaking"]), None)
    if number is None:
        return [[told["because"]]] if told["because"] else []
    explanation = own["explanations"][number]
    return [*explanation["captions"], *([explanation["right"]] if explanation["right"] else [])]


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
