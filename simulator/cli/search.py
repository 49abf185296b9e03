"""Runs one search of the model with progress on standard error, for `explore` and `demo`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from nbcc.simulator.search.explore import Result, explore
from nbcc.simulator.search.explore.checkpoint import NotACheckpoint
from nbcc.simulator.search.explore.memory import without_gc

from .command import users_words

Progress = Callable[[int, int, int, int], None]


class FinishedSearch(NamedTuple):
    """A finished search: the names of its world and protocol, the searched system, and the result."""

    world: str
    protocol: str
    system: Any
    result: Result


def search(
    world: str,
    protocol: str,
    promises: Sequence[str] = (),
    *,
    max_states: int | None = None,
    memory: float | None = None,
    reduce: bool = True,
    checkpoint: Path | None = None,
) -> FinishedSearch:
    """Search a world (search configuration) under a protocol, and check the named promises (default: all).

    An unknown name ends the command with the exit code for bad input.
    """
    from nbcc.simulator.search.jobs import SearchJob, promises_of

    with users_words():
        job = SearchJob(world=world, protocol=protocol, promises=tuple(promises), reduce=reduce)
        system = job.system()
        asked, canary = promises_of(system, promises)
    bounds: dict[str, Any] = {"max_states": max_states, "memory": memory, "coverage": True}
    # The process ends after this command; collections of the many objects of the search would only cost time.
    click.get_current_context().with_resource(without_gc())
    with progress_on_stderr(f"exploring {world} under {protocol}") as tick:
        try:
            result = explore(
                system, asked, canary=canary, reduce=reduce, checkpoint=checkpoint, progress=tick, **bounds
            )
        except NotACheckpoint as error:
            raise click.ClickException(str(error)) from None
    return FinishedSearch(world, protocol, system, result)


def spark_of(master: str) -> Any:
    """Return a Spark session on the given master. On a cluster, the session has Spark's own configuration instead of
    nbcc's.
    """
    if master == "spark" or master.startswith("local"):
        from nbcc.engine.spark.session import session

        return session() if master == "spark" else session(master=master)
    from pyspark.sql import SparkSession

    if not master.startswith(("spark://", "yarn", "k8s://")):
        known = "spark, local[N], spark://HOST:PORT, yarn or k8s://"
        raise click.UsageError(f"{master!r} is not a Spark master; use {known}")
    return SparkSession.builder.master(master).appName("nbcc").getOrCreate()


@contextlib.contextmanager
def progress_on_stderr(what: str) -> Iterator[Progress]:
    """Yield a progress callback. The callback shows the numbers of states and steps on one line if standard error is a
    terminal.
    """
    if not sys.stderr.isatty():
        yield lambda distinct, generated, depth, frontier: None
        return
    from rich.console import Console

    began = time.monotonic()
    with Console(stderr=True).status(what) as status:

        def tick(distinct: int, generated: int, depth: int, frontier: int) -> None:
            rate = generated / max(time.monotonic() - began, 1e-9)
            status.update(f"{what}: {distinct:,} states, {frontier:,} left, depth {depth}, {rate:,.0f} steps a second")

        yield tick
