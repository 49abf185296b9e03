"""`nbcc verdicts --options`: prints the verdict-matrix row that describes writers with given `hoodie.*` options."""

from __future__ import annotations

from pathlib import Path

import click

from .command import answer, users_words
from .outcome import Exit


def row_of(paths: tuple[Path, ...], as_json: bool) -> Exit:
    """Print the row of the verdict matrix for writers with the given options, and the options that decide it. The exit
    code is UNDETERMINED if no single row covers all writers.
    """
    from nbcc.simulator.options import judge

    with users_words():
        found = judge(paths)
    if as_json:
        answer(found.to_mapping())
        return Exit.AGREES if found.row else Exit.UNDETERMINED
    for writer in found.writers:
        click.echo(f"{writer.file}: {writer.row or f'no row, {writer.because}'}")
        for option, value, given in writer.decided:
            click.echo(f"  decided by {option} = {value or '(none)'}{'' if given else ', by default'}")
        for option, nearest in writer.unknown:
            click.echo(f"  unknown: {option}" + (f"; did you mean {nearest}?" if nearest else ""))
    if found.row is None:
        click.echo(f"UNDETERMINED: {found.because}")
        return Exit.UNDETERMINED
    from nbcc.simulator import specs

    click.echo(f"row {found.row}: {specs.about('protocols', found.row)}")
    click.echo(f"  verdicts: specs/verdicts.md, or nbcc verdicts; details: nbcc explain {found.row}")
    return Exit.AGREES
