"""The tour: what nbcc is, shown by doing it on real Spark.

Nothing here knows which steps lose a row. The steps of the first act come from a random schedule; those of the last
ones from a search, and if the search finds no loss, there is none to show.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from nbcc.model import Instant, Model, Protocol, Step, World

from .crosscheck.draws import draw_batches
from .crosscheck.history import History
from .crosscheck.readers import standard_readers
from .crosscheck.report import Tally
from .replay import Outcome, play
from .schedule import Random
from .shrink import realised
from .systems import System
from .trace import Batches, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOSS = "SNAP"
"""The promise whose breach a reader notices as a lost row."""


@dataclass(frozen=True)
class Theatre:
    """Where the tour plays: one Spark session, and the folder in which every table stays."""

    spark: SparkSession
    out: Path

    def play(self, trace: Trace, table: str, ended: Callable[[History], None] = lambda history: None) -> Outcome:
        """Play a trace on Spark, into a fresh table of this name."""

        def make(world: World, protocol: Protocol, batches: Batches) -> System:
            from .systems.spark import SparkSystem

            return SparkSystem(world, protocol, spark=self.spark, folder=self.out / table)

        return play(trace, "spark", make, ended)

    def agreement(self, trace: Trace, table: str) -> tuple[Outcome, Tally]:
        """Play a trace, then let the other readers at hand (hudi-rs) read the table that it left."""
        tally = Tally()

        def read(history: History) -> None:
            for reader in standard_readers():
                reader(history, tally)

        return self.play(trace, table, read), tally


def random_interleaving(world: World) -> Trace:
    """The first seed's interleaving in which a write completes while a compaction is pending, with random rows."""
    protocol = Protocol()
    for seed in count():
        choose = random.Random(seed).randrange
        steps = _walk(Model(world, protocol), choose)
        named = realised(Model(world, protocol), steps) if steps else None
        if named:
            batches = draw_batches(choose, world)
            told = f"a random walk, seed {seed}"
            return Trace(world=world, protocol=protocol, steps=named, batches=batches, found_by=told)
    raise AssertionError("count() never ends")


def _walk(model: Model, choose: Callable[[int], int]) -> tuple[Step, ...] | None:
    """Random steps until nothing can happen; None unless a write completed between a plan and its completion."""
    schedule, state, steps, overlapped = Random(), model.initial, list[Step](), False
    while (enabled := model.enabled(state)) and (step := schedule.next(choose, enabled)):
        before, state = model.timeline(state), model.apply(state, step)
        steps.append(step)
        overlapped = overlapped or _write_passes_plan(before, model.timeline(state))
    return tuple(steps) if overlapped else None


def _write_passes_plan(before: Sequence[Instant], after: Sequence[Instant]) -> bool:
    done = {instant.requested for instant in before if instant.completed}
    completed = any(i.action == "deltacommit" and i.completed and i.requested not in done for i in after)
    return completed and any(i.action == "compaction" and not i.completed for i in after)


def last_snapshot(trace: Trace) -> Sequence[str]:
    """The rows that the last step that changed the snapshot left, in words."""
    return next((seen["snapshot"] for seen in reversed(trace.observed) if "snapshot" in seen), ())


def under(trace: Trace, protocol: Protocol) -> Trace:
    """The same steps under another protocol, with nothing observed yet."""
    return replace(trace, protocol=protocol, observed=(), verdict="", because="")
