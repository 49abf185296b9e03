"""Drawing in points on matplotlib axes: text that is measured before it is placed, boxes, stripes, signs.

Coordinates are points (1/72 inch) from the upper left corner. On axes that somebody else made, everything is scaled
until it fits, text and lines included.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Final

try:
    import matplotlib
    import matplotlib.pyplot as plt
except ImportError:
    raise ImportError(
        "drawing needs matplotlib, which is not installed: pip install 'nbcc[viz]'", name="matplotlib"
    ) from None
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from .style import SURFACES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER, PANEL, INK, MUTED, LINE, FAINT, HATCH, MARK = (light for light, _ in SURFACES.values())
DPI: Final = 120
BARRIER: Final = (0, (5, 2.4, 1.2, 2.4))
PENDING: Final = (0, (2.2, 2.2))


class Canvas:
    """Axes of `width` by `height` points; what is drawn later lies above."""

    def __init__(self, width: float, height: float, ax: Axes | None) -> None:
        self.scale = 1.0
        if ax is None:
            figure = plt.figure(figsize=(width / 72, height / 72), dpi=DPI, facecolor=PAPER)
            ax = figure.add_axes((0, 0, 1, 1))
        else:
            box, dpi = ax.get_window_extent(), ax.get_figure(root=True).dpi  # type: ignore[union-attr]
            self.scale = min(box.width / dpi * 72 / width, box.height / dpi * 72 / height)
        ax.set_xlim(0, width)
        ax.set_ylim(height, 0)
        ax.set_aspect("equal", anchor="NW")
        ax.axis("off")
        self.ax = ax
        self._depth = 1.0

    def text(self, x: float, y: float, words: str, size: float = 8.5, color: str = INK, **given: Any) -> float:
        """A line of text with its base line at `y`; `ha`, `bold`, `mono`, `rotation`. The answer is its width."""
        bold, mono, rotation = given.pop("bold", False), given.pop("mono", False), given.pop("rotation", 0)
        self.ax.text(
            x, y, words.replace("$", r"\$"), color=color, ha=given.pop("ha", "left"), va="baseline", rotation=rotation,
            rotation_mode="anchor", zorder=self._over(), fontproperties=font(bold, mono, size * self.scale), **given,
        )  # fmt: skip
        return measured(words, size, bold, mono)

    def line(self, xs: tuple[float, ...], ys: tuple[float, ...], color: str, width: float = 1, **given: Any) -> None:
        """A line through points; `linestyle` dashes are in multiples of its width."""
        given.setdefault("solid_capstyle", "round")
        self.ax.add_line(Line2D(xs, ys, color=color, linewidth=width * self.scale, zorder=self._over(), **given))

    def box(self, x: float, y: float, width: float, height: float, **given: Any) -> FancyBboxPatch:
        """A rounded rectangle; `fill`, `edge`, `line` (its width), `radius`, `dashes`, `stripes` (their colour)."""
        radius, line, stripes = given.get("radius", 4), given.get("line", 0), given.get("stripes")
        patch = FancyBboxPatch(
            (x, y), width, height, boxstyle=f"round,pad=0,rounding_size={radius}", zorder=self._over(),
            facecolor=given.get("fill", "none"), edgecolor=given.get("edge", "none"),
            linewidth=line * self.scale, linestyle=given.get("dashes", "-"),
        )  # fmt: skip
        self.ax.add_patch(patch)
        if stripes:
            self._stripe(patch, (x, y, width, height), stripes)
        return patch

    def _stripe(self, patch: FancyBboxPatch, where: tuple[float, float, float, float], color: str) -> None:
        x, y, width, height = where
        starts = (x - height + 5 * number for number in range(math.ceil((width + height) / 5)))
        lines = LineCollection(
            [((start, y + height), (start + height, y)) for start in starts],
            colors=color, linewidths=0.8 * self.scale, zorder=self._over(),
        )  # fmt: skip
        self.ax.add_collection(lines, autolim=False)
        lines.set_clip_path(patch)

    def dot(self, x: float, y: float, radius: float, fill: str, **given: Any) -> None:
        """A circle; `edge` and `line` (its width)."""
        edge, line = given.get("edge", "none"), given.get("line", 0) * self.scale
        self.ax.add_patch(Circle((x, y), radius, facecolor=fill, edgecolor=edge, linewidth=line, zorder=self._over()))

    def cross(self, x: float, y: float, reach: float = 4.5) -> None:
        """Where an actor died."""
        for color, width in ((PAPER, 5), (INK, 2.2)):
            for rise in (reach, -reach):
                self.line((x - reach, x + reach), (y - rise, y + rise), color, width)

    def sign(self, x: float, y: float, size: float, path: str, **given: Any) -> None:
        """An SVG path, drawn in a box of 20 units, centred here and `size` points wide."""
        unit = size / 20
        moved = Affine2D().scale(unit).translate(x - 10 * unit, y - 10 * unit).transform_path(svg_path(path))
        given["linewidth"] = given.get("linewidth", 0) * self.scale
        self.ax.add_patch(PathPatch(moved, zorder=self._over(), capstyle="round", joinstyle="round", **given))

    def polygon(self, points: list[tuple[float, float]], fill: str) -> None:
        """A filled outline without edge."""
        self.ax.add_patch(Polygon(points, closed=True, facecolor=fill, edgecolor="none", zorder=self._over()))

    def _over(self) -> float:
        self._depth += 0.01
        return self._depth


def font(bold: bool, mono: bool, size: float) -> FontProperties:
    """A font of matplotlib's own data, by its file: pictures do not depend on the fonts of the machine."""
    return FontProperties(fname=_file(f"DejaVuSans{'Mono' if mono else ''}{'-Bold' if bold else ''}.ttf"), size=size)


@cache
def _file(name: str) -> str:
    return str(FilePath(matplotlib.get_data_path(), "fonts", "ttf", name))


@lru_cache(maxsize=4096)
def measured(words: str, size: float, bold: bool = False, mono: bool = False) -> float:
    """The width of a line of text in points. Spaces count, also at its ends."""
    if not words.strip():
        return 0.0 if not words else size * 0.3 * len(words)
    return float(TextPath((0, 0), words.replace("$", r"\$"), prop=font(bold, mono, size)).get_extents().x1) + 0.5


def fitted(words: str, width: float, size: float, bold: bool = False, mono: bool = False) -> str:
    """The text, or as much of it as fits, with an ellipsis; nothing if not even two letters do."""
    if measured(words, size, bold, mono) <= width:
        return words
    for end in range(len(words) - 1, 1, -1):
        if measured(short := words[:end].rstrip() + "…", size, bold, mono) <= width:
            return short
    return ""


# The signs of the style table are SVG paths, because the page needs them so.

_TOKEN: Final = re.compile(r"[A-Za-z]|-?(?:\d*\.\d+|\d+)")
_ARCS: Final = re.compile(r"a([^A-Za-z]*)")
_ARC: Final = re.compile(
    r"(?P<r>[\d.]+) (?P=r) 0 ?(?P<large>[01]) ?(?P<sweep>[01]) ?(?P<dx>-?[\d.]+) ?(?P<dy>-?[\d.]+)"
)


@cache
def svg_path(text: str) -> Path:
    """The path of M, L, H, V, Z commands and of arcs of circles that are half turns."""
    straight = _ARCS.sub(lambda arcs: _ARC.sub(_half_turn, arcs[1]), text)
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for command, x, y in _moves(straight):
        points.append((x, y))
        codes.append(int({"M": Path.MOVETO, "Z": Path.CLOSEPOLY}.get(command, Path.LINETO)))
    return Path(points, codes)


def _moves(text: str) -> Iterator[tuple[str, float, float]]:
    """Commands with absolute coordinates; numbers behind a move without a command of their own are lines."""
    x = y = 0.0
    start = (x, y)
    tokens = _TOKEN.findall(text)
    command = "M"
    while tokens:
        if tokens[0].isalpha():
            command = tokens.pop(0)
        kind, origin = command.upper(), (x, y) if command.islower() else (0.0, 0.0)
        if kind == "Z":
            x, y = start
        else:
            x = x if kind == "V" else origin[0] + float(tokens.pop(0))
            y = y if kind == "H" else origin[1] + float(tokens.pop(0))
        yield kind, x, y
        if kind == "M":
            start, command = (x, y), "l" if command == "m" else "L"


def _half_turn(arc: re.Match[str], steps: int = 24) -> str:
    """Relative lines along the half circle that the arc is."""
    dx, dy = float(arc["dx"]), float(arc["dy"])
    turn = math.pi / steps * (1 if arc["sweep"] == "1" else -1)
    angles = [turn * number for number in range(steps + 1)]
    # Around the middle of the chord the start lies at -(dx, dy) / 2; turning it half way ends at (dx, dy) / 2.
    at = [(-(dx * math.cos(a) - dy * math.sin(a)) / 2, -(dx * math.sin(a) + dy * math.cos(a)) / 2) for a in angles]
    return "l" + " ".join(f"{b[0] - a[0]:.4f} {b[1] - a[1]:.4f}" for a, b in pairwise(at))
