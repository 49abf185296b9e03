"""Draws a trace at the step that violates the promise, as one static picture for print, the gallery, and browsers
without scripts.

The timeline is on the left. The files are on the right, or below the timeline if there are many file groups. The answer
of the read and the correct answer are drawn above the files. A red path leads from a write through its log file to the
wrong answer.
"""

from __future__ import annotations

from typing import Final

from .content import ContentRow, PageContent
from .drawing import INK, LINE, PAPER, Box, Drawing, fitted, measured
from .scene import shortened
from .slices import slices
from .style import RED
from .timeline import timeline
from .trace_scene import Moment

TOP: Final = 62.0
TIMES: Final = 400.0
ANSWER: Final = 32.0
MOST_STEPS: Final = 40
COLUMN: Final = {1: 300.0, 2: 210.0}


def figure(content: PageContent) -> Drawing:
    """Draw a trace. The top `TOP` points are left free for a heading."""
    moment = Moment(content, content.breaking)
    files = moment.files()
    right = slices(files, COLUMN.get(len(files.groups), 0))
    is_below = len(files.groups) not in COLUMN
    left = timeline(moment.times(MOST_STEPS), right.width if is_below else TIMES)
    start = 0.0 if is_below else left.width
    below = TOP + (left.height if is_below else 0)
    drawing = Drawing(start + right.width + 14, max(TOP + left.height, below + right.height))
    drawing.include(left, 0, TOP)
    drawing.include(right, start, below)
    _answers(drawing, moment, TIMES + 14 if is_below else start + 14)
    _path(drawing, moment)
    return drawing


def _answers(drawing: Drawing, moment: Moment, x: float) -> None:
    content = moment.content
    answers = [{row.key: row for row in rows or ()} for rows in (moment.answer.must, moment.answer.got)]
    key = min((key for rows in answers for key in rows), key=lambda key: (key != content.key, key), default=None)
    if key is None:
        return
    width = (drawing.width - 28 - x - 12) / 2
    for place, (title, rows) in enumerate(zip(("must answer", "reader got"), answers, strict=True)):
        left = x + place * (width + 12)
        drawing.text(left, 18, f"{title} · {content.reading}", 8, bold=True)
        found = rows.get(key, ContentRow(key, None, None))
        wrong = moment.explanation is not None and key == content.key
        box = Box(left, 25, width, ANSWER - 8)
        drawing.box(box, PAPER, (RED[0] if place else INK) if wrong else LINE, 1.4)
        drawing.at[f"answer {place}"] = box
        drawing.text(left + 8, 40.5, shortened(key, 9), 9.5, bold=True, mono=True)
        actor = moment.actor_of(found.requested)
        start, room = left + width * 0.38, width * 0.62 - 14 - measured(actor, 9.5, bold=True)
        row = "no row" if found.value is None else found.value
        drawing.text(start, 40.5, fitted(row, room, 9.5, mono=True), 9.5, bold=True, mono=True)
        if actor:
            drawing.text(left + width - 8, 40.5, actor, 9.5, moment.hue[actor].ink, anchor="end", bold=True)


def _path(drawing: Drawing, moment: Moment) -> None:
    if (explanation := moment.explanation) is None:
        return
    at = drawing.at
    on_base = explanation.stop.kind == "base"
    source_file = explanation.source_file or (explanation.stop if on_base else explanation.file)
    path = (f"bar {explanation.instant}", explanation.file, source_file, "answer 1", explanation.stop)
    names = tuple(map(str, path))
    if any(name not in at for name in names):
        return
    write, file, source, answer, stop = (at[name] for name in names)
    barrier = at.get(f"barrier {explanation.slice._replace(time=explanation.barrier)}")
    fy, left = file.y + file.height / 2, at[str(explanation.slice)].x
    along = left + 2.5 if file.x - left < 12 else file.x + 24  # the margin of the slice, or right of its title
    sy = stop.y + stop.height if on_base else barrier.y if barrier else file.y + file.height
    sx = along if sy < fy else file.x + file.width - 9
    edge, bend = drawing.width - 10, min(50.0, abs(file.x - write.x) / 2)
    outline: list[tuple[str, tuple[float, ...]]] = [
        ("M", (write.x, write.y)),
        ("C", (write.x + bend, write.y, file.x - bend, fy, file.x, fy)),
    ]
    if sy < fy:
        outline += [("L", (sx, fy)), ("L", (sx, sy))] if sx < file.x else [("M", (sx, file.y)), ("L", (sx, sy))]
    outline += [("M", (source.x + 40, source.y))]
    y = answer.y + answer.height / 2
    corners = ((source.x + 40, source.y - 3), (edge, source.y - 3), (edge, y), (answer.x + answer.width, y))
    outline += [("L", corner) for corner in corners]
    drawing.shape(tuple(outline), stroke=PAPER, width=4)
    drawing.shape(tuple(outline), stroke=RED[0], width=1.8)
    stops = ((write.x, write.y), (file.x, fy), (sx, sy), (answer.x + answer.width, y))
    for number, (x, height) in enumerate(stops, start=1):
        drawing.dot(x, height, 6.2, RED[0], PAPER, 1)
        drawing.text(x, height + 2.8, str(number), 7.5, PAPER, anchor="middle", bold=True)
