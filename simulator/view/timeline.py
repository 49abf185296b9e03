"""The layout of a timeline in a picture: a lane for each actor, a bar for each instant, and a vertical line for each
barrier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .drawing import BARRIER, INK, LINE, MARK, MUTED, PAPER, PENDING, Box, Drawing, fitted, measured
from .scene import Bar, Times
from .style import RED

MARGIN: Final = 14.0
LANE: Final = 52.0
HEAD: Final = 16.0
PILL: Final = 18.0
FOOT: Final = 26.0
NARROWEST, WIDEST_COLUMN, WIDEST, USUAL = 23.0, 46.0, 1080.0, 620.0


def timeline(scene: Times, width: float | None = None) -> Drawing:
    """Lay out a timeline as a drawing. `width` is in points; the default is the width that the columns require."""
    return _Timeline(scene, width).draw()


class _Timeline:
    def __init__(self, scene: Times, width: float | None) -> None:
        self.scene = scene
        self.left = MARGIN + max(30.0, *(measured(lane.label, 9.5, True) + 14 for lane in scene.lanes), 0.0)
        widest = max((measured(label, 7.5) for label in scene.columns), default=0.0)
        count = max(1, len(scene.columns) + any(bar.end >= len(scene.columns) for bar in scene.bars))
        room = ((width or USUAL) - self.left - (MARGIN if width else 0)) / count
        wide = min(max(room, widest + 6, NARROWEST), max(WIDEST_COLUMN, widest + 6), WIDEST / count)
        self.column = min(wide, room) if width else wide
        self.rows = self._pill_rows()
        self.top = MARGIN + HEAD + PILL * (max(self.rows.values(), default=-1) + 1) + 4
        self.bottom = self.top + LANE * len(scene.lanes)
        self.width = width or max(self.left + self.column * count + MARGIN, 330.0)
        self.drawing = Drawing(self.width, self.bottom + FOOT + (13 if scene.caption else 0))

    def x(self, column: int) -> float:
        return self.left + self.column * (column + 0.5)

    def y(self, lane: int) -> float:
        return self.top + LANE * (lane + 0.46)

    def draw(self) -> Drawing:
        self._grid()
        for bar in self.scene.bars:
            if bar.barrier:
                self._barrier(bar)
        for number in range(len(self.scene.lanes)):
            self._dots(number)
        for bar in self.scene.bars:
            self._bar(bar)
        for number in range(len(self.scene.lanes)):
            self._labels(number)
        self._key()
        return self.drawing

    def _grid(self) -> None:
        drawing, scene, head = self.drawing, self.scene, MARGIN + 8
        if scene.marked is not None:
            half = min(10.0, self.column / 2)
            mark = Box(self.x(scene.marked) - half, MARGIN - 4, 2 * half, self.bottom - MARGIN + 4)
            drawing.box(mark, MARK, radius=3)
        drawing.text(MARGIN, head, scene.axis, 7.5, MUTED)
        free = self.left
        for number, label in enumerate(scene.columns):
            bold = number == scene.marked
            left = self.x(number) - measured(label, 7.5, bold) / 2
            before_mark = scene.marked is not None and number < scene.marked
            kept = self.x(scene.marked or 0) - measured(scene.columns[scene.marked or 0], 7.5, True) / 2 - 3
            if bold or (left >= free and (not before_mark or left + measured(label, 7.5) <= kept)):
                color = INK if bold else MUTED
                free = left + drawing.text(self.x(number), head, label, 7.5, color, anchor="middle", bold=bold) + 3
        for number, lane in enumerate(scene.lanes):
            drawing.line(self.left, self.y(number), self.width - MARGIN, self.y(number), LINE, 0.8)
            color = lane.hue.ink if scene.axis == "step" else INK  # writers of a table are not known
            drawing.text(MARGIN, self.y(number) + 3.3, lane.label, 9.5, color, bold=True)

    # barriers

    def _pill(self, bar: Bar) -> Box:
        width = measured(f"barrier {bar.begins}", 8) + 14
        return Box(max(self.x(bar.start) - width / 2, MARGIN), MARGIN + HEAD - 1, width, 14.5)

    def _pill_rows(self) -> dict[int, int]:
        ends: list[float] = []
        rows: dict[int, int] = {}
        for bar in sorted((bar for bar in self.scene.bars if bar.barrier), key=lambda bar: bar.start):
            pill = self._pill(bar)
            row = next((number for number, end in enumerate(ends) if end < pill.x - 4), len(ends))
            ends[row : row + 1] = [pill.x + pill.width]
            rows[bar.start] = row
        return rows

    def _barrier(self, bar: Bar) -> None:
        pill = self._pill(bar)
        pill = pill._replace(y=pill.y + PILL * self.rows[bar.start])
        self.drawing.line(self.x(bar.start), pill.y + 8, self.x(bar.start), self.bottom, MUTED, 1.1, BARRIER)
        self.drawing.box(pill, PAPER, MUTED, 0.8, radius=7)
        self.drawing.text(pill.x + pill.width / 2, pill.y + 10, f"barrier {bar.begins}", 8, anchor="middle")

    # instants

    def _bar(self, bar: Bar) -> None:
        drawing, hue = self.drawing, self.scene.lanes[bar.lane].hue.light
        x1, x2, y = self.x(bar.start), self.x(bar.end), self.y(bar.lane)
        if bar.ending == "completed":
            drawing.line(x1, y, x2, y, hue, 5.5)
            if bar.lost:
                drawing.dot(x2, y, 8, PAPER, RED[0], 1.9)
            drawing.dot(x2, y, 5, hue, PAPER, 1.2)
        else:
            drawing.line(x1, y, x2, y, PAPER, 3)
            drawing.line(x1, y, x2, y, hue, 2, PENDING)
        if bar.resumes is None:
            drawing.dot(x1, y, 4.4, PAPER, hue, 1.9)
        else:
            drawing.line(x1, self.y(bar.resumes), x1, y, MUTED, 1.4, PENDING)
        if bar.ending == "crashed":
            drawing.cross(x2, y)
        drawing.at[f"bar {bar.name}"] = Box(x2, y, 0, 0)

    def _labels(self, lane: int) -> None:
        bars = sorted((bar for bar in self.scene.bars if bar.lane == lane), key=lambda bar: bar.start)
        ends = [(place, bar.start, bar.begins) for place, bar in enumerate(bars)]
        ends += [(place, bar.end, bar.ends) for place, bar in enumerate(bars)]
        free = 0.0
        for place, column, time in sorted((end for end in ends if end[2]), key=lambda end: end[1]):
            bar, width = bars[place], measured(time, 8)
            at_barrier = bar.barrier and column == bar.start  # its line would cross a centred label
            left = max(self.x(column) + 7 if at_barrier else self.x(column) - width / 2, free)
            rise = 12 if bar.lost and column == bar.end else 9.5
            self.drawing.text(left, self.y(lane) - rise, time, 8)
            free = left + width + 3
        for place, bar in enumerate(bars, start=1):
            left = self.x(bar.start) + (7 if bar.barrier else -4)
            room = (self.x(bars[place].start) - 8 if place < len(bars) else self.width - 4) - left
            words = fitted(bar.content, room, 8, bar.mono, bar.mono)
            self.drawing.text(left, self.y(lane) + 15.5, words, 8, INK if bar.mono else MUTED, bold=bar.mono,
                              mono=bar.mono)  # fmt: skip

    def _dots(self, number: int) -> None:
        """Draw the steps of a reader as dots on a line, with sentences above and below; those of an actor
        with bars below its lane.
        """
        lane, y = self.scene.lanes[number], self.y(number)
        if not lane.dots:
            return
        has_bars = any(bar.lane == number for bar in self.scene.bars)
        heights = (y + 16, y + 25) if has_bars else (y + 13, y - 8)
        if not has_bars:
            self.drawing.line(self.x(lane.dots[0][0]), y, self.x(lane.dots[-1][0]), y, lane.hue.light, 1.6)
        free = [self.left, self.left]
        for place, (column, sentence) in enumerate(lane.dots):
            x = self.x(column)
            self.drawing.dot(x, y + 7 if has_bars else y, 2.2 if has_bars else 2.8, lane.hue.light)
            width = measured(sentence, 7.5)
            left = min(x, self.width - MARGIN - width)
            row = next((each for each in (place % 2, 1 - place % 2) if left >= free[each]), None)
            if row is not None:
                self.drawing.text(left, heights[row], sentence, 7.5, MUTED)
                free[row] = left + width + 6

    # the key

    def _key(self) -> None:
        drawing, y = self.drawing, self.bottom + 13
        signs = list(self._signs())
        width = sum(26 + measured(words, 7.5) for _, words in signs)
        x = self.left if self.left + width < self.width else MARGIN
        for sign, words in signs:
            if sign == "requested":
                drawing.dot(x + 4, y - 3, 3.4, PAPER, MUTED, 1.5)
            elif sign == "completed":
                drawing.dot(x + 4, y - 3, 3.9, MUTED)
            elif sign == "pending":
                drawing.line(x - 5, y - 3, x + 9, y - 3, MUTED, 1.8, PENDING)
            elif sign == "crashed":
                drawing.cross(x + 4, y - 3, 3)
            elif sign == "lost":
                drawing.dot(x + 3, y - 3, 5.4, PAPER, RED[0], 1.6)
                drawing.dot(x + 3, y - 3, 3.2, MUTED)
            else:
                drawing.line(x + 4, y - 10, x + 4, y + 4, MUTED, 1.1, BARRIER)
            x += 12 + drawing.text(x + 12, y, words, 7.5, MUTED) + 14
        drawing.text(MARGIN, y + 13, self.scene.caption, 7.5, MUTED)

    def _signs(self) -> Iterator[tuple[str, str]]:
        bars = self.scene.bars
        yield "requested", "requested"
        for ending, words in (("completed", "completed"), ("pending", "pending"), ("crashed", "its actor died")):
            if any(bar.ending == ending for bar in bars):
                yield ending, words
        if any(bar.lost for bar in bars):
            yield "lost", "completed, and lost"
        if any(bar.barrier for bar in bars):
            yield "barrier", "barrier: a plan was requested"
