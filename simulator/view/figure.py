"""The pictures of a trace: the timeline and the files after a given step, and one static figure of the step that
violates the promise, for print, the gallery, and browsers without scripts.

In the figure, the timeline is on the left. The files are on the right, or below the timeline if there are many file
groups. The answer of the read and the correct answer are drawn above the files. A red path leads from a write through
its log file to the wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from nbcc.model.kernel.reader import READER
from nbcc.model.mechanisms import actions
from nbcc.model.mechanisms.flink.mechanism import (
    ABORTS,
    COMMIT_FAILS,
    COMPLETES,
    FLINK_JOB,
    RESTARTS,
    ROLLS_BACK,
    UNDOES_FAILED,
)  # fmt: skip

from ..trace import Trace
from .content import NO_ANSWER, ContentRow, FileName, FileState, PageContent, value_at
from .drawing import INK, LINE, PAPER, Box, Drawing, fitted, measured
from .scene import Bar, Chip, Ending, Files, Group, Lane, Slice, Times, cells, shortened
from .slices import slices
from .style import RED, SERVICE, Hue, hues
from .timeline import timeline
from .trace_content import content_of

TOP: Final = 62.0
TIMES: Final = 400.0
ANSWER: Final = 32.0
MOST_STEPS: Final = 40
COLUMN: Final = {1: 300.0, 2: 210.0}
_OF_FLINK = (COMPLETES, COMMIT_FAILS, UNDOES_FAILED, ABORTS, RESTARTS, ROLLS_BACK)
_ENDINGS: dict[str, Ending] = {"completed": "completed", "crashed": "crashed"}


def scenes_of_trace(trace: Trace, step: int | None) -> tuple[Times, Files]:
    """Return the timeline and the files after `step` steps. By default, `step` is the step that violates the promise.
    """
    content = content_of(trace)
    stopped = content.own.stopped
    last = stopped[0] - 1 if stopped else len(trace.steps)
    if step is not None and not 0 <= step <= last:
        refusal = f"; step {stopped[0]} cannot be taken: {'; '.join(stopped[1])}" if stopped else ""
        raise ValueError(f"step {step} of a trace with {last} steps{refusal}")
    moment = Moment(content, content.breaking if step is None else step)
    return moment.times(), moment.files()


def _of_flink(sentence: str) -> str:
    """Return few words for a step of a Flink job that no instant shows, or an empty text for another step."""
    for name in _OF_FLINK:
        pattern = re.sub(r"\\{\w+\\}", ".+", re.escape(actions()[name].sentence)).removeprefix(r".+\ ")
        if re.fullmatch(pattern, sentence):
            return name.removeprefix(f"{FLINK_JOB.name}_").replace("_", " ")
    return ""


class Moment:
    """The state of a run after `step` steps, under the protocol of the trace."""

    def __init__(self, content: PageContent, step: int) -> None:
        self.content, self.step, self.own = content, step, content.own
        self.hue: dict[str, Hue] = dict(zip(content.actors, hues(content.kinds), strict=True))
        self.answer = value_at(self.own.answers, step) or NO_ANSWER
        self.explanation = content.explanation_at(step)

    def actor_of(self, time: int | None) -> str:
        """Return the actor that began the instant with this requested time, or "" if the instant is unknown."""
        began = next((value for _, value in self.own.instants.get(time or 0, ()) if value), None)
        return began.actor if began else ""

    # time

    def times(self, most: int | None = None) -> Times:
        """Return the timeline, with steps as columns and actors as lanes. Each of the last `most` steps has its own
        column; all earlier steps share one column.
        """
        first = max(0, self.step - most) if most else 0
        columns = [*(["…"] if first else []), *map(str, range(first + 1, self.step + 1))]
        skipped = first - 1 if first else 0
        bars = (bar for time in self.own.instants for bar in self._bars(time, skipped))
        return Times(
            axis="step",
            columns=tuple(columns),
            lanes=tuple(self._lane(place, skipped) for place in range(len(self.content.actors))),
            bars=tuple(bar for bar in bars if not first or bar.end),
            marked=len(columns) - 1 if self.step else None,
        )

    def _lane(self, place: int, skipped: int) -> Lane:
        actor, steps = self.content.actors[place], enumerate(self.content.steps[: self.step], 1)
        kind = self.content.kinds[place]
        if kind not in (READER.name, FLINK_JOB.name):
            return Lane(actor, self.hue[actor])
        own = ((number, each.sentence) for number, each in steps if each.actor == place and number > skipped)
        dots = ((number - skipped - 1, self.content.sentences[sentence]) for number, sentence in own)
        if kind == FLINK_JOB.name:
            dots = ((column, words) for column, sentence in dots if (words := _of_flink(sentence)))
        return Lane(actor, self.hue[actor], tuple(dots))

    def _bars(self, time: int, skipped: int) -> Iterator[Bar]:
        seen = [(step, value) for step, value in self.own.instants[time] if step <= self.step and value is not None]
        if not seen:
            return
        lanes, service = self.content.actors, self.content.services.get(seen[-1][1].actor)
        column, begins, resumed = max(seen[0][0] - skipped, 0), f"t{time}", None
        content = service.word if service else cells(self._rows_of(time), self.content.ranked)
        barrier = service is not None and service.barrier

        def bar(lane: int, until: int, ending: Ending, ends: str = "") -> Bar:
            lost = self.explanation is not None and self.explanation.instant == time and ending != "crashed"
            start = max(column - 1, 0)
            return Bar(
                str(time), lane, start, max(until - skipped - 1, start), ending, begins, ends, content, not service,
                barrier and resumed is None, lost, resumed,
            )  # fmt: skip

        for (died, before), (taken, _) in pairwise(seen):
            if before.state == "crashed":
                lane = lanes.index(before.actor)
                yield bar(lane, died, "crashed")
                column, begins, content, resumed = max(taken - skipped, 0), "", "", lane
        last = seen[-1][1]
        ending = _ENDINGS.get(last.state, "pending")
        until = seen[-1][0] if ending != "pending" else self.step
        yield bar(lanes.index(last.actor), until, ending, f"t{last.completed}" if last.completed else "")

    def _rows_of(self, time: int) -> list[ContentRow]:
        logs = (history for name, history in self.own.files.items() if name.kind == "log" and name.time == time)
        return [row for history in logs if (first := history[0][1]) for row in first.rows]

    # files

    def files(self) -> Files:
        """Return the file groups and their file slices after `step` steps."""
        parts: dict[tuple[int, int], dict[FileName, FileState]] = {}
        for name, history in self.own.files.items():
            if (state := value_at(history, self.step)) is not None:
                barrier = state.barrier if name.kind == "log" else name.time
                parts.setdefault((name.group, barrier), {})[name] = state
        barriers = sorted({barrier for _, barrier in parts} | {0})
        return Files(
            tuple(
                Group(
                    f"file group {number}",
                    tuple(
                        self._slice(FileName("slice", number, barrier), barriers.index(barrier), files)
                        for (group, barrier), files in sorted(parts.items(), reverse=True)
                        if group == number
                    ),
                )
                for number in range(self.content.groups)
            )
        )

    def _slice(self, name: FileName, order: int, files: Mapping[FileName, FileState]) -> Slice:
        whole = files.get(name, FileState("read", ""))
        lead = self.explanation.file if self.explanation else None
        names = sorted((f for f in files if f != name), key=lambda f: (f.kind != "base", f != lead, str(f)))
        chips = tuple(self._chip(file, files[file]) for file in names)
        barrier = f"t{name.time}" if name.time else ""
        return Slice(str(name), order, barrier, chips, whole.status == "hidden", whole.reason)

    def _chip(self, name: FileName, file: FileState) -> Chip:
        lost = self.explanation is not None and self.explanation.file == name
        base = name.kind == "base"
        text = "" if base and file.status == "pending" else cells(file.rows, self.content.ranked)
        own = f"base t{name.time}" if base else f"t{name.time}.log.{name.version}"
        notes = tuple(note for note in (own if text else "", file.reason) if note)
        if base:
            return Chip(str(name), "base", text or own, "", notes, SERVICE, file.status, lost)
        instant = value_at(self.own.instants.get(name.time, ()), self.step)  # None: archived, or rolled back
        at = f"@t{instant.completed}" if instant and instant.completed else ""
        hue = self.hue.get(self.actor_of(name.time))
        return Chip(str(name), "log", text or own, at, notes, hue or SERVICE, file.status, lost)


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
