"""Traces to draw, made from the model by short scripts: `w1*3` lets w1 take its next three steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model import Model, Protocol, Step, World
from nbcc.simulator.crosscheck.observables import model_timeline
from nbcc.simulator.crosscheck.symbols import Symbols
from nbcc.simulator.trace import Trace

WRITE = 6
"""The steps of a write to one file group: request, start, log, lock, completion time, publish."""


def trace_of(script: str, protocol: Mapping[str, Any], promise: str = "", **world: Any) -> Trace:
    """The trace of a script; a step's first possible arguments are taken, `r1:1` takes the second."""
    where, rules = World(**world), Protocol.from_mapping(protocol)
    model = Model(where, rules)
    state, steps = model.initial, []
    for word in script.split():
        actor, _, times = word.partition("*")
        actor, _, choice = actor.partition(":")
        for _ in range(int(times or 1)):
            step = _next(model, state, actor, int(choice or 0))
            steps.append(Symbols(model_timeline(model, state)).step(step))
            state = model.apply(state, step)
    return Trace(world=where, protocol=rules, steps=tuple(steps), promise=promise, verdict="VIOLATED")


def _next(model: Model, state: Any, actor: str, choice: int) -> Step:
    possible = [step for step in model.enabled(state) if step.actor == actor]
    ordinary = [step for step in possible if step.action != "actor_crashes"]
    return ordinary[choice] if ordinary else possible[0]


def lost_row() -> Trace:
    """A write that began before the plan and completed after it, sliced by requested time."""
    return trace_of("w1*3 w2*6 c1 w1*3 c1*5", {"slicing": "requested"}, "SNAP")


def resurrected_row() -> Trace:
    """A delete that compaction drops, and an older row that completes after it."""
    return trace_of("w1*3 w2*6 c1*6 w1*3", {"tombstones": "drop"}, "SNAP")


def torn_snapshot() -> Trace:
    """One listing that shows the later of two publications and misses the earlier one."""
    return trace_of(
        "w2*3 w1*5 r1 w1 w2*3 r1:2 r1", {"listing": "once"}, "SNAP",
        actors={"writer": 2, "reader": 1},
    )  # fmt: skip


def unstable_as_of() -> Trace:
    """A completion time taken before the lock: it appears behind the back of a read that was promised for ever."""
    return trace_of("w1*4 w2*6 w1*2", {"completion_time": "outside_lock"}, "TRAVEL", actors={"writer": 2})
