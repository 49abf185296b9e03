"""Drawing of file groups: a column a group, slices stacked by barrier, a block a base file, a chip a log file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .plot_canvas import BARRIER, FAINT, HATCH, INK, MUTED, PANEL, PAPER, PENDING, Canvas, fitted, measured
from .plot_scene import Chip, Files, Group, Slice
from .style import RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 14
GAP = 12.0
PAD = 9.0
CHIP = 31.0
HEAD = 23.0
BETWEEN = 20.0
COLUMNS = 4
WIDTHS = {1: 440.0, 2: 320.0, 3: 262.0, 4: 224.0}
"""Groups side by side -> least width of each; titles of slices that need more get it."""


def draw(scene: Files, ax: Axes | None) -> Axes:
    """The scene on `ax`, or in a figure of its own; the axes that it is drawn on."""
    return _Drawing(scene, ax).draw()


@dataclass(frozen=True)
class _Placed:
    """A chip with its place in its slice."""

    chip: Chip
    x: float
    row: int
    width: float
    text: str
    note: str


@dataclass(frozen=True)
class _Band:
    """Groups side by side; the slices of one barrier have the same height in all of them."""

    groups: tuple[Group, ...]
    orders: tuple[int, ...]
    heights: dict[int, float]

    @property
    def height(self) -> float:
        return 20 + sum(self.heights.values()) + BETWEEN * (len(self.orders) - 1)


class _Drawing:
    def __init__(self, scene: Files, ax: Axes | None) -> None:
        self.scene = scene
        bands = max(1, math.ceil(len(scene.groups) / COLUMNS))
        across = max(1, math.ceil(len(scene.groups) / bands))
        pieces = [piece for group in scene.groups for piece in group.slices]
        self.column, self.wide = max([WIDTHS[across], *map(_title_width, pieces)]), across < 3
        self.placed = {id(piece): tuple(self._place(piece)) for group in scene.groups for piece in group.slices}
        self.bands = [self._band(groups) for groups in _batched(scene.groups, across)]
        width = 2 * MARGIN + across * self.column + (across - 1) * GAP
        foot = 22 + (13 if scene.caption else 0)
        height = MARGIN + sum(band.height + 14 for band in self.bands) + foot
        self.canvas = Canvas(width, height, ax)
        self.width, self.height = width, height

    def draw(self) -> Axes:
        y = float(MARGIN)
        for band in self.bands:
            self._draw_band(band, y)
            y += band.height + 14
        if not self.scene.groups:
            self.canvas.text(MARGIN, y, "no files yet", 8.5, MUTED)
        self._key(y + 4)
        return self.canvas.ax

    # layout

    def _band(self, groups: tuple[Group, ...]) -> _Band:
        pieces = [piece for group in groups for piece in group.slices]
        orders = tuple(sorted({piece.order for piece in pieces}, reverse=True))
        heights = {
            order: max(self._slice_height(piece) for piece in pieces if piece.order == order) for order in orders
        }
        return _Band(groups, orders, heights)

    def _slice_height(self, piece: Slice) -> float:
        rows = max((each.row for each in self.placed[id(piece)]), default=0) + 1
        return HEAD + rows * (CHIP + 6) + PAD - 6

    def _place(self, piece: Slice) -> Iterator[_Placed]:
        """Chips from left to right, wrapped; a base file has a row of its own if that is needed."""
        room = self.column - 2 * PAD
        x, row = 0.0, 0
        for chip in piece.chips:
            inner = room - 16
            at = measured(f" {chip.at}", 7.5, mono=True) + 2 if chip.at else 0.0
            text = fitted(chip.text, inner - at, 8.5, True, True)
            note = fitted(chip.note, inner, 7.5)
            width = max(measured(text, 8.5, True, True) + at, measured(note, 7.5)) + 16
            width = max(width, (150.0 if self.wide else room) if chip.kind == "base" else 52.0)
            if x and x + width > room:
                x, row = 0.0, row + 1
            yield _Placed(chip, x, row, width, text, note)
            x += width + 6

    # drawing

    def _draw_band(self, band: _Band, top: float) -> None:
        for number, group in enumerate(band.groups):
            x = MARGIN + number * (self.column + GAP)
            self.canvas.text(x + 1, top + 9, fitted(group.label, self.column, 8.5), 8.5, MUTED)
            pieces = {piece.order: piece for piece in group.slices}
            y = top + 17
            for order in band.orders:
                if order in pieces:
                    self._slice(pieces[order], x, y, band.heights[order])
                    if order != band.orders[-1]:
                        self._barrier(pieces[order], x, y + band.heights[order] + BETWEEN / 2)
                y += band.heights[order] + BETWEEN

    def _barrier(self, piece: Slice, x: float, y: float) -> None:
        if piece.barrier:
            words = f"barrier {piece.barrier}"
            end = x + self.column - measured(words, 8) - 5
            self.canvas.line((x, end), (y, y), MUTED, 1.1, linestyle=BARRIER)
            self.canvas.text(x + self.column, y + 2.8, words, 8, ha="right")

    def _slice(self, piece: Slice, x: float, y: float, height: float) -> None:
        canvas = self.canvas
        canvas.box(x, y, self.column, height, fill=PANEL, radius=5, stripes=FAINT if piece.hidden else None)
        title = _title(piece)
        wide = measured(title, 8.5, True)
        room = self.column - 2 * PAD - wide - 12
        reason = fitted(piece.reason, room, 8)
        if piece.hidden:
            behind = wide + (measured(reason, 8) + 6 if reason else 0) + 8
            canvas.box(x + PAD - 4, y + 4, behind, 14, fill=PANEL, radius=3)
        canvas.text(x + PAD, y + 14, title, 8.5, bold=True)
        canvas.text(x + PAD + wide + 6, y + 14, reason, 8, MUTED)
        for placed in self.placed[id(piece)]:
            self._chip(placed, x + PAD + placed.x, y + HEAD + placed.row * (CHIP + 6))

    def _chip(self, placed: _Placed, x: float, y: float) -> None:
        canvas, chip = self.canvas, placed.chip
        solid = chip.kind == "log" and chip.status in ("read", "hidden")
        fill, ink = (chip.hue.light, chip.hue.light_text) if solid else (PAPER, INK)
        edge = INK if chip.kind == "base" else chip.hue.light
        soft = ink if solid else MUTED
        stripes = (PAPER + "4d" if solid else HATCH) if chip.status == "hidden" else None
        if chip.lost:
            canvas.box(x - 2.6, y - 2.6, placed.width + 5.2, CHIP + 5.2, fill=PAPER, edge=RED[0], line=1.9, radius=6)
        canvas.box(
            x, y, placed.width, CHIP, fill=fill, edge=edge, radius=4, stripes=stripes,
            line=1.5 if chip.kind == "base" else 1.1, dashes=PENDING if chip.status == "pending" else "-",
        )  # fmt: skip
        first = y + (13.5 if placed.note else 18.5)
        wide = canvas.text(x + 8, first, placed.text, 8.5, ink, bold=True, mono=True)
        if chip.at:
            canvas.text(x + 8 + wide + 4, first, chip.at, 7.5, soft, mono=True)
        canvas.text(x + 8, y + 25, placed.note, 7.5, soft)

    # the key

    def _key(self, y: float) -> None:
        canvas, x = self.canvas, float(MARGIN)
        for sign, words in self._signs():
            width = 20 if sign == "base" else 13
            fill = MUTED if sign in ("read", "hidden") else PAPER
            canvas.box(
                x, y - 6.5, width, 9, fill=fill, edge=RED[0] if sign == "lost" else INK if sign == "base" else MUTED,
                line=1.6 if sign in ("base", "lost") else 1, radius=2, stripes=PAPER if sign == "hidden" else None,
                dashes=PENDING if sign == "pending" else "-",
            )  # fmt: skip
            x += width + 5 + canvas.text(x + width + 5, y + 1, words, 7.5, MUTED) + 13
        if self.scene.caption:
            canvas.text(MARGIN, y + 14, self.scene.caption, 7.5, MUTED)

    def _signs(self) -> Iterator[tuple[str, str]]:
        """What the shapes mean, those that occur."""
        chips = [chip for group in self.scene.groups for piece in group.slices for chip in piece.chips]
        logs = {chip.status for chip in chips if chip.kind == "log"}
        meanings = {
            "read": "log, read",
            "merged": "log, in a base file",
            "hidden": "log, not read",
            "pending": "not completed",
        }
        if any(chip.kind == "base" for chip in chips):
            yield "base", "base file"
        yield from ((status, words) for status, words in meanings.items() if status in logs)
        if any(chip.lost for chip in chips):
            yield "lost", "what the reader misses"


def _title(piece: Slice) -> str:
    return f"slice {piece.barrier}" if piece.barrier else "slice before any barrier"


def _title_width(piece: Slice) -> float:
    """The width of a slice that shows its title and reason in full."""
    return 2 * PAD + measured(_title(piece), 8.5, True) + 12 + measured(piece.reason, 8) + 1


def _batched(groups: tuple[Group, ...], most: int) -> Iterator[tuple[Group, ...]]:
    for start in range(0, len(groups), most):
        yield groups[start : start + most]
