"""Drawing of a timeline: a lane an actor, a bar an instant, a barrier a line through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .plot_canvas import BARRIER, INK, LINE, MARK, MUTED, PAPER, PENDING, Canvas, fitted, measured
from .plot_scene import Bar, Times
from .style import RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 14
LANE = 52
HEAD = 16
PILL = 18
FOOT = 26
COLUMN = (23.0, 46.0)  # the narrowest and the widest
WIDEST = 1080.0
USUAL = 620.0


def draw(scene: Times, ax: Axes | None) -> Axes:
    """The scene on `ax`, or in a figure of its own; the axes that it is drawn on."""
    return _Drawing(scene, ax).draw()


class _Drawing:
    def __init__(self, scene: Times, ax: Axes | None) -> None:
        self.scene = scene
        self.left = MARGIN + max(30.0, *(measured(lane.label, 9.5, True) + 14 for lane in scene.lanes), 0.0)
        widest = max((measured(label, 7.5) for label in scene.columns), default=0.0)
        count = len(scene.columns) + any(bar.end >= len(scene.columns) for bar in scene.bars)
        room = (USUAL - self.left) / max(1, count)
        self.column = min(max(room, widest + 6, COLUMN[0]), max(COLUMN[1], widest + 6), WIDEST / max(1, count))
        self.rows = self._pill_rows()
        self.top = MARGIN + HEAD + PILL * (max(self.rows.values(), default=-1) + 1) + 4
        self.bottom = self.top + LANE * len(scene.lanes)
        self.width = max(self.left + self.column * count + MARGIN, 330.0)
        foot = FOOT + (13 if scene.caption else 0)
        self.canvas = Canvas(self.width, self.bottom + foot, ax)

    def x(self, column: int) -> float:
        return self.left + self.column * (column + 0.5)

    def y(self, lane: int) -> float:
        return self.top + LANE * (lane + 0.46)

    def draw(self) -> Axes:
        self._grid()
        for bar in self.scene.bars:
            if bar.barrier:
                self._barrier(bar)
        for bar in self.scene.bars:
            self._bar(bar)
        self._labels()
        self._key()
        return self.canvas.ax

    def _grid(self) -> None:
        canvas, scene, head = self.canvas, self.scene, MARGIN + 8
        if scene.marked is not None:
            x = self.x(scene.marked)
            canvas.box(x - 10, MARGIN - 4, 20, self.bottom - MARGIN + 4, fill=MARK, radius=3)
        canvas.text(MARGIN, head, scene.axis, 7.5, MUTED)
        free = 0.0
        for number, label in enumerate(scene.columns):
            wide, bold = measured(label, 7.5), number == scene.marked
            if bold or self.x(number) - wide / 2 > free:
                canvas.text(self.x(number), head, label, 7.5, INK if bold else MUTED, ha="center", bold=bold)
                free = self.x(number) + wide / 2 + 3
        for number, lane in enumerate(scene.lanes):
            y = self.y(number)
            canvas.line((self.left, self.width - MARGIN), (y, y), LINE, 0.8)
            color = lane.hue.light if scene.axis == "step" else INK  # a lane of a table is nobody's
            canvas.text(MARGIN, y + 3.3, lane.label, 9.5, color, bold=True)

    # barriers

    def _pill(self, bar: Bar) -> tuple[float, float]:
        """Left and right end of the label of a barrier."""
        half = (measured(f"barrier {bar.begins}", 8) + 14) / 2
        middle = max(self.x(bar.start), MARGIN + half)
        return middle - half, middle + half

    def _pill_rows(self) -> dict[int, int]:
        """Start of a barrier -> row of its label, so that no two overlap."""
        ends: list[float] = []
        rows: dict[int, int] = {}
        for bar in sorted((bar for bar in self.scene.bars if bar.barrier), key=lambda bar: bar.start):
            left, right = self._pill(bar)
            row = next((n for n, end in enumerate(ends) if end < left - 4), len(ends))
            ends[row : row + 1] = [right]
            rows[bar.start] = row
        return rows

    def _barrier(self, bar: Bar) -> None:
        canvas, x = self.canvas, self.x(bar.start)
        left, right = self._pill(bar)
        top = MARGIN + HEAD + PILL * self.rows[bar.start]
        canvas.line((x, x), (top + 7, self.bottom), MUTED, 1.1, linestyle=BARRIER)
        canvas.box(left, top - 1, right - left, 14.5, fill=PAPER, edge=MUTED, line=0.8, radius=7)
        canvas.text((left + right) / 2, top + 9, f"barrier {bar.begins}", 8, ha="center")

    # instants

    def _bar(self, bar: Bar) -> None:
        canvas, hue = self.canvas, self.scene.lanes[bar.lane].hue.light
        x1, x2, y = self.x(bar.start), self.x(bar.end), self.y(bar.lane)
        if bar.ending == "completed":
            canvas.line((x1, x2), (y, y), hue, 5.5)
            if bar.lost:
                canvas.dot(x2, y, 8, PAPER, edge=RED[0], line=1.9)
            canvas.dot(x2, y, 5, hue, edge=PAPER, line=1.2)
        else:
            canvas.line((x1, x2), (y, y), PAPER, 3)
            canvas.line((x1, x2), (y, y), hue, 2, linestyle=PENDING, dash_capstyle="butt")
        canvas.dot(x1, y, 4.4, PAPER, edge=hue, line=1.9)
        if bar.ending == "crashed":
            canvas.cross(x2, y)

    def _labels(self) -> None:
        """Times above the bars, what they stand for below; nothing runs into the next bar of its lane."""
        canvas = self.canvas
        ends = {(bar.lane, bar.start): self.x(bar.end) for bar in self.scene.bars}
        for bar in self.scene.bars:
            x1, x2, y = self.x(bar.start), self.x(bar.end), self.y(bar.lane)
            shift = 7 if bar.barrier else 0
            canvas.text(x1 + shift, y - 9.5, bar.begins, 8, ha="center" if not bar.barrier else "left")
            if bar.ends:
                canvas.text(x2, y - (12 if bar.lost else 9.5), bar.ends, 8, ha="center")
            later = [start for lane, start in ends if lane == bar.lane and start > bar.start]
            room = (self.x(min(later)) - 8 if later else self.width - 4) - x1
            words = fitted(bar.says, room, 8, bar.mono, bar.mono)
            color = INK if bar.mono else MUTED
            canvas.text(x1 + (shift if bar.barrier else -4), y + 15.5, words, 8, color, bold=bar.mono, mono=bar.mono)

    # the key

    def _key(self) -> None:
        """What the signs mean, those that occur."""
        canvas, y = self.canvas, self.bottom + 13
        x = self.left if self.left + self._key_width() < self.width else float(MARGIN)
        for sign, words in self._signs():
            if sign == "requested":
                canvas.dot(x + 4, y - 3, 3.4, PAPER, edge=MUTED, line=1.5)
            elif sign == "completed":
                canvas.dot(x + 4, y - 3, 3.9, MUTED)
            elif sign == "pending":
                canvas.line((x - 5, x + 9), (y - 3, y - 3), MUTED, 1.8, linestyle=PENDING, dash_capstyle="butt")
            elif sign == "crashed":
                canvas.cross(x + 4, y - 3, 3)
            elif sign == "lost":
                canvas.dot(x + 3, y - 3, 5.4, PAPER, edge=RED[0], line=1.6)
                canvas.dot(x + 3, y - 3, 3.2, MUTED)
            else:
                canvas.line((x + 4, x + 4), (y - 10, y + 4), MUTED, 1.1, linestyle=BARRIER, dash_capstyle="butt")
            x += 12 + canvas.text(x + 12, y, words, 7.5, MUTED) + 14
        if self.scene.caption:
            canvas.text(MARGIN, y + 13, self.scene.caption, 7.5, MUTED)

    def _key_width(self) -> float:
        return sum(26 + measured(words, 7.5) for _, words in self._signs())

    def _signs(self) -> Iterator[tuple[str, str]]:
        endings = {bar.ending for bar in self.scene.bars}
        yield "requested", "requested"
        if "completed" in endings:
            yield "completed", "completed"
        if "pending" in endings:
            yield "pending", "pending"
        if "crashed" in endings:
            yield "crashed", "its actor died"
        if any(bar.lost for bar in self.scene.bars):
            yield "lost", "completed, and lost"
        if any(bar.barrier for bar in self.scene.bars):
            yield "barrier", "barrier: a plan was requested"
