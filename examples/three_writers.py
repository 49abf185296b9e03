"""The three writers of RFC-22 on one table: ingestion, encryption and a backfill, measured in virtual time.

Model and engine take the steps together, so that every commit, abort and retry is also one of the engine. Only time is
virtual: an actor takes its next step when the previous step ends, and a data phase takes as long as its batch. ``python
-m examples.three_writers`` prints the completed writes, the conflicts and the aborted writes of each writer under each
mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.simulator.lockstep.crosscheck.check import close
from nbcc.simulator.lockstep.crosscheck.generators import draw_batches
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.systems.registry import factory

WRITERS: Final[Mapping[str, tuple[str, float]]] = {
    "w1": ("ingestion", 1.0),
    "w2": ("encryption", 4.0),
    "w3": ("backfill", 15.0),
}
"""Writer -> its task, and the seconds that it needs to write a batch."""
MODES: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "occ": {"writer": {"concurrency": "occ"}},
    "occ, backfill nbcc": {"writer": {"concurrency": "occ"}, "w3": {"concurrency": "nbcc"}},
    "nbcc": {},
}
"""Mode -> the options of writers that differ from the default (`World.settings`)."""
DATA_PHASE: Final = "writer_writes_log"
BRIEF: Final = 0.05  # seconds: any step that only touches timeline, lock or clock
UNLIMITED: Final = 10_000  # retries of an aborted write


@dataclass
class Measured:
    """The figures of one writer: completed writes, aborted attempts, and the seconds that aborted attempts took.

    `met` counts the attempts during which another write of the same file group completed, detected or not.
    """

    does: str
    completed: int = 0
    met: int = 0
    aborted: int = 0
    wasted: float = 0.0


def measure(mode: str, seconds: float, seed: int = 0) -> dict[str, Measured]:
    """Run the three writers on one file group for this many virtual seconds, on model and engine."""
    own = MODES[mode]
    world = World(actors={"writer": 3}, settings=own, writes_per_writer=UNLIMITED, retries=UNLIMITED, keys=2)
    model = Model(world, Protocol())
    random = Random(seed)
    batches = draw_batches(random.randrange, World(actors={"writer": 3}, writes_per_writer=60, keys=2))
    system = factory("engine")(world, model.protocol, batches)
    history = PlayedHistory(model, system, batches)
    free = dict.fromkeys(WRITERS, 0.0)  # the time of the next step of each writer
    found = {actor: Measured(does) for actor, (does, _) in WRITERS.items()}
    try:
        while enabled := [step for step in history.enabled() if free[step.actor] < seconds]:
            step = min(enabled, key=lambda step: (free[step.actor], step.actor))
            _count(found[step.actor], step, overtaken(model, history.state, step.actor))
            history.take(step)
            free[step.actor] += WRITERS[step.actor][1] if step.action == DATA_PHASE else BRIEF
    finally:
        close(system)
    return found


def overtaken(model: Model, state: State, writer: str) -> bool:
    """Return whether another write has completed since the write of this writer began; all writes use one file group.
    """
    began = model.component(state, writer).requested
    return any(entry.completed > began for entry in model.component(state, "published"))


def _count(writer: Measured, step: Step, conflict: bool) -> None:
    if step.action == "writer_publishes_instant":
        writer.completed += 1
        writer.met += conflict
    elif step.action == "writer_aborts":
        writer.met += conflict
        writer.aborted += 1
        writer.wasted += WRITERS[step.actor][1]


def conflicts(measured: Mapping[str, Mapping[str, Measured]]) -> str:
    """Return a table of the attempts that met a conflict and of those that aborted, for each mode."""
    lines = [f"{'mode':<20} {'completed':>9} {'met a conflict':>14} {'aborted':>7} {'thrown away':>11}"]
    for mode, writers in measured.items():
        got = writers.values()
        done, met, aborted = (sum(getattr(each, name) for each in got) for name in ("completed", "met", "aborted"))
        wasted = f"{sum(each.wasted for each in got):g} s"
        lines.append(f"{mode:<20} {done:>9} {met:>14} {aborted:>7} {wasted:>11}")
    return "\n".join(lines)


def table(seconds: float = 60.0) -> str:
    """Return the measurement as text."""
    lines = [f"three writers of one file group, {seconds:g} virtual seconds", ""]
    measured = {mode: measure(mode, seconds) for mode in MODES}
    for mode, writers in measured.items():
        lines.append(mode)
        for actor, got in writers.items():
            lines.append(
                f"  {got.does:<10} a batch takes {WRITERS[actor][1]:>4g} s: {got.completed:>3} completed, "
                f"{got.aborted:>3} aborted, {got.wasted:g} s of writing thrown away"
            )
    return "\n".join((*lines, "", conflicts(measured)))


if __name__ == "__main__":
    print(table())
