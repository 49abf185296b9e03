"""The picture of a run: the page's static figure, with the verdict and the one sentence that a stranger needs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from nbcc.simulator.view.frames import document
from nbcc.simulator.view.style import SURFACES, VERDICTS, hues
from nbcc.simulator.view.svg import NARROW, figure, words

from .find import Found

SENTENCE_WIDTH = 60
"""Characters a line, so that the sentence stays left of the answers."""
SIZE, LINE = 16, 21
INK, MUTED = SURFACES["ink"][0], SURFACES["muted"][0]


def picture(found: Found) -> str:
    """The SVG file, self-contained and light: it has to be read on a page of any colour."""
    told = document(found.trace)
    body = figure(told, NARROW).removesuffix("</svg>")
    return f"{body}{''.join(_heading(told, found))}</svg>\n"


def _heading(told: dict[str, Any], found: Found) -> Iterator[str]:
    outline, sign = VERDICTS.get(told["verdict"], VERDICTS["UNDETERMINED"])
    yield (
        f'<path d="{outline}" fill="{INK}" transform="translate(2 2) scale(.8)"/><path d="{sign}" fill="none" '
        f'stroke="#fff" stroke-width="2.2" stroke-linecap="round" transform="translate(2 2) scale(.8)"/>'
    )
    said = "KEPT" if found.entry.keeps else told["verdict"]
    rule = told["views"][0]["label"] or "default protocol"
    yield words(25, 15, said, 12, INK, font_weight="700", letter_spacing=".04em")
    yield words(38 + 8.6 * len(said), 15, f"{told['promise']['name']} · {rule}", 12, MUTED)
    colours = _colours(told)
    sentence = [f"{found.entry.title}."] if found.entry.keeps else told["sentence"]
    for place, line in enumerate(_lines(sentence)):
        spans = "".join(_span(text, colours.get(time)) for text, time in line)
        yield f'<text x="2" y="{38 + LINE * place}" font-size="{SIZE}" font-weight="600" fill="{INK}">{spans}</text>'


def _colours(told: dict[str, Any]) -> dict[int, str]:
    """Requested time -> the hue of its actor."""
    hue = dict(zip(told["actors"], hues(told["kinds"]), strict=True))
    return {int(time): hue[history[0][1][3]].ink for time, history in told["views"][0]["instants"].items()}


def _span(text: str, colour: str | None) -> str:
    return f'<tspan fill="{colour}">{escape(text)}</tspan>' if colour else escape(text)


def _lines(sentence: list[Any]) -> Iterator[list[tuple[str, int]]]:
    """The sentence in lines, broken between words; a piece is (text, requested time or 0)."""
    line: list[tuple[str, int]] = []
    length = 0
    for part in sentence:
        text, time = (part, 0) if isinstance(part, str) else (part[0], int(part[1]))
        for number, word in enumerate(text.split(" ")):
            space = " " if number else ""
            if space and length + 1 + len(word) > SENTENCE_WIDTH:
                yield line
                line, length, space = [], 0, ""
            line.append((space + word, time))
            length += len(space + word)
    yield line
