"""The demonstration that `nbcc demo` runs on real Spark.

The steps of the demonstration are not fixed in advance. A random schedule chooses the steps of the first part, and
searches choose the steps of the other parts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from nbcc.model import Instant, Model, Protocol, Step, World

from ..trace import Trace
from .crosscheck.generators import draw_batches
from .crosscheck.history import PlayedHistory
from .crosscheck.readers import standard_readers
from .crosscheck.report import Tally
from .replay import Outcome, play
from .schedule import Random
from .shrink import realised
from .systems import System
from .systems.registry import factory

LOSS = "SNAP"
"""The promise whose violation a reader observes as a lost row."""


@dataclass(frozen=True)
class DemoTables:
    """The tables of the demonstration. ``make`` creates a system whose table is stored in the given folder. ``out`` is
    the folder that contains the folders of all tables.
    """

    make: Callable[[World, Protocol, Path], System]
    out: Path

    def play(self, trace: Trace, table: str, ended: Callable[[PlayedHistory], None] = lambda history: None) -> Outcome:
        """Play a trace on a new table with the given name."""
        folder = self.out / table
        return play(trace, "spark", lambda world, protocol, _: self.make(world, protocol, folder), ended)

    def agreement(self, trace: Trace, table: str) -> tuple[Outcome, Tally]:
        """Play a trace, then compare the rows that other installed readers (hudi-rs) return with the model's rows."""
        tally = Tally()

        def read(history: PlayedHistory) -> None:
            for reader in standard_readers():
                reader(history, tally)

        return self.play(trace, table, read), tally


def random_interleaving(world: World) -> Trace:
    """Return a random interleaving with random rows.

    Seeds are tried until two writes overlap and a write completes while a compaction is pending. In addition, the last
    snapshot must contain a row of every writer.
    """
    protocol = Protocol()
    for seed in count():
        choose = random.Random(seed).randrange
        steps = _walk(Model(world, protocol), choose)
        named = realised(Model(world, protocol), steps) if steps else None
        if not named:
            continue
        trace = Trace(
            world=world,
            protocol=protocol,
            steps=named,
            batches=draw_batches(choose, world),
            found_by=f"a random walk, seed {seed}",
        )
        rows = last_snapshot(play(trace, "model", factory("model")).trace)
        if all(any(f" {writer}." in row for row in rows) for writer, _ in trace.batches):
            return trace
    raise AssertionError("count() never ends")


def _walk(model: Model, choose: Callable[[int], int]) -> tuple[Step, ...] | None:
    schedule, state, steps = Random(), model.initial, list[Step]()
    writes_met = compaction_met = False
    while (enabled := model.enabled(state)) and (step := schedule.next(choose, enabled)):
        before, state = model.timeline(state), model.apply(state, step)
        steps.append(step)
        pending = [instant.action for instant in model.timeline(state) if not instant.completed]
        writes_met = writes_met or pending.count("deltacommit") > 1
        compaction_met = compaction_met or ("compaction" in pending and _write_completed(before, model.timeline(state)))
    return tuple(steps) if writes_met and compaction_met else None


def _write_completed(before: Sequence[Instant], after: Sequence[Instant]) -> bool:
    done = {instant.requested for instant in before if instant.completed}
    return any(i.action == "deltacommit" and i.completed and i.requested not in done for i in after)


def last_snapshot(trace: Trace) -> Sequence[str]:
    """Return the rows of the last recorded snapshot, as text."""
    return next((seen["snapshot"] for seen in reversed(trace.observed) if "snapshot" in seen), ())


def under(trace: Trace, protocol: Protocol) -> Trace:
    """Return the trace with `protocol` instead of its own protocol, and without recorded observations and verdict."""
    return replace(trace, protocol=protocol, observed=(), verdict="", because="")
