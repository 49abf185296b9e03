"""Renders a drawing as SVG."""

from __future__ import annotations

from html import escape

from .drawing import PAPER, Drawing, Outline, Shape, Text

SANS = "Inter, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif"
MONO = "ui-monospace, Menlo, Consolas, monospace"


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
