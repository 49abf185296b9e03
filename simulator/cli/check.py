"""`nbcc check`: plays random interleavings on a real system, and compares the system with the model after every step.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from . import names
from .command import (
    WORKERS,
    FileToWrite,
    FiniteNumber,
    Section,
    Teaching,
    WholeNumber,
    answer,
    debug_option,
    echo,
    json_option,
    module_option,
    system_option,
    traces_option,
    users_words,
)
from .outcome import Exit, gravest
from .progress import on_stderr

if TYPE_CHECKING:
    from nbcc.simulator.lockstep.crosscheck.check import CheckOptions
    from nbcc.simulator.lockstep.crosscheck.report import CheckReport
    from nbcc.simulator.lockstep.crosscheck.seeds import Seed
    from nbcc.simulator.lockstep.crosscheck.tour import TourReport

EXAMPLES = 200
# With --time alone, as many histories as fit.
UNLIMITED = 10_000_000
SECONDS = {"s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType[float]):
    """A parameter type for durations: `90s`, `5m`, `2h` or a number of seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        if not (parts := re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", value.strip())):
            self.fail(f"{value!r} is not a duration; use 90s, 5m or 2h", param, ctx)
        return float(parts[1]) * SECONDS[parts[2] or "s"]


SYSTEMS = [
    ("engine", "the engine in one process; it stops at each access to storage, lock or clock (the default)"),
    ("s3", "the engine on an S3 server in this process, whose requests fail at random"),
    ("spark", "the engine with its data work as Spark jobs"),
    ("hudi", "Apache Hudi 1.2.0 on Spark, in its own process; `make interop` builds its environment"),
    ("model", "the model against itself, for measurements and for mutants of the model"),
    ("MODULE:FACTORY", "your own system: factory(world, protocol, batches) -> nbcc.simulator.lockstep.systems.System"),
]


def _sections() -> Iterable[Section]:
    return ("Systems", SYSTEMS), *names.sections("worlds", "actions")()


@click.command(cls=Teaching, sections=_sections, short_help="Random interleavings of the engine against the model.")
@click.argument("world", required=False, shell_complete=names.completes("worlds"))
@click.option("--protocol", default="default", show_default=True, shell_complete=names.completes("protocols"),
              help="Name or .toml file of the protocol.")  # fmt: skip
@click.option(
    "--on",
    "systems",
    multiple=True,
    metavar="SYSTEM",
    help="System to check (see below); may be repeated.  [default: engine, or those of --system]",
)
@system_option
@click.option("--examples", type=WholeNumber(min=1), help=f"Number of histories.  [default: {EXAMPLES}]")
@click.option("--time", "seconds", type=Duration(), metavar="TIME", help="Play histories for this long: 90s, 5m, 2h.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed plays the same histories.")
@click.option("--seeds", type=WholeNumber(min=1), metavar="K", help="Run K checks, with the seeds from --seed on.")
@click.option("--workers", type=WORKERS, default=1, metavar="N", help="Number of processes that share the seeds.")
@click.option(
    "--across",
    "master",
    metavar="spark|URL",
    help="Share the seeds on a Spark cluster: on this machine, or of a master.",
)
@click.option("--tour", is_flag=True, help="Take every step of every state of WORLD, in few runs.")
@click.option(
    "--share",
    type=FiniteNumber(0, 1, min_open=True),
    default=1.0,
    metavar="X",
    help="Play this part of a tour, rarest steps first.",
)
@click.option("--summary", type=FileToWrite(), help="Append the report to this file.")
@click.option("--html", type=FileToWrite(), metavar="FILE",
              help="After a disagreement, write a page that shows each step.")  # fmt: skip
@traces_option
@module_option
@json_option
@debug_option
def command(
    *,
    world: str | None,
    protocol: str,
    systems: tuple[str, ...],
    drivers: tuple[str, ...],
    examples: int | None,
    seconds: float | None,
    seed: int,
    seeds: int | None,
    workers: int,
    master: str | None,
    tour: bool,
    share: float,
    summary: Path | None,
    html: Path | None,
    traces: Path,
    as_json: bool,
) -> Exit:
    """Play random histories on the model and on a system, and compare them after every step.

    WORLD sets the actors and limits; without WORLD, each history draws a random world. The timeline and the file slices
    are compared after each step, and the snapshot after each completion. At the end, as-of reads of every completion
    time and incremental reads are compared. Agreement is evidence, not a proof. A disagreement is shrunk, printed and
    saved as a trace.

    \b
    Examples:
      nbcc check --examples 50
      nbcc check demo --protocol requested-time-slicing --time 1m
      nbcc check demo --on spark --examples 5
      nbcc check --on s3 --time 2m
      nbcc check demo --tour
      nbcc check --seeds 8 --workers 2
      nbcc check --system "java Driver.java" --html run.html
    """
    from nbcc.simulator.lockstep.crosscheck.check import run
    from nbcc.simulator.lockstep.crosscheck.seeds import Seed
    from nbcc.simulator.lockstep.systems.driver import Command

    most = examples or (UNLIMITED if seconds else EXAMPLES)
    one = Seed(seed=seed, examples=most, protocol=protocol, world=world, seconds=seconds)
    asked_systems = [*systems, *map(Command, drivers)] or ["engine"]
    with users_words():
        settings = {system: replace(one, system=system).options() for system in asked_systems}
    _refuse_ineffective(click.get_current_context(), tour=tour, seeds=bool(seeds))
    if tour and (examples or seconds or seeds):
        raise click.UsageError("--tour takes --share, not --examples, --time or --seeds")
    if seeds:
        every = [replace(one, system=each, seed=seed + number) for each in asked_systems for number in range(seeds)]
        return _many(every, workers, master, traces, as_json)
    reports: dict[str, CheckReport | TourReport] = {}
    for system, options in settings.items():
        if tour:
            reports[system] = _tour(options, share, seed, traces)
            continue
        with _progress(system) as tick:
            reports[system] = run(options, examples=most, seed=seed, seconds=seconds, progress=tick, traces_dir=traces)
    _print(reports, as_json, summary, html)
    return gravest(Exit(report.exit_code) for report in reports.values())


def _print(
    reports: Mapping[str, CheckReport | TourReport], as_json: bool, summary: Path | None, html: Path | None
) -> None:
    if as_json:
        answer({"systems": {system: _plain(report) for system, report in reports.items()}})
    else:
        for system, report in reports.items():
            echo(*(f"{system}: {report.text}").split("\n"))
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.writelines(f"{system}: {report.text}\n" for system, report in reports.items())
    found = next((each.disagreement for each in reports.values() if each.disagreement), None)
    if html is not None and found is not None:
        from nbcc.simulator.view import page, trace_content

        html.write_text(page.render(trace_content.content_of(found)), encoding="utf-8")


def _tour(options: CheckOptions, share: float, seed: int, traces: Path) -> TourReport:
    from nbcc.simulator.lockstep.crosscheck.tour import tour

    with users_words(), on_stderr() as tick:
        return tour(options, share=share, seed=seed, progress=partial(tick, "runs"), traces_dir=traces)


def _refuse_ineffective(asked: click.Context, *, tour: bool, seeds: bool) -> None:
    given = {name for name in asked.params if asked.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given & {"workers", "master"} and not seeds:
        raise click.UsageError("--workers and --across need --seeds K")
    if "share" in given and not tour:
        raise click.UsageError("--share needs --tour")
    for name in sorted({"summary", "html"} & given) if seeds else ():
        raise click.UsageError(f"--{name} is for one seed: leave out --seeds")


def _many(seeds: Sequence[Seed], workers: int, master: str | None, traces: Path, as_json: bool) -> Exit:
    from nbcc.simulator import trace
    from nbcc.simulator.lockstep.crosscheck.seeds import across_cluster, across_processes, check_seeds

    from .search import spark_of

    across = across_cluster(spark_of(master)) if master else across_processes(workers)
    found = []
    with on_stderr() as tick:
        for number, (seed, report) in enumerate(check_seeds(seeds, across)):
            tick("seeds", number, len(seeds))
            found.append((seed, report))
            if report.disagreement is not None:
                trace.save(report.disagreement, traces)
    if as_json:
        documents = [{"system": each.system, **_plain(report)} for each, report in found]
        answer({"seeds": documents})
    else:
        for each, report in found:
            echo(f"{each.system}, seed {each.seed}: {report.sentence}")
    return gravest(Exit(report.exit_code) for _, report in found)


def _plain(report: CheckReport | TourReport) -> dict[str, Any]:
    return {name: value for name, value in report.to_mapping().items() if name != "format"}


@contextlib.contextmanager
def _progress(system: str) -> Iterator[Callable[[int], None]]:
    if not sys.stderr.isatty():
        yield lambda histories: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"checking {system}") as status:
        yield lambda histories: status.update(f"checking {system}: {histories:,} histories")
