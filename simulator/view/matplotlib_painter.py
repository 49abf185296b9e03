"""Paints a `Drawing` on matplotlib axes.

The painter uses the font files that matplotlib ships, so that pictures do not depend on the fonts of the machine.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Final

try:
    import matplotlib
    import matplotlib.pyplot as plt
except ImportError:
    raise ImportError(
        "drawing needs matplotlib, which is not installed: pip install 'nbcc[viz]'", name="matplotlib"
    ) from None
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from .drawing import PAPER, Drawing, Outline, Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI: Final = 120
_ALIGNED: Final = {"start": "left", "middle": "center", "end": "right"}


def paint(drawing: Drawing, ax: Axes | None) -> Axes:
    """Paint a drawing on `ax`, scaled to fit. If `ax` is None, a new figure is created."""
    width, height, scale = drawing.width, drawing.height, 1.0
    if ax is None:
        figure = plt.figure(figsize=(width / 72, height / 72), dpi=DPI, facecolor=PAPER)
        ax = figure.add_axes((0, 0, 1, 1))
    else:
        box, dpi = ax.get_window_extent(), ax.get_figure(root=True).dpi  # type: ignore[union-attr]
        scale = min(box.width / dpi * 72 / width, box.height / dpi * 72 / height)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal", anchor="NW")
    ax.axis("off")
    for mark in drawing.marks:  # equal zorder: matplotlib paints in the order in which marks are added
        if isinstance(mark, Shape):
            ax.add_patch(_patch(mark, scale))
        else:
            ax.text(
                mark.x, mark.y, mark.words.replace("$", r"\$"), color=mark.color, ha=_ALIGNED[mark.anchor],
                va="baseline", zorder=1, fontproperties=_font(mark.bold, mark.mono, mark.size * scale),
            )  # fmt: skip
    return ax


def _patch(mark: Shape, scale: float) -> PathPatch:
    dash = (0, tuple(length / mark.width for length in mark.dash)) if mark.dash else "-"
    return PathPatch(
        path(mark.outline), facecolor=mark.fill, edgecolor=mark.stroke, linewidth=mark.width * scale, linestyle=dash,
        capstyle="butt" if mark.dash else "round", joinstyle="round", zorder=1,
    )  # fmt: skip


def path(outline: Outline) -> Path:
    codes = {"M": Path.MOVETO, "L": Path.LINETO, "C": Path.CURVE4, "Z": Path.CLOSEPOLY}
    points: list[tuple[float, float]] = []
    kinds: list[int] = []
    for command, numbers in outline:
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True)) or [(0.0, 0.0)]
        points += pairs
        kinds += [int(codes[command])] * len(pairs)
    return Path(points, kinds)


@cache
def _file(bold: bool, mono: bool) -> str:
    name = f"DejaVuSans{'Mono' if mono else ''}{'-Bold' if bold else ''}.ttf"
    return str(FilePath(matplotlib.get_data_path(), "fonts", "ttf", name))


def _font(bold: bool, mono: bool, size: float) -> FontProperties:
    return FontProperties(fname=_file(bold, mono), size=size)
