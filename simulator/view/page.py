"""The page of a trace as one HTML file that needs no network access."""

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
    """Return the page of a trace as HTML text, at most 300 kB for 2,000 steps. The page opens at the step that violates
    the promise.
    """
    return page(document(trace))


def page(doc: dict[str, Any]) -> str:
    """Return the HTML page for a value that `frames.document` has returned."""
    outline, sign = VERDICTS.get(doc["verdict"], VERDICTS["UNDETERMINED"])
    own = doc["views"][0]
    words = {
        "title": f"{doc['verdict']} {doc['promise']['name']} {doc['handle']}",
        "verdict": doc["verdict"],
        "promise": doc["promise"]["name"],
        "about": doc["promise"]["about"],
        "source": doc["promise"]["source"]
        .replace("RFC-66", "RFC-66 of Apache Hudi", 1)
        .replace("docs/contract.md", "nbcc's contract", 1),
        "rule": own["label"] or "default protocol",
        "handle": doc["handle"],
        "sentence": plain(doc["sentence"]),
    }
    markup = {
        "variables": css_variables(doc["kinds"]),
        "css": _asset("page.css"),
        "script": _asset("page.js"),
        "outline": outline,
        "sign": sign,
        "figure": svg(figure(doc)),
        "explanation": "".join(f"<li>{escape(plain(caption))}</li>" for caption in _captions(doc)),
        "data": embedded(doc),
    }
    return Template(_asset("page.html")).substitute({name: escape(text) for name, text in words.items()} | markup)


def embedded(value: Any) -> str:
    """Return a value as JSON for an HTML script element, with `<` and `&` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def plain(parts: list[Any]) -> str:
    """Return a sentence as plain text, without colours."""
    return "".join(part if isinstance(part, str) else part[0] for part in parts)


def _captions(doc: dict[str, Any]) -> list[list[Any]]:
    own = doc["views"][0]
    number = next((answer[2] for step, answer in reversed(own["answers"]) if step <= doc["breaking"]), None)
    if number is None:
        return [[doc["because"]]] if doc["because"] else []
    explanation = own["explanations"][number]
    return [*explanation["captions"], *([explanation["right"]] if explanation["right"] else [])]


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
