"""`nbcc simulate`: estimates what a workload of many writers costs in each concurrency mode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import names
from .command import (
    FileToWrite,
    FiniteNumber,
    Teaching,
    WholeNumber,
    answer,
    debug_option,
    echo,
    json_option,
    users_words,
)
from .outcome import Exit
from .progress import on_stderr
from .tables import opened, storage_option

if TYPE_CHECKING:
    from nbcc.simulator.workload.recorded import Recorded
    from nbcc.simulator.workload.scenario import Scenario


@click.command(cls=Teaching, sections=names.sections("scenarios"),
               short_help="What many writers on one table would cost, by mode.")  # fmt: skip
@click.argument("scenario", required=False, shell_complete=names.completes("scenarios"))
@click.option(
    "--mode", type=click.Choice(["nbcc", "occ", "single", "all"]), default="all", show_default=True,
    help="Concurrency: non-blocking, optimistic, or one writer that writes what all would write.",
)  # fmt: skip
@click.option(
    "--from", "table", metavar="TABLE",
    help="Take the batches of this Hudi table instead of a SCENARIO, and report what the table did.",
)  # fmt: skip
@click.option(
    "--compact-every", metavar="TIME", help="Compare another interval of compactions, such as 10m, with its own one."
)
@click.option("--store", metavar="NAME", help="Another store, such as s3-express.")
@click.option("--hours", type=FiniteNumber(min=0, min_open=True), metavar="N", help="Another simulated time, in hours.")
@click.option("--seeds", type=WholeNumber(min=1), default=1, show_default=True, metavar="N", help="Number of runs.")
@click.option("--plot", type=FileToWrite(), metavar="FILE", help="Draw the modes over the number of writers.")
@click.option(
    "--calibration", "times", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Times of your machine, written by --calibrate.",
)  # fmt: skip
@click.option("--calibrate", type=FileToWrite(), metavar="FILE", help="Measure the engine here and write FILE.")
@storage_option
@json_option
@debug_option
def command(
    *, scenario: str | None, mode: str, table: str | None, compact_every: str | None, store: str | None,
    hours: float | None, seeds: int, plot: Path | None, times: Path | None, calibrate: Path | None, as_json: bool,
) -> Exit:  # fmt: skip
    """Simulate a workload and report throughput, latency, aborted work, locking, log files, reads, requests and price.

    A SCENARIO is a name from the list below or a TOML file. The simulation counts the requests that the engine makes,
    takes conflicts and plans from the model, and uses times that were measured on the engine.

    \b
    Examples:
      nbcc simulate two-pipelines
      nbcc simulate hot-partition --mode occ --seeds 5
      nbcc simulate my.toml --plot writers.png
      nbcc simulate --from orders --compact-every 30m
    """
    from nbcc.simulator.workload import costs, report
    from nbcc.simulator.workload.run import simulate_all
    from nbcc.simulator.workload.scenario import MODES, check

    if calibrate is not None:
        return _calibrate(calibrate)
    with users_words():
        calibration = costs.calibration(times)
        chosen, past = _scenario(scenario, table)
        chosen = replace(chosen, store=store or chosen.store, hours=hours or chosen.hours)
        cases = [chosen, *_compacted(chosen, compact_every)]
        check(chosen)
        costs.store(chosen.store, calibration)
    modes = [each for each in MODES if mode in (each, "all")]
    with on_stderr() as progress:
        blocks = [
            report.IntervalReport(case.compaction.every, simulate_all(case, modes, calibration, seeds, progress))
            for case in cases
        ]
        if plot is not None:
            from nbcc.simulator.workload.plot import draw

            with users_words():
                draw(cases[-1], blocks[-1].runs, calibration, plot, progress)
    if as_json:
        answer(report.document(chosen, blocks, calibration, past))
    else:
        for line in report.text(chosen, blocks, calibration, past):
            echo(line)
    return Exit.AGREES


def _scenario(name: str | None, table: str | None) -> tuple[Scenario, Recorded | None]:
    from nbcc.simulator.workload import scenario

    if table is not None:
        from nbcc.simulator.workload.recorded import recording

        with opened(table, "simulate") as storage:
            past = recording(storage, scenario.load(name) if name else None)
        return past.scenario, past
    if name is None:
        raise ValueError("name a SCENARIO, or a table with --from; `nbcc simulate --help` lists the scenarios")
    return scenario.load(name), None


def _compacted(chosen: Scenario, every: str | None) -> list[Scenario]:
    from nbcc.simulator.workload.scenario import duration

    if every is None or (seconds := duration(every)) == chosen.compaction.every:
        return []
    return [replace(chosen, compaction=replace(chosen.compaction, every=seconds))]


def _calibrate(path: Path) -> Exit:
    from nbcc.simulator.workload.calibrate import calibrate

    with on_stderr() as progress:
        path.write_text(calibrate(progress), encoding="utf-8")
    echo(f"calibration: {path}", err=True)
    return Exit.AGREES
