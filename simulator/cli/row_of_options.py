"""`nbcc verdicts --options`: prints the verdict-matrix row that describes writers with given `hoodie.*` options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .command import answer, echo, users_words
from .outcome import Exit

if TYPE_CHECKING:
    from nbcc.simulator.lockstep.accepted import HudiVerdict
    from nbcc.simulator.search.options import OptionsFile


def row_of(paths: tuple[Path, ...], as_json: bool) -> Exit:
    """Print the row of the verdict matrix for writers with the given options, and the options that decide it. The exit
    code is UNDETERMINED if no single row covers all writers.
    """
    from nbcc.simulator.lockstep.accepted import promises_of
    from nbcc.simulator.search.options import judge

    with users_words():
        found = judge(paths)
    promises = promises_of(found.row) if found.row else {}
    if as_json:
        answer({**found.to_mapping(), "promises": {name: each.verdict for name, each in promises.items()}})
        return Exit.AGREES if found.row else Exit.UNDETERMINED
    for writer in found.writers:
        for line in _lines(writer):
            echo(line)
    if found.row is None:
        echo(f"UNDETERMINED: {found.because}")
        return Exit.UNDETERMINED
    from nbcc.simulator import specs

    row = specs.protocol_file(found.row)
    echo(f"row {row.name}: {row.about}")
    for line in (*row.evidence, *_verdicts(promises)):
        echo(f"  {line}")
    echo(f"  bounds: specs/verdicts.md; a promise: nbcc explain NAME; details: nbcc explain {found.row}")
    return Exit.AGREES


def _lines(writer: OptionsFile) -> Iterator[str]:
    yield f"{writer.file}: {writer.row or 'no row'}"
    for option, value, given in writer.decided:
        yield f"  decided by {option} = {value or '(none)'}{'' if given else ', by default'}"
    yield from (f"  {note}" for note in writer.notes)
    for option, nearest in writer.unknown:
        yield f"  unknown: {option}" + (f"; did you mean {nearest}?" if nearest else "")


def _verdicts(promises: dict[str, HudiVerdict]) -> Iterator[str]:
    """Yield the promises by verdict. A search alone keeps a promise only if no finding shows that Hudi breaks it."""
    searched = {name: each for name, each in promises.items() if not each.findings}
    if broken := [f"{name} ({each.steps} steps)" for name, each in searched.items() if each.steps]:
        yield f"breaks {', '.join(broken)}"
    for verdict, words in (
        ("VIOLATED", "broken on Hudi by a test, not in a search"),
        ("UNDETERMINED", "undetermined here, broken by Hudi's non-blocking writers in a test"),
    ):
        if shown := [name for name, each in promises.items() if each.findings and each.verdict == verdict]:
            yield f"{words}: {', '.join(shown)} (specs/findings/README.md)"
    for verdict, words in (("UNDETERMINED", "undetermined"), ("HOLDS", "kept in the searched worlds of the model:")):
        if names := [name for name, each in searched.items() if each.verdict == verdict]:
            yield f"{words} {', '.join(names)}"
