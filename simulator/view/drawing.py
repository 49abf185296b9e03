"""A picture as data: labels and outlines, with coordinates in points from the upper left corner. `svg` and the
matplotlib painter produce the same picture from this data.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final, Literal, NamedTuple

from .style import SURFACES

SANS = "Inter, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif"
MONO = "ui-monospace, Menlo, Consolas, monospace"
PAPER, PANEL, INK, MUTED, LINE, FAINT, HATCH, MARK = (light for light, _ in SURFACES.values())
BARRIER: Final = (5.5, 2.6, 1.3, 2.6)
PENDING: Final = (4.0, 4.0)
"""Dashes: lengths of line and gap in points, by turns."""

Anchor = Literal["start", "middle", "end"]
Outline = tuple[tuple[str, tuple[float, ...]], ...]
"""SVG path commands with absolute coordinates: M, L, C and Z."""


class Text(NamedTuple):
    """One line of text in a picture. `y` is the position of the baseline."""

    x: float
    y: float
    words: str
    size: float
    color: str
    anchor: Anchor
    bold: bool
    mono: bool


class Shape(NamedTuple):
    """An outline in a picture, with an optional fill and stroke."""

    outline: Outline
    fill: str = "none"
    stroke: str = "none"
    width: float = 0
    dash: tuple[float, ...] = ()


class Box(NamedTuple):
    """A rectangle in a picture: the upper left corner, width and height."""

    x: float
    y: float
    width: float
    height: float


class Drawing:
    """A picture as a list of texts and shapes, in painting order. `at` maps the names of drawn objects to their boxes,
    so that lines to these objects can be added.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.marks: list[Text | Shape] = []
        self.at: dict[str, Box] = {}

    def text(
        self, x: float, y: float, words: str, size: float = 8.5, color: str = INK, *, anchor: Anchor = "start",
        bold: bool = False, mono: bool = False,
    ) -> float:  # fmt: skip
        """Draw a line of text and return its width."""
        if words:
            self.marks.append(Text(x, y, words, size, color, anchor, bold, mono))
        return measured(words, size, bold, mono)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str, width: float = 1, dash: tuple[float, ...] = ()
    ) -> None:
        self.shape((("M", (x1, y1)), ("L", (x2, y2))), stroke=color, width=width, dash=dash)

    def shape(
        self, outline: Outline, fill: str = "none", stroke: str = "none", width: float = 0,
        dash: tuple[float, ...] = (),
    ) -> None:  # fmt: skip
        self.marks.append(Shape(outline, fill, stroke, width, dash))

    def box(
        self, box: Box, fill: str = "none", stroke: str = "none", width: float = 0, *, radius: float = 4,
        dash: tuple[float, ...] = (), stripes: str = "",
    ) -> None:  # fmt: skip
        """Draw a rounded rectangle. `stripes` is the colour of the rectangle's hatching ("" for none)."""
        outline = rounded(box, radius)
        self.shape(outline, fill)
        if stripes:
            self.shape(_stripes(Box(box.x + 1, box.y + 1, box.width - 2, box.height - 2)), stroke=stripes, width=0.8)
        if width:
            self.shape(outline, stroke=stroke, width=width, dash=dash)

    def dot(self, x: float, y: float, radius: float, fill: str, stroke: str = "none", width: float = 0) -> None:
        self.shape(rounded(Box(x - radius, y - radius, 2 * radius, 2 * radius), radius), fill, stroke, width)

    def cross(self, x: float, y: float, reach: float = 4.5) -> None:
        """Draw a cross at the place where an actor crashed."""
        for color, width in ((PAPER, 5), (INK, 2.2)):
            for rise in (reach, -reach):
                self.line(x - reach, y - rise, x + reach, y + rise, color, width)

    def include(self, other: Drawing, x: float, y: float) -> None:
        """Insert another picture with its upper left corner at (x, y)."""
        for mark in other.marks:
            if isinstance(mark, Text):
                self.marks.append(mark._replace(x=mark.x + x, y=mark.y + y))
            else:
                self.marks.append(mark._replace(outline=moved(mark.outline, 1, x, y)))
        self.at |= {name: box._replace(x=box.x + x, y=box.y + y) for name, box in other.at.items()}


def moved(outline: Outline, scale: float, x: float, y: float) -> Outline:
    """Return an outline, scaled about the origin and then shifted by (x, y)."""
    return tuple(
        (command, tuple(value * scale + (y if place % 2 else x) for place, value in enumerate(numbers)))
        for command, numbers in outline
    )


def outline_of(path: str) -> Outline:
    """Parse the outline of an SVG path that consists of absolute M, L, C and Z commands."""
    commands = re.findall(r"([MLCZ])([^MLCZ]*)", path)
    return tuple((command, tuple(map(float, numbers.replace(",", " ").split()))) for command, numbers in commands)


def rounded(box: Box, radius: float) -> Outline:
    """Return the outline of a rectangle with rounded corners. A square with sides of at most 2 * `radius` becomes a
    circle.
    """
    (x, y, width, height), r = box, min(radius, box.width / 2, box.height / 2)
    k, right, low = r * 0.448, x + width, y + height  # a quarter circle as a cubic Bézier curve: 1 - 0.552
    outline = (
        ("M", (x + r, y)), ("L", (right - r, y)), ("C", (right - k, y, right, y + k, right, y + r)),
        ("L", (right, low - r)), ("C", (right, low - k, right - k, low, right - r, low)),
        ("L", (x + r, low)), ("C", (x + k, low, x, low - k, x, low - r)),
        ("L", (x, y + r)), ("C", (x, y + k, x + k, y, x + r, y)), ("Z", ()),
    )  # fmt: skip
    return tuple(part for part in outline if part[0] != "L") if box.width == box.height == 2 * r else outline


def _stripes(box: Box) -> Outline:
    commands: list[tuple[str, tuple[float, ...]]] = []
    step = 6.0  # from one stripe to the next
    start = step - box.height
    while start < box.width:
        left, right = max(start, 0.0), min(start + box.height, box.width)
        for command, x in (("M", left), ("L", right)):
            commands.append((command, (box.x + x, box.y + box.height - (x - start))))
        start += step
    return tuple(commands)


_WIDTHS: Final = {
    letter: width / 100
    for width, letters in {
        28: "'ijlIJ", 32: " ,.", 34: "/:;\\|", 36: "f-", 39: "()[]t", 41: "!r", 46: '"', 50: "*_`", 53: "sz?", 55: "c",
        58: "FkL", 60: "vxyP", 62: "TYaoe", 64: "ESbdghnpqu$0123456789{}", 69: "KAVBRXZC", 75: "HNU", 79: "DGOQ&",
        83: "w#+<=>^~", 86: "M", 97: "%m", 100: "W@",
    }.items()
    for letter in letters
}  # fmt: skip
"""Width of a letter of DejaVu Sans in units of its size. matplotlib ships it; the fonts of browsers are narrower."""

_BOLD, _MONO, _OTHER = 1.15, 0.602, 0.8


def measured(words: str, size: float, bold: bool = False, mono: bool = False) -> float:
    """Return the width of a line of text in points."""
    if mono:
        return _MONO * size * len(words)
    return size * (_BOLD if bold else 1) * sum(_WIDTHS.get(letter, _OTHER) for letter in words)


def fitted(words: str, width: float, size: float, bold: bool = False, mono: bool = False) -> str:
    """Return the text, shortened with an ellipsis to fit `width`, or "" if not even two letters fit."""
    if measured(words, size, bold, mono) <= width:
        return words
    for end in range(len(words) - 1, 1, -1):
        if measured(shorter := words[:end].rstrip() + "…", size, bold, mono) <= width:
            return shorter
    return ""


def svg(drawing: Drawing, *more: str, width: int | None = None) -> str:
    """Return a drawing as an SVG element on a white background. All text of the drawing is escaped.

    The SVG fragments in `more` are drawn over the drawing. `width` is in pixels; the default is the width of the
    container.
    """
    body = "".join(_shape(mark) if isinstance(mark, Shape) else _text(mark) for mark in drawing.marks)
    size = f"0 0 {drawing.width:.0f} {drawing.height:.0f}"
    wide = "" if width is None else f' width="{width}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="{size}"{wide} '
        f'font-family="{SANS}"><rect width="100%" height="100%" fill="{PAPER}"/>{body}{"".join(more)}</svg>'
    )


def element(tag: str, text: str = "", **attributes: object) -> str:
    """Return one SVG element as text. Attributes without a value are omitted; `_` in an attribute's name is replaced by
    `-`.
    """
    parts = (f' {name.replace("_", "-")}="{escape(str(v))}"' for name, v in attributes.items() if v not in ("", None))
    opened = f"<{tag}{''.join(parts)}"
    return f"{opened}>{escape(text)}</{tag}>" if text else f"{opened}/>"


def _text(mark: Text) -> str:
    return element(
        "text", mark.words, x=f"{mark.x:.5g}", y=f"{mark.y:.5g}", font_size=mark.size, fill=mark.color,
        text_anchor="" if mark.anchor == "start" else mark.anchor, font_weight="650" if mark.bold else "",
        font_family=MONO if mark.mono else "",
    )  # fmt: skip


def _shape(mark: Shape) -> str:
    stroked = mark.stroke != "none"
    commands = [command for command, _ in mark.outline]
    has_ends = commands.count("Z") < commands.count("M")  # a closed outline has no ends that a cap could round
    return element(
        "path", d=path(mark.outline), fill=mark.fill, stroke=mark.stroke if stroked else "",
        stroke_width=mark.width if stroked else "", stroke_dasharray=" ".join(map(str, mark.dash)),
        stroke_linecap="round" if stroked and has_ends and not mark.dash else "",
    )  # fmt: skip


def path(outline: Outline) -> str:
    return "".join(command + " ".join(f"{round(number, 1):g}" for number in numbers) for command, numbers in outline)
