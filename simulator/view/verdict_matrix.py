"""The layout of verdicts in a picture: a row for each protocol, a column for each promise, and a shape for each
verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..search.verdicts.judge import MatrixRow, to_json
from .drawing import FAINT, INK, LINE, MUTED, PANEL, PAPER, Box, Drawing, measured, moved, outline_of
from .style import VERDICTS

MARGIN: Final = 14.0
PICTURES: Final = (".png", ".svg")
ROW: Final = 30.0
HEAD: Final = 28.0
MEANINGS: Final = {
    "HOLDS": "holds, up to the bound of the search",
    "VIOLATED": "violated, by a trace of so many steps",
    "UNDETERMINED": "undetermined",
    "NOT_APPLICABLE": "not applicable",
}


class _Cell(NamedTuple):
    verdict: str
    steps: int | None


def verdict_matrix(results: Mapping[str, Any]) -> Drawing:
    """Lay out the verdicts of protocols as a drawing. Raises `ValueError` if there are no verdicts."""
    rows = {name: _cells(result) for name, result in _protocols(results).items()}
    promises = list(dict.fromkeys(promise for cells in rows.values() for promise in cells))
    if not promises:
        raise ValueError("no verdicts to draw")
    left = MARGIN + max(measured(name, 9) for name in rows) + 18
    column = max(58.0, *(measured(name, 8.5, True) + 14 for name in promises))
    right, bottom = left + column * len(promises), MARGIN + HEAD + ROW * len(rows)
    meanings = {word: text for word, text in MEANINGS.items() if any(_has(cells, word) for cells in rows.values())}
    key = sum(27 + measured(text, 7.5) for text in meanings.values())
    drawing = Drawing(max(right, MARGIN + key) + MARGIN, bottom + 30)
    for number, promise in enumerate(promises):
        drawing.text(left + column * (number + 0.5), MARGIN + 14, promise, 8.5, anchor="middle", bold=True)
    for number, (name, cells) in enumerate(rows.items()):
        y = MARGIN + HEAD + ROW * (number + 0.5)
        drawing.line(MARGIN, y - ROW / 2, right, y - ROW / 2, LINE, 0.8)
        drawing.text(MARGIN, y + 3.2, name, 9)
        for promise, cell in cells.items():
            _draw_cell(drawing, cell, left + column * (promises.index(promise) + 0.5), y)
    drawing.line(MARGIN, bottom, right, bottom, LINE, 0.8)
    x = MARGIN
    for word, text in meanings.items():
        _sign(drawing, word, x + 6, bottom + 15, 10)
        x += 15 + drawing.text(x + 15, bottom + 17.5, text, 7.5, MUTED) + 12
    return drawing


def _protocols(results: Mapping[str, Any]) -> Mapping[str, Any]:
    return results["protocols"] if "format" in results and "protocols" in results else results


def _cells(result: Any) -> dict[str, _Cell]:
    return {name: _cell(verdict) for name, verdict in getattr(result, "promises", result).items()}


def _cell(verdict: Any) -> _Cell:
    if isinstance(verdict, Mapping):
        return _Cell(_word(verdict["verdict"]), verdict.get("steps"))
    return _Cell(_word(getattr(verdict, "verdict", verdict)), getattr(verdict, "steps", None))


def _word(verdict: object) -> str:
    word = str(verdict).upper().replace(" ", "_")
    word = {"DISAGREED": "VIOLATED", "AGREED": "HOLDS"}.get(word, word)
    return word if word in MEANINGS else "UNDETERMINED"


def _has(cells: Mapping[str, _Cell], word: str) -> bool:
    return any(cell.verdict == word for cell in cells.values())


def _draw_cell(drawing: Drawing, cell: _Cell, x: float, y: float) -> None:
    if cell.verdict == "VIOLATED" and cell.steps is not None:
        drawing.box(Box(x - 21, y - 10, 42, 20), PANEL, INK, 1.2, radius=10)
        _sign(drawing, cell.verdict, x - 10, y, 12)
        drawing.text(x + 1, y + 3, str(cell.steps), 8.5, bold=True)
    else:
        _sign(drawing, cell.verdict, x, y, 12)


def _sign(drawing: Drawing, verdict: str, x: float, y: float, size: float) -> None:
    if verdict == "NOT_APPLICABLE":
        drawing.line(x - 4, y, x + 4, y, FAINT, 1.5)
        return
    unit, broken = size / 20, verdict == "VIOLATED"
    outline, sign = (moved(outline_of(path), unit, x - size / 2, y - size / 2) for path in VERDICTS[verdict])
    drawing.shape(outline, INK if broken else PAPER, INK if broken else MUTED, 1)
    drawing.shape(sign, stroke=PAPER if broken else MUTED, width=1.3)


def drawing(path: Path) -> Callable[[Iterable[MatrixRow]], None]:
    """Return a function that draws the matrix of verdicts and saves it to `path`.

    Raises ValueError if the file is neither .png nor .svg, and ImportError if matplotlib is missing.
    """
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path} is not a picture; name a file that ends in {' or '.join(PICTURES)}")
    from .matplotlib_painter import paint  # without matplotlib this fails before the searches, not after them

    return partial(_draw, lambda results: paint(verdict_matrix(results), None), path)


def _draw(drawn: Callable[..., Any], path: Path, rows: Iterable[MatrixRow]) -> None:
    axes = drawn(to_json(rows))
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes belong to a figure"
    figure.savefig(path)
