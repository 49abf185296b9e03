"""Prints the matrix of verdicts, and its differences from the accepted matrix."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbcc.simulator.search.verdicts import MatrixRow


def table(rows: Sequence[MatrixRow]) -> Iterator[str]:
    """Yield the lines of a table with one row per protocol and one column per promise."""
    from nbcc.simulator.search.verdicts import sign

    promises = list(rows[0].cells)
    width = max(len(row.name) for row in rows)
    widths = [max(len(name), *(len(sign(row.cells[name])) for row in rows)) for name in promises]
    yield " " * width + "  " + "  ".join(f"{name:^{w}}" for name, w in zip(promises, widths, strict=True))
    for row in rows:
        cells = (f"{sign(cell):^{w}}" for cell, w in zip(row.cells.values(), widths, strict=True))
        yield f"{row.name:{width}}  {'  '.join(cells)}".rstrip()


def differences(path: Path, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines in which the new matrix differs from the accepted one."""
    from nbcc.simulator.search.verdicts import facts

    accepted = list(facts(json.loads(path.read_text("utf-8")))) if path.is_file() else []
    yield from changes(path, accepted, list(facts(data)))


def changes(path: Path, accepted: list[str], now: list[str]) -> Iterator[str]:
    """Yield the lines that differ, preceded by a line with the file name of the accepted matrix."""
    lines = difflib.unified_diff(accepted, now, "accepted", "now", lineterm="", n=0)
    changed = [line for line in lines if not line.startswith("@@")]
    if changed:
        yield ""
        yield f"This differs from {path.name}. Find out why; then `nbcc verdicts --accept` writes the new matrix:"
        yield from changed
