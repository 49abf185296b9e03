"""Traces to draw, made from the model by short scripts: `w1*3` lets w1 take its next three steps, `c1!` crashes c1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from nbcc.model import Model, Protocol, Record, Step, World
from nbcc.simulator.observables import model_timeline
from nbcc.simulator.symbols import Symbols
from nbcc.simulator.trace import Trace

WRITE = 6
"""The steps of a write to one file group: request, start, log, lock, completion time, publish."""


def trace_of(script: str, protocol: Mapping[str, Any], promise: str = "", **world: Any) -> Trace:
    """The trace of a script; a step's first possible arguments are taken, `r1:1` takes the second."""
    where, rules = World(**world), Protocol.from_mapping(protocol)
    model = Model(where, rules)
    state, steps = model.initial, []
    for word in script.split():
        crash, (actor, _, times) = word.endswith("!"), word.removesuffix("!").partition("*")
        actor, _, choice = actor.partition(":")
        for _ in range(int(times or 1)):
            step = _next(model, state, actor, crash, int(choice or 0))
            steps.append(Symbols(model_timeline(model, state)).step(step))
            state = model.apply(state, step)
    return Trace(
        world=where, protocol=rules, steps=tuple(steps), promise=promise, verdict="VIOLATED" if promise else ""
    )


def _next(model: Model, state: Any, actor: str, crash: bool, choice: int) -> Step:
    possible = [step for step in model.enabled(state) if step.actor == actor]
    return [step for step in possible if (step.action == "actor_crashes") is crash][choice]


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
    """A completion time taken before the lock: it appears behind the back of a read that was promised permanently."""
    return trace_of("w1*4 w2*6 w1*2", {"completion_time": "outside_lock"}, "TRAVEL", actors={"writer": 2})


def half_a_write() -> Trace:
    """Two file groups, two compactors, one of which crashes; a write of two keys is read in one group only."""
    return trace_of(
        "w1*4 w2*7 c1 w1*3 c1*3 c1! c2*4 c2*2", {"slicing": "requested"}, "SNAP",
        buckets=2, crashes=1, actors={"writer": 2, "compactor": 2},
    )  # fmt: skip


def long_trace(steps: int, protocol: Mapping[str, Any] | None = None) -> Trace:
    """A long run of three writers and a compactor that take turns in bursts of uneven length."""
    where = World(actors={"writer": 3, "compactor": 1}, writes_per_writer=steps, compactions=12)
    rules = Protocol.from_mapping(protocol or {"slicing": "requested"})
    model = Model(where, rules)
    state, taken, dice = model.initial, list[Step](), Random(7)
    while len(taken) < steps:
        actor = dice.choice([*model.actors["writer"] * 3, *model.actors["compactor"]])
        for _ in range(min(dice.choice((1, 2, 3, 12)), steps - len(taken))):
            possible = [step for step in model.enabled(state) if step.actor == actor]
            if not possible:
                break
            taken.append(possible[0])
            state = model.apply(state, possible[0])
    return Trace(world=where, protocol=rules, steps=tuple(taken))


def three_systems() -> Trace:
    """The lost row with what model, engine and Hudi were seen to read after its last step."""
    trace = lost_row()
    seen = {
        "model": {"snapshot": ["k1: 1 A r2"]},
        "engine": {"snapshot": ["k1: 1 A r2"]},
        "hudi": {"snapshot": ["k1: 1 B r1"]},
    }
    return replace(trace, observed=({},) * (len(trace.steps) - 1) + (seen,))


def hostile_names() -> Trace:
    """A trace whose key, value, title and reason would be markup if the page did not escape them."""
    trace = lost_row()
    put = {"w1": Record(1, "</script><img src=x onerror=document.title='owned'>"), "w2": Record(1, "&amp;")}
    batches = {(actor, 1): {(0, 1): {"<script>alert(1)</script>": record}} for actor, record in put.items()}
    return replace(trace, batches=batches, title="<b>", because="</script><script>document.title='owned'</script>")
