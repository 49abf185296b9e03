"""Compares the relation with the executable model, state by state and step by step.

`instance` names the elements of a world: its writes, logs, groups, plans and actors. `interpret` reads a state of the
model as facts of the relation. `compare` walks through every reachable state of a world: each clause of the invariant
must be true there, and each step must satisfy the guard of an action that stands for it and have its effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nbcc.model import Model, State, Step
from nbcc.model.kernel.table import Compaction, Write
from nbcc.model.machine.transition import DEAD

from .finite import Explorer, Instance, Table, Taken
from .lemmas import state as core
from .logic import Sort
from .system import System

PHASES = {"requested": core.REQUESTED, "writing": core.WRITING, "written": core.WRITING, "under the lock": core.LOCKED,
          "ready to publish": core.READY}  # fmt: skip
WORKS = {"idle": 0, "about to start its plan": core.SCHEDULED, "running its plan": core.RUNNING,
         "written": core.RUNNING, "under the lock": core.COMPLETING, "ready to publish": core.TIMED}  # fmt: skip
READINGS = {"idle": 0, "listing": core.LISTING, "listed": core.LISTED, "listing again": core.LISTING_AGAIN,
            "sure of its instants": core.SURE, "answered": core.ANSWERED}  # fmt: skip

Element = tuple[str, int]
"""A write: its writer and number. A log: its write, group and version, as a longer tuple."""


def instance(model: Model) -> Instance:
    """The elements of a world and the order in which its actors must use them."""
    world = model.world
    writers = model.actors_of("writer")
    writes = [(writer, number) for writer in writers for number in range(1, world.writes_per_writer + 1)]
    logs = [(*write, group, version) for write in writes for group, version in world.files(*write)]
    plans = list(range(world.compactions))
    groups = list(range(world.groups))
    fixed: Table = {}
    for place, log in enumerate(logs):
        fixed["write_of", log], fixed["group_of", log] = log[:2], log[2]
        for before in logs[:place]:
            fixed["put_before", before, log] = before[:2] == log[:2]
    for write in writes:
        for other in writes:
            fixed["earlier", other, write] = other[0] == write[0] and other[1] < write[1]
    fixed |= {("plan_before", a, b): a < b for a in plans for b in plans}
    fixed |= {("group_before", a, b): a < b for a in groups for b in groups}
    elements: dict[Sort, Sequence[Any]] = {
        core.WRITE: writes, core.LOG: logs, core.GROUP: groups, core.PLAN: plans,
        core.COMPACTOR: model.actors_of("compactor"), core.READER: model.actors_of("reader"),
    }  # fmt: skip
    return Instance(elements, fixed)


def interpret(model: Model, state: State, elements: Instance) -> Table:
    """The facts of a state of the model; what is missing is false or 0."""
    facts: Table = {("clock",): model.component(state, "clock")}
    published = model.component(state, "published")
    plans = list(model.component(state, "plans")) if "plans" in model.components else []
    place = {plan.requested: number for number, plan in enumerate(plans)}
    lock = model.component(state, "lock")
    written = {(each.actor, each.number): each for each in published if isinstance(each, Write)}
    _writes(model, state, elements, written, lock, facts)
    for number, plan in enumerate(plans):
        facts |= {("planned", number): True, ("started", number): plan.inflight, ("barrier", number): plan.requested,
                  ("runner", number): plan.runner}  # fmt: skip
    compactions = {place[each.requested]: each for each in published if isinstance(each, Compaction)}
    for number, done in compactions.items():
        facts |= {("done", number): True, ("compacted", number): done.completed}
    _content(plans, place, facts, elements, {entry.requested: write for write, entry in written.items()})
    for me in model.actors_of("compactor"):
        _compactor(me, model.component(state, me), plans, place, compactions, lock, facts)
    for me in model.actors_of("reader"):
        own = model.component(state, me)
        facts |= {("reading", me): READINGS[own.step], ("reads_at", me): own.time}
        facts |= {("there_write", me, write): entry.requested in own.at_start for write, entry in written.items()}
        facts |= {("kept_write", me, write): entry.requested in own.instants for write, entry in written.items()}
        facts |= {("there_plan", me, n): done.requested in own.at_start for n, done in compactions.items()}
        facts |= {("kept_plan", me, n): done.requested in own.instants for n, done in compactions.items()}
        facts |= {("seen_plan", me, n): plan.requested in own.plans for n, plan in enumerate(plans)}
    return facts


def _writes(model: Model, state: State, elements: Instance, written: dict[Any, Write], lock: Any, facts: Table) -> None:
    pending: dict[Any, int] = {}
    for writer in model.actors_of("writer"):
        own = model.component(state, writer)
        write = (writer, own.number)
        if own.step == "idle" or write in written:
            continue
        pending[write] = own.files
        dead = own.step == DEAD
        left = core.READY if own.completed else core.WRITING if own.inflight else core.REQUESTED
        facts |= {("phase", write): left if dead else PHASES[own.step], ("dead_writer", write): dead,
                  ("requested", write): own.requested, ("completed", write): own.completed,
                  ("writer_locks", write): lock == writer}  # fmt: skip
    for write, entry in written.items():
        facts |= {("phase", write): core.PUBLISHED, ("requested", write): entry.requested,
                  ("completed", write): entry.completed}  # fmt: skip
    for log in elements.elements[core.LOG]:
        number = [each[:2] for each in elements.elements[core.LOG][: elements.elements[core.LOG].index(log)]]
        before = number.count(log[:2])
        facts["stored", log] = log[:2] in written or before < pending.get(log[:2], 0)


def _content(plans: Any, place: Any, facts: Table, elements: Instance, by_time: dict[int, Any]) -> None:
    """Which logs the base file of each plan holds: those that the plan takes, and those of its base."""
    for number, plan in enumerate(plans):
        for part in plan.groups:
            facts |= {("part", number, part.group): True, ("newest", part.group): number}
            taken = {(*by_time[requested], part.group, version) for requested, version in part.logs}
            for log in elements.elements[core.LOG]:
                inherited = part.base is not None and facts.get(("holds", place[part.base], log), False)
                if log[2] == part.group and (log in taken or inherited):
                    facts["holds", number, log] = True


def _compactor(me: str, own: Any, plans: Any, place: Any, compactions: Any, lock: Any, facts: Table) -> None:
    if own.step == "idle":
        # The relation remembers the plan that a compactor ran last.
        ran = [(each.completed, number) for number, each in compactions.items() if each.actor == me]
        if ran:
            completed, number = max(ran)
            facts |= {("own_plan", me): number, ("completing", me): completed}
            facts |= {("base_written", me, part.group): True for part in plans[number].groups}
        return
    dead = own.step == DEAD
    facts |= {
        ("work", me): (core.TIMED if own.completed else core.RUNNING) if dead else WORKS[own.step],
        ("dead_compactor", me): dead, ("own_plan", me): place[own.plan], ("completing", me): own.completed,
        ("compactor_locks", me): lock == me,
    }  # fmt: skip
    facts |= {("base_written", me, group): True for group in own.groups[: own.bases]}


@dataclass(frozen=True)
class Compared:
    """What a comparison saw. `difference` is None if relation and model agree."""

    states: int
    steps: int
    actions: frozenset[str]
    difference: str | None = None


def compare(model: Model, system: System, most: int | None = None) -> Compared:
    """Walk through the reachable states of a world; at most `most` of them."""
    explorer = Explorer(system, instance(model))
    states = steps = 0
    actions: set[str] = set()
    difference: str | None = None
    for state, after in _reachable(model, most):
        now = _values(explorer, model, state)
        states += 1
        view = explorer.view(now)
        false = next((name for name, clause in system.clauses.items() if not clause(view)), None)
        if false is not None:
            return Compared(states, steps, frozenset(actions), f"the clause {false!r} is false in a reachable state")
        for step, next_state in after:
            steps += 1
            wanted = _values(explorer, model, next_state)
            action = next((t.action for t, v in _candidates(explorer, now, step) if v == wanted), None)
            if action is None:
                difference = f"no action of the relation is the step {model.describe(step)!r}"
                return Compared(states, steps, frozenset(actions), difference)
            actions.add(action.name)
    return Compared(states, steps, frozenset(actions), difference)


def _values(explorer: Explorer, model: Model, state: State) -> tuple[Any, ...]:
    facts = interpret(model, state, explorer.instance)
    return tuple(facts.get(key, first) for key, first in zip(explorer.keys, explorer.blank, strict=True))


def _candidates(explorer: Explorer, now: tuple[Any, ...], step: Step) -> Iterator[tuple[Taken, tuple[Any, ...]]]:
    """The steps of the relation by actions that stand for the model's action."""
    yield from explorer.successors(now, tuple(a for a in explorer.system.actions if step.action in a.stands_for))


def _reachable(model: Model, most: int | None) -> Iterator[tuple[State, list[tuple[Step, State]]]]:
    seen, todo, visited = {model.initial}, [model.initial], 0
    while todo and (most is None or visited < most):
        state = todo.pop()
        after = list(model.successors(state))
        visited += 1
        yield state, after
        for _, following in after:
            if following not in seen:
                seen.add(following)
                todo.append(following)
