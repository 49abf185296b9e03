"""The layout of file groups in a picture: one column for each group, slices stacked by barrier, a block for each base
file, and a small box for each log file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from .drawing import BARRIER, FAINT, HATCH, INK, MUTED, PANEL, PAPER, PENDING, Box, Drawing, fitted, measured
from .scene import Chip, Files, Group, Slice
from .style import RED

MARGIN: Final = 14.0
GAP: Final = 12.0
PAD: Final = 9.0
HEAD: Final = 23.0
BETWEEN: Final = 20.0
COLUMNS: Final = 4
WIDTHS: Final = {1: 440.0, 2: 320.0, 3: 262.0, 4: 224.0}
"""Number of groups side by side -> least width of each; a slice with a longer title gets the width it needs."""


def slices(scene: Files, width: float = 0) -> Drawing:
    """Lay out file groups as a drawing. `width` is the minimum width of a column in points."""
    return _Slices(scene, width).draw()


class _Placed(NamedTuple):
    chip: Chip
    box: Box
    text: str
    notes: tuple[str, ...]


class _Band(NamedTuple):
    """File groups that are drawn side by side. Slices with the same barrier are drawn at the same height."""

    groups: tuple[Group, ...]
    heights: dict[int, float]

    @property
    def height(self) -> float:
        return 20 + sum(self.heights.values()) + BETWEEN * (len(self.heights) - 1)


class _Slices:
    def __init__(self, scene: Files, width: float) -> None:
        self.scene = scene
        bands = max(1, math.ceil(len(scene.groups) / COLUMNS))
        across = max(1, math.ceil(len(scene.groups) / bands))
        pieces = [piece for group in scene.groups for piece in group.slices]
        key = sum(31 + measured(words, 7.5) for _, words in self._signs()) + 7
        self.column = max([width or WIDTHS[across], (key + GAP) / across - GAP, *map(_title_width, pieces)])
        self.wide = across < 3
        self.placed = {id(piece): tuple(self._place(piece)) for piece in pieces}
        starts = range(0, len(scene.groups), across)
        self.bands = [self._band(scene.groups[start : start + across]) for start in starts]
        foot = 22 + (13 if scene.caption else 0)
        height = MARGIN + sum(band.height + 14 for band in self.bands) + foot
        self.drawing = Drawing(2 * MARGIN + across * self.column + (across - 1) * GAP, height)

    def draw(self) -> Drawing:
        y = MARGIN
        for band in self.bands:
            self._draw_band(band, y)
            y += band.height + 14
        if not self.scene.groups:
            self.drawing.text(MARGIN, y, "no files yet", 8.5, MUTED)
        self._key(y + 4)
        return self.drawing

    # placing

    def _band(self, groups: tuple[Group, ...]) -> _Band:
        heights: dict[int, float] = {}
        for piece in (piece for group in groups for piece in group.slices):
            low = max((each.box.y + each.box.height for each in self.placed[id(piece)]), default=HEAD + 10)
            heights[piece.order] = max(heights.get(piece.order, 0), low + PAD)
        return _Band(groups, dict(sorted(heights.items(), reverse=True)))

    def _place(self, piece: Slice) -> Iterator[_Placed]:
        room = self.column - 2 * PAD
        x, y, low = 0.0, HEAD, HEAD
        for chip in piece.chips:
            at = measured(f" {chip.at}", 7.5, mono=True) + 2 if chip.at else 0.0
            text = fitted(chip.text, room - 16 - at, 8.5, True, True)
            notes = tuple(fitted(note, room - 16, 7.5) for note in chip.notes)
            width = max(measured(text, 8.5, True, True) + at, *(measured(note, 7.5) for note in notes), 0.0) + 16
            width = max(width, (150.0 if self.wide else room) if chip.kind == "base" else 52.0)
            if x and x + width > room:
                x, y = 0.0, low + 6
            box = Box(PAD + x, y, width, 20 + 11 * max(1, len(notes)))
            low = max(low, y + box.height)
            yield _Placed(chip, box, text, notes)
            x += width + 6

    # drawing

    def _draw_band(self, band: _Band, top: float) -> None:
        for number, group in enumerate(band.groups):
            x, y = MARGIN + number * (self.column + GAP), top + 17
            self.drawing.text(x + 1, top + 9, fitted(group.label, self.column, 8.5), 8.5, MUTED)
            pieces = {piece.order: piece for piece in group.slices}
            for order, height in band.heights.items():
                if order in pieces:
                    self._slice(pieces[order], Box(x, y, self.column, height))
                    if order != min(band.heights):
                        self._barrier(pieces[order], x, y + height + BETWEEN / 2)
                y += height + BETWEEN

    def _barrier(self, piece: Slice, x: float, y: float) -> None:
        if piece.barrier:
            end = x + self.column
            width = self.drawing.text(end, y + 2.8, f"barrier {piece.barrier}", 8, anchor="end")
            self.drawing.line(x, y, end - width - 5, y, MUTED, 1.1, BARRIER)
            self.drawing.at[f"barrier {piece.name}"] = Box(x, y, self.column, 0)

    def _slice(self, piece: Slice, box: Box) -> None:
        drawing, title = self.drawing, _title(piece)
        drawing.box(box, PANEL, radius=5, stripes=FAINT if piece.hidden else "")
        drawing.at[piece.name] = box
        width = measured(title, 8.5, True)
        reason = fitted(piece.reason, self.column - 2 * PAD - width - 12, 8)
        if piece.hidden:
            behind = width + (measured(reason, 8) + 6 if reason else 0) + 8
            drawing.box(Box(box.x + PAD - 4, box.y + 4, behind, 14), PANEL, radius=3)
        drawing.text(box.x + PAD, box.y + 14, title, 8.5, bold=True)
        drawing.text(box.x + PAD + width + 6, box.y + 14, reason, 8, MUTED)
        for placed in self.placed[id(piece)]:
            self._chip(placed, placed.box._replace(x=box.x + placed.box.x, y=box.y + placed.box.y))

    def _chip(self, placed: _Placed, box: Box) -> None:
        drawing, chip = self.drawing, placed.chip
        solid = chip.kind == "log" and chip.status in ("read", "hidden")
        fill, ink = (chip.hue.light, chip.hue.light_text) if solid else (PAPER, INK)
        if chip.lost:
            ring = Box(box.x - 2.6, box.y - 2.6, box.width + 5.2, box.height + 5.2)
            drawing.box(ring, PAPER, RED[0], 1.9, radius=6)
        drawing.box(
            box, fill, INK if chip.kind == "base" else chip.hue.light, 1.5 if chip.kind == "base" else 1.1,
            dash=PENDING if chip.status == "pending" else (),
            stripes="" if chip.status != "hidden" else _blend(fill) if solid else HATCH,
        )  # fmt: skip
        drawing.at[chip.name] = box
        y = box.y + (13.5 if placed.notes else 18.5)
        width = drawing.text(box.x + 8, y, placed.text, 8.5, ink, bold=True, mono=True)
        drawing.text(box.x + 8 + width + 4, y, chip.at, 7.5, ink if solid else MUTED, mono=True)
        for number, note in enumerate(placed.notes):
            drawing.text(box.x + 8, y + 11.5 + 11 * number, note, 7.5, ink if solid else MUTED)

    # the key

    def _key(self, y: float) -> None:
        drawing, x = self.drawing, MARGIN
        for sign, words in self._signs():
            box = Box(x, y - 6.5, 20 if sign == "base" else 13, 9)
            drawing.box(
                box, MUTED if sign in ("read", "hidden") else PAPER,
                RED[0] if sign == "lost" else INK if sign == "base" else MUTED,
                1.6 if sign in ("base", "lost") else 1, radius=2, stripes=PAPER if sign == "hidden" else "",
                dash=PENDING if sign == "pending" else (),
            )  # fmt: skip
            x += box.width + 5 + drawing.text(x + box.width + 5, y + 1, words, 7.5, MUTED) + 13
        drawing.text(MARGIN, y + 14, self.scene.caption, 7.5, MUTED)

    def _signs(self) -> Iterator[tuple[str, str]]:
        chips = [chip for group in self.scene.groups for piece in group.slices for chip in piece.chips]
        if any(chip.kind == "base" for chip in chips):
            yield "base", "base file"
        for status, words in (
            ("read", "log, read"), ("merged", "log, in a base file"), ("hidden", "log, not read"),
            ("pending", "not completed"),
        ):  # fmt: skip
            if any(chip.kind == "log" and chip.status == status for chip in chips):
                yield status, words
        if any(chip.lost for chip in chips):
            yield "lost", "what the reader misses"


def _title(piece: Slice) -> str:
    return f"slice {piece.barrier}" if piece.barrier else "slice before any barrier"


def _title_width(piece: Slice) -> float:
    return 2 * PAD + measured(_title(piece), 8.5, True) + 12 + measured(piece.reason, 8) + 1


def _blend(color: str) -> str:
    return "#" + "".join(f"{round(int(color[at : at + 2], 16) * 0.8 + 255 * 0.2):02x}" for at in (1, 3, 5))
