"""Drawing of verdicts: a row a setting, a column a promise, a shape a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .plot_canvas import FAINT, INK, LINE, MUTED, PANEL, PAPER, Canvas, measured
from .style import VERDICTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 14
ROW = 30.0
HEAD = 28.0
MEANINGS = {
    "HOLDS": "holds, up to the bound of the search",
    "VIOLATED": "violated: by a trace of so many steps",
    "UNDETERMINED": "undetermined",
    "NOT_APPLICABLE": "not applicable",
}


class _Cell(NamedTuple):
    verdict: str
    steps: int | None


def draw(results: Mapping[str, Any], ax: Axes | None) -> Axes:
    """The matrix on `ax`, or in a figure of its own; ValueError if there is nothing to draw."""
    rows = {name: _cells(found) for name, found in _settings(results).items()}
    promises = list(dict.fromkeys(promise for cells in rows.values() for promise in cells))
    if not promises:
        raise ValueError("no verdicts to draw")
    return _Drawing(rows, promises, ax).draw()


def _settings(results: Mapping[str, Any]) -> Mapping[str, Any]:
    """`nbcc verdicts --json` has its settings one level down."""
    return results["protocols"] if "format" in results and "protocols" in results else results


def _cells(found: Any) -> dict[str, _Cell]:
    promises = getattr(found, "promises", found)
    return {name: _cell(verdict) for name, verdict in promises.items()}


def _cell(found: Any) -> _Cell:
    if isinstance(found, str):
        return _Cell(str(found), None)
    if isinstance(found, Mapping):
        return _Cell(str(found["verdict"]), found.get("steps"))
    return _Cell(str(found.verdict), found.steps)


class _Drawing:
    def __init__(self, rows: dict[str, dict[str, _Cell]], promises: list[str], ax: Axes | None) -> None:
        self.rows, self.promises = rows, promises
        self.left = MARGIN + max(measured(name, 9) for name in rows) + 18
        self.column = max(58.0, *(measured(name, 8.5, True) + 14 for name in promises))
        self.bottom = MARGIN + HEAD + ROW * len(rows)
        self.used = [word for word in MEANINGS if any(_word(c) == word for row in rows.values() for c in row.values())]
        key = sum(27 + measured(MEANINGS[word], 7.5) for word in self.used)
        width = max(self.left + self.column * len(promises), MARGIN + key) + MARGIN
        self.canvas = Canvas(width, self.bottom + 30, ax)

    def x(self, promise: str) -> float:
        return self.left + self.column * (self.promises.index(promise) + 0.5)

    def draw(self) -> Axes:
        canvas = self.canvas
        right = self.left + self.column * len(self.promises)
        for promise in self.promises:
            canvas.text(self.x(promise), MARGIN + 14, promise, 8.5, bold=True, ha="center")
        for number, (name, cells) in enumerate(self.rows.items()):
            y = MARGIN + HEAD + ROW * (number + 0.5)
            canvas.line((MARGIN, right), (y - ROW / 2, y - ROW / 2), LINE, 0.8)
            canvas.text(MARGIN, y + 3.2, name, 9)
            for promise, cell in cells.items():
                self._cell(cell, self.x(promise), y)
        canvas.line((MARGIN, right), (self.bottom, self.bottom), LINE, 0.8)
        x = float(MARGIN)
        for word in self.used:
            self._sign(word, x + 6, self.bottom + 15, 10)
            x += 15 + canvas.text(x + 15, self.bottom + 17.5, MEANINGS[word], 7.5, MUTED) + 12
        return canvas.ax

    def _cell(self, cell: _Cell, x: float, y: float) -> None:
        word = _word(cell)
        if word == "VIOLATED" and cell.steps is not None:
            self.canvas.box(x - 21, y - 10, 42, 20, fill=PANEL, edge=INK, line=1.2, radius=10)
            self._sign(word, x - 10, y, 12)
            self.canvas.text(x + 1, y + 3, str(cell.steps), 8.5, bold=True)
        else:
            self._sign(word, x, y, 12)

    def _sign(self, word: str, x: float, y: float, size: float) -> None:
        if word == "NOT_APPLICABLE":
            self.canvas.line((x - 4, x + 4), (y, y), FAINT, 1.5)
            return
        outline, sign = VERDICTS[word]
        broken = word == "VIOLATED"
        edge = INK if broken else MUTED
        self.canvas.sign(x, y, size, outline, facecolor=INK if broken else PAPER, edgecolor=edge, linewidth=1)
        self.canvas.sign(x, y, size, sign, facecolor="none", edgecolor=PAPER if broken else edge, linewidth=1.3)


def _word(cell: _Cell) -> str:
    word = cell.verdict.upper().replace(" ", "_")
    word = {"DISAGREED": "VIOLATED", "AGREED": "HOLDS"}.get(word, word)
    return word if word in MEANINGS else "UNDETERMINED"
