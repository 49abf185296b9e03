"""`nbcc fill`: writes test vectors, tables in folders with the right answer of every read, for any engine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command import Teaching, answer, debug_option, echo, json_option
from .outcome import Exit
from .progress import on_stderr

if TYPE_CHECKING:
    from nbcc.simulator.lockstep.vectors.fill import FillReport


@click.command(cls=Teaching, short_help="Test vectors for any engine: tables and the answers to their reads.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR",
              help="Folder of the vectors; it must be empty or absent.")  # fmt: skip
@click.option("--size", type=click.Choice(["tiny", "small", "standard"]), default="small", show_default=True,
              help="tiny: about 40 vectors; small: more than 300; standard: about four times as many.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed writes the same rows.")
@json_option
@debug_option
def command(*, out: Path, size: str, seed: int, as_json: bool) -> Exit:
    """Write test vectors: small tables with the answer to every read of each (docs/vectors.md).

    A vector is a run of several actors, played on the model and on the engine. The files are the engine's, the answers
    are the model's, and a vector is kept only if both agree on every read.

    \b
    Examples:
      nbcc fill --out vectors --size tiny
      nbcc fill --out vectors --json
    """
    from nbcc.simulator.lockstep.vectors.fill import SIZES, fill

    if out.exists() and any(out.iterdir()):
        raise click.UsageError(f"{out} is not empty: use a new folder")
    [asked] = [each for each in SIZES if each == size]
    with on_stderr() as tick:
        report = fill(out, asked, seed, partial(tick, "vectors"))
    mean = report.bytes / max(1, report.vectors) / 1000
    if as_json:
        answer(_plain(report))
    else:
        echo(f"{report.vectors} vectors with {len(report.transitions)} transitions in {out}",
             f"  {mean:.0f} kB each, the largest {report.largest / 1000:.0f} kB",
             *(f"  not kept, engine and model differ: {name}: {why}" for name, why in report.disagreed.items()),
             *(f"  not played: {name}: {why}" for name, why in report.unplayable.items()))  # fmt: skip
    return Exit.VIOLATED if report.disagreed else Exit.AGREES


def _plain(report: FillReport) -> dict[str, Any]:
    return {
        "vectors": report.vectors, "bytes": report.bytes, "largest": report.largest,
        "transitions": sorted(report.transitions), "disagreed": report.disagreed, "unplayable": report.unplayable,
    }  # fmt: skip
