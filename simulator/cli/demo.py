"""`nbcc demo`: a two-minute demonstration on real Spark."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .command import debug_option, echo, traces_option, users_words
from .outcome import Exit, gravest

if TYPE_CHECKING:
    from nbcc.model import World
    from nbcc.simulator.lockstep.demo import DemoTables
    from nbcc.simulator.trace import Trace

    from .search import FinishedSearch

WORLD = "demo"
TESTED = "requested-time-slicing"


@click.command(short_help="Two minutes: two writers, a compactor, and an option that loses a row.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Folder for the tables and the page.  [default: a new temporary one]")  # fmt: skip
@click.option("--world", default=WORLD, show_default=True, help="Name or .toml file of the world.")
@click.option("--protocol", default=TESTED, show_default=True, help="The protocol that act 3 tests.")
@traces_option
@debug_option
def command(*, out: Path | None, world: str, protocol: str, traces: Path) -> Exit:
    """A tour on real Spark, in four acts.

    \b
      1  Two writers and a compactor write an Apache Hudi table in a random interleaving. The model must agree after
         every step, and hudi-rs must read the rows that the model predicts.
      2  A search of every interleaving under the default protocol finds no lost row, up to its bound.
      3  The same search under another protocol prints the shortest interleaving that loses a row, if there is one.
      4  That interleaving runs on Spark: the row is lost. Under the default protocol the same steps keep the row.

    No interleaving is prepared in advance. The exit code is 0 if Spark behaves as the model predicts.

    \b
    Examples:
      nbcc demo
      nbcc demo --out tour
      nbcc demo --protocol default          without the fault: the search finds no loss
    """
    from nbcc.simulator import specs

    with users_words():
        bounds = specs.world(world)
        specs.protocol(protocol)
    if out is not None and out.is_dir() and any(out.iterdir()):
        raise click.UsageError(f"{out} is not empty: use a new folder")
    place = (out or Path(tempfile.mkdtemp(prefix="nbcc-demo-"))).absolute()
    with _tables(place) as tables:
        outcomes = [_agreement(tables, bounds, traces), _search(2, world, "default")[0]]
        searched, found = _search(3, world, protocol)
        outcomes += [searched] if found is None else [_on_spark(tables, found, traces)]
    return gravest(outcomes)


@contextlib.contextmanager
def _tables(out: Path) -> Iterator[DemoTables]:
    from nbcc.engine.spark.session import session
    from nbcc.simulator.lockstep.demo import DemoTables

    _progress("starting Spark")
    out.mkdir(parents=True, exist_ok=True)
    spark = session("nbcc demo", log=out / "spark.log")
    from nbcc.simulator.lockstep.systems.spark import SparkSystem  # needs what session() checks for

    try:
        yield DemoTables(lambda world, protocol, folder: SparkSystem(world, protocol, spark=spark, folder=folder), out)
    finally:
        spark.stop()


def _agreement(tables: DemoTables, world: World, traces: Path) -> Exit:
    from nbcc.simulator.lockstep.demo import random_interleaving
    from nbcc.simulator.trace import save
    from nbcc.simulator.trace_text import render, screen_width

    _print("1. Two writers and a compactor on Spark, interleaved at random\n")
    trace = random_interleaving(world)
    _progress(f"{len(trace.steps)} steps on Spark")
    outcome, tally = tables.agreement(trace, "agreement")
    save(outcome.trace, traces)
    _print(render(outcome.trace, width=screen_width()))
    echo("")
    if outcome.verdict != "AGREED":
        _print(outcome.sentence)
        return Exit.VIOLATED
    _print(f"   model and Spark agreed after each of {len(trace.steps)} steps, and on every read at the end")
    for what in tally.skipped:
        _print(f"   not compared: {what}")
    if not tally.skipped:
        _print("   hudi-rs read the snapshot and every point in time as the model predicts")
    if others := sum(tally.differences.values()):
        _print(f"   {others} of its answers follow its own rules and differ, as the model of hudi-rs predicts;")
        _print("   the rules: nbcc explain hudi-rs-0.5.0")
    return Exit.AGREES


def _search(act: int, world: str, protocol: str) -> tuple[Exit, Trace | None]:
    from nbcc.simulator.lockstep.counterexample import counterexample
    from nbcc.simulator.lockstep.demo import LOSS

    from .search import search

    _print(f"\n{act}. Every interleaving of the world {world} under {protocol}\n")
    found: FinishedSearch = search(world, protocol, [LOSS], reduce=False)
    promise = found.result.promises[LOSS]
    _print(f"   {promise.verdict}  {LOSS}  {found.result.bound}")
    if promise.trace is None:
        if promise.because:
            _print(f"   {promise.because}")
        else:
            _print(f"   no interleaving loses a row, up to depth {found.result.depth}")
        return Exit.UNDETERMINED if promise.because else Exit.AGREES, None
    return Exit.AGREES, counterexample(found.system, promise.trace, LOSS, f"nbcc explore {world} --protocol {protocol}")


def _on_spark(tables: DemoTables, found: Trace, traces: Path) -> Exit:
    """Play the counterexample on Spark, first under its own protocol (set of rules), then under the default protocol.
    Save the counterexample's trace and its HTML page.
    """
    from nbcc.model import Protocol
    from nbcc.simulator import trace_text
    from nbcc.simulator.lockstep.demo import last_snapshot, under
    from nbcc.simulator.trace import save
    from nbcc.simulator.view import page, trace_content

    _print(f"\n{trace_text.render(found, width=trace_text.screen_width())}\n\n4. The same steps on Spark\n")
    _progress(f"{len(found.steps)} steps on Spark, twice")
    lost = tables.play(found, "lost")
    kept = tables.play(under(found, Protocol()), "kept")
    for rules, outcome in (("this protocol", lost), ("default", kept)):
        rows = ", ".join(last_snapshot(outcome.trace)) or "no rows"
        _print(f"   under {rules:13}  {outcome.verdict:8}  the last snapshot has {rows}")
    as_expected = lost.fits and lost.same and lost.verdict == "VIOLATED" and kept.fits and kept.verdict == "AGREED"
    if not as_expected:
        _print(f"\n   {lost.sentence}\n   {kept.sentence}")
    picture = tables.out / "lost.html"
    picture.write_text(page.render(trace_content.content_of(lost.trace)), encoding="utf-8")
    _print(f"\n   tables  {_from_here(tables.out)}")
    _print(f"   trace   {save(found, traces)}")
    _print(f"   page    {_from_here(picture)}")
    _print(f"   again   nbcc replay {found.handle} --on spark")
    return Exit.AGREES if as_expected else Exit.VIOLATED


def _progress(what: str) -> None:
    if sys.stderr.isatty():
        _print(f"({what})", err=True)


def _from_here(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _print(text: str, err: bool = False) -> None:
    echo(*text.split("\n"), err=err)
