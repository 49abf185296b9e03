"""RFC-22's three writers of one table, measured: ingestion, encryption and a backfill, each as slow as its batches.

The steps are those of model and engine together, so every commit, abort and retry is the engine's own; only time is
virtual: each actor does its next step when the one before it is over, and a data phase takes as long as its batch.
``python -m nbcc.simulator.three_writers`` prints who completes what, and who starves, under each mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from nbcc.model import Model, Protocol, Step, World

from .crosscheck.check import close
from .crosscheck.draws import draw_batches
from .crosscheck.history import History
from .systems.registry import factory

WRITERS: Final[Mapping[str, tuple[str, float]]] = {
    "w1": ("ingestion", 1.0),
    "w2": ("encryption", 4.0),
    "w3": ("backfill", 15.0),
}
"""Writer -> what it does, and how many seconds one of its batches takes to write."""
MODES: Final = ("occ", "nbcc")
DATA_PHASE: Final = "writer_writes_log"
BRIEF: Final = 0.05  # seconds: any step that only touches timeline, lock or clock
NEVER_TIRED: Final = 10_000  # how often a write that aborted is tried again


@dataclass
class Measured:
    """What one writer has got done: writes completed, attempts given up, and the seconds of writing that these cost."""

    does: str
    completed: int = 0
    aborted: int = 0
    wasted: float = 0.0


def measure(mode: str, seconds: float, seed: int = 0) -> dict[str, Measured]:
    """The three writers on one file group for so many virtual seconds, on model and engine."""
    world = World(actors={"writer": 3}, writes_per_writer=NEVER_TIRED, retries=NEVER_TIRED, keys=2)
    model = Model(world, Protocol.from_mapping({"concurrency": mode}))
    random = Random(seed)
    batches = draw_batches(random.randrange, World(actors={"writer": 3}, writes_per_writer=60, keys=2))
    system = factory("engine")(world, model.protocol, batches)
    history = History(model, system, batches)
    free = dict.fromkeys(WRITERS, 0.0)  # when each of them can do its next step
    found = {actor: Measured(does) for actor, (does, _) in WRITERS.items()}
    try:
        while enabled := [step for step in history.enabled() if free[step.actor] < seconds]:
            step = min(enabled, key=lambda step: (free[step.actor], step.actor))
            history.take(step)
            free[step.actor] += WRITERS[step.actor][1] if step.action == DATA_PHASE else BRIEF
            _count(found[step.actor], step)
    finally:
        close(system)
    return found


def _count(writer: Measured, step: Step) -> None:
    if step.action == "writer_publishes_instant":
        writer.completed += 1
    elif step.action == "writer_aborts":
        writer.aborted += 1
        writer.wasted += WRITERS[step.actor][1]


def table(seconds: float = 60.0) -> str:
    """The measurement as text."""
    lines = [f"three writers of one file group, {seconds:g} virtual seconds", ""]
    for mode in MODES:
        lines.append(mode)
        for actor, got in measure(mode, seconds).items():
            lines.append(
                f"  {got.does:<10} a batch takes {WRITERS[actor][1]:>4g} s: {got.completed:>3} completed, "
                f"{got.aborted:>3} aborted, {got.wasted:g} s of writing thrown away"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
