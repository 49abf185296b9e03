"""The picture of a run: the page's static figure, with the verdict and the sentence that explains it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from nbcc.simulator.view.content import PageContent
from nbcc.simulator.view.drawing import INK, MUTED, PAPER, Drawing, fitted, moved, outline_of, svg
from nbcc.simulator.view.figure import TIMES, figure
from nbcc.simulator.view.style import VERDICTS, hues
from nbcc.simulator.view.trace_content import content_of

from .find import Found

SENTENCE_WIDTH = 60
"""Characters of a line, so that the sentence does not overlap the answers."""
SIZE, LINE = 11.5, 15


def picture(found: Found) -> str:
    """Return the text of the SVG file. The picture needs no other file, and has a light background."""
    content = content_of(found.trace)
    drawing = figure(content)
    _heading(drawing, content, found)
    return f"{svg(drawing, *_sentence(content, found))}\n"


def _heading(drawing: Drawing, content: PageContent, found: Found) -> None:
    outline, sign = VERDICTS.get(content.verdict, VERDICTS["UNDETERMINED"])
    drawing.shape(moved(outline_of(outline), 0.55, 14, 8), fill=INK)
    drawing.shape(moved(outline_of(sign), 0.55, 14, 8), stroke=PAPER, width=1.4)
    verdict = "KEPT" if found.entry.keeps else content.verdict
    rule = content.own.label or "default protocol"
    width = drawing.text(30, 16.5, verdict, 8.5, bold=True)
    claim = f"{content.promise} · {rule}"
    drawing.text(38 + width, 16.5, fitted(claim, TIMES - 38 - width, 8.5), 8.5, MUTED)


def _sentence(content: PageContent, found: Found) -> Iterator[str]:
    hue = dict(zip(content.actors, hues(content.kinds), strict=True))
    begun = ((time, history[0][1]) for time, history in content.own.instants.items())
    colours = {time: hue[first.actor].ink for time, first in begun if first}
    sentence = [f"{found.entry.title}."] if found.entry.keeps else content.sentence
    for place, line in enumerate(_lines(sentence)):
        spans = "".join(_span(text, colours.get(time)) for text, time in line)
        yield f'<text x="14" y="{34 + LINE * place}" font-size="{SIZE}" font-weight="600" fill="{INK}">{spans}</text>'


def _span(text: str, colour: str | None) -> str:
    return f'<tspan fill="{colour}">{escape(text)}</tspan>' if colour else escape(text)


def _lines(sentence: list[Any]) -> Iterator[list[tuple[str, int]]]:
    """Split the sentence into lines at spaces; a part is (text, requested time or 0)."""
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
