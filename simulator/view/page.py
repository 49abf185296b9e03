"""The page of a trace as one HTML file that needs no network access."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from .content import PageContent, Parts
from .drawing import svg
from .figure import figure
from .style import VERDICTS, css_variables


def render(content: PageContent) -> str:
    """Return the page of a trace as HTML text, at most 300 kB for 2,000 steps. The page opens at the step that violates
    the promise. `trace_content.content_of` computes the content of a trace.
    """
    outline, sign = VERDICTS.get(content.verdict, VERDICTS["UNDETERMINED"])
    words = {
        "title": f"{content.verdict} {content.promise} {content.handle}",
        "verdict": content.verdict,
        "promise": content.promise,
        "rule": content.own.label or "default protocol",
        "handle": content.handle,
        "sentence": plain(content.sentence),
    }
    markup = {
        "variables": css_variables(content.kinds),
        "css": _asset("page.css"),
        "script": _asset("page.js"),
        "promised": _promised(content),
        "outline": outline,
        "sign": sign,
        "figure": svg(figure(content)),
        "explanation": "".join(f"<li>{escape(plain(caption))}</li>" for caption in _captions(content)),
        "data": embedded({**_fields(content), "shapes": VERDICTS}),
    }
    return Template(_asset("page.html")).substitute({name: escape(text) for name, text in words.items()} | markup)


def _fields(content: PageContent) -> dict[str, Any]:
    """Return the content for the script of the page: records with many fields by name, the others as lists."""
    views = [
        {
            **each._asdict(),
            "files": list(each.files.items()),
            "explanations": [explanation._asdict() for explanation in each.explanations],
            "promises": [promise._asdict() for promise in each.promises],
        }
        for each in content.views
    ]
    return {**content._asdict(), "views": views, "systems": [each._asdict() for each in content.systems]}


def embedded(value: Any) -> str:
    """Return a value as JSON for an HTML script element, with `<` and `&` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def plain(parts: Parts) -> str:
    """Return a sentence as plain text, without colours."""
    return "".join(part if isinstance(part, str) else part[0] for part in parts)


def _promised(content: PageContent) -> str:
    if not content.promise:
        return ""
    source = content.source.replace("RFC-66", "RFC-66 of Apache Hudi", 1)
    source = escape(source.replace("docs/contract.md", "nbcc's contract", 1))
    name, about = escape(content.promise), escape(content.about)
    return f'<p class="promise"><b>{name}</b> promises: {about} <cite>{source}</cite></p>'


def _captions(content: PageContent) -> list[Parts]:
    explanation = content.explanation_at(content.breaking)
    if explanation is None:
        return [*content.differing] or ([[content.because]] if content.because else [])
    return [*explanation.captions, *([explanation.right] if explanation.right else [])]


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
