"""`nbcc verdicts --options`: prints the verdict-matrix row that describes writers with given `hoodie.*` options."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from .command import answer, echo, users_words
from .outcome import Exit

VERDICTS: Final = {"VIOLATED": "breaks", "UNDETERMINED": "undetermined", "HOLDS": "keeps"}
"""The accepted verdicts that are printed, each with the word for it. Nothing was searched, so they are no answer."""


def row_of(paths: tuple[Path, ...], as_json: bool) -> Exit:
    """Print the row of the verdict matrix for writers with the given options, and the options that decide it. The exit
    code is UNDETERMINED if no single row covers all writers.
    """
    from nbcc.simulator.options import judge

    with users_words():
        found = judge(paths)
    cells = _cells(found.row) if found.row else {}
    if as_json:
        answer({**found.to_mapping(), "promises": {name: cell["verdict"] for name, cell in cells.items()}})
        return Exit.AGREES if found.row else Exit.UNDETERMINED
    for writer in found.writers:
        echo(f"{writer.file}: {writer.row or f'no row, {writer.because}'}")
        for option, value, given in writer.decided:
            echo(f"  decided by {option} = {value or '(none)'}{'' if given else ', by default'}")
        for option, nearest in writer.unknown:
            echo(f"  unknown: {option}" + (f"; did you mean {nearest}?" if nearest else ""))
    if found.row is None:
        echo(f"UNDETERMINED: {found.because}")
        return Exit.UNDETERMINED
    from nbcc.simulator import specs

    echo(f"row {found.row}: {specs.about('protocols', found.row)}")
    for verdict, word in VERDICTS.items():
        if promises := [_named(name, cell) for name, cell in cells.items() if cell["verdict"] == verdict]:
            echo(f"  {word} {', '.join(promises)}")
    echo(f"  bounds: specs/verdicts.md; a promise: nbcc explain NAME; details: nbcc explain {found.row}")
    return Exit.AGREES


def _cells(row: str) -> dict[str, dict[str, Any]]:
    """Return the accepted verdicts of a row on each promise."""
    from nbcc.simulator.verdicts.data import load

    cells: dict[str, dict[str, Any]] = load("quick")["protocols"][row]["promises"]
    return cells


def _named(promise: str, cell: dict[str, Any]) -> str:
    return f"{promise} ({cell['steps']} steps)" if "steps" in cell else promise
