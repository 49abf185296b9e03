"""Translates a state of the executable model into a state of a transition relation used in proofs.

The function `instance` returns the elements of a world: its writes, logs, groups, plans and actors. The function
`interpret` returns the facts of a state: the values of the relations of all mechanisms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from nbcc.model import Model, State
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.publication import READY, UNDER_LOCK
from nbcc.model.kernel.reader import ENDS, LISTED, READER, SURE
from nbcc.model.kernel.table import Compaction, GroupPlan, Write
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.plans import PLANNED, RUNNING, WRITTEN
from nbcc.model.machine.transition import DEAD, record_of
from nbcc.model.mechanisms.archiving.reader import HELD, OPENED
from nbcc.model.mechanisms.exactly_once import OTHER_ROWS, REPEATED, batch_of
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.occ.conflicts import ABORTED, Occ, Validation
from nbcc.model.mechanisms.refusal import REFUSED
from nbcc.model.mechanisms.resizes.mechanism import RESIZER
from nbcc.model.mechanisms.resizes.rules import ResizeLimits
from nbcc.model.mechanisms.rivals import WITHOUT_FILES
from nbcc.model.mechanisms.rollback.heartbeat import Heartbeat
from nbcc.model.promises.promise import protocol_of, value_in
from nbcc.model.variants.completion import TIMED_EARLY
from nbcc.simulator.search.prove.lemmas import state as core
from nbcc.simulator.search.prove.lemmas.entries import AUTHOR
from nbcc.simulator.search.prove.lemmas.resizes import LAYOUT
from nbcc.simulator.search.prove.lemmas.services import OPERATION, SERVICE
from nbcc.simulator.search.prove.logic import Sort

from . import announced, covered, decided, operations, replaced, resized, rows
from .finite import Instance, Table

PHASES = {"requested": core.REQUESTED, "writing": core.WRITING, "written": core.WRITING, UNDER_LOCK: core.LOCKED,
          READY: core.READY, TIMED_EARLY: core.READY}  # fmt: skip
WORKS = {"idle": 0, PLANNED: core.SCHEDULED, RUNNING: core.RUNNING, WRITTEN: core.RUNNING,
         UNDER_LOCK: core.COMPLETING, READY: core.TIMED, TIMED_EARLY: core.TIMED}  # fmt: skip
READINGS = {"idle": 0, "listing": core.LISTING, LISTED: core.LISTED, "listing again": core.LISTING_AGAIN,
            OPENED: core.OPENED, HELD: core.HELD, SURE: core.SURE, DEAD: core.DIED,
            **dict(zip(ENDS, (core.ANSWERED, core.REFUSED, core.LOST), strict=True))}  # fmt: skip
GIVEN_UP: Final = (REFUSED, REPEATED, OTHER_ROWS, ABORTED)
"""Steps of a writer that has found a reason to give up its write."""


def instance(model: Model) -> Instance:
    """Return the finite instance that corresponds to a world: the elements of each sort (writes, logs, plans, ...) and
    the relations that never change.
    """
    world = model.world
    writers = model.actors_of(WRITER)
    writes = [(writer, number) for writer in writers for number in range(1, world.writes_per_writer + 1)]
    logs = [(*write, group, version) for write in writes for group, version in world.files(*write)]
    overwriters = model.actors_of(OVERWRITER)
    resizers = model.actors_of(RESIZER)
    plans = list(range(world.compactions + len(overwriters) + world[ResizeLimits].resizes))
    groups = list(range(world.groups))
    fixed: Table = {}
    for place, log in enumerate(logs):
        fixed["write_of", log], fixed["group_of", log] = log[:2], log[2]
        for before in logs[:place]:
            fixed["put_before", before, log] = before[:2] == log[:2]
    for write in writes:
        fixed["optimistic", write] = protocol_of(model, write[0])[Occ].concurrency == "occ"
        for other in writes:
            fixed["earlier", other, write] = other[0] == write[0] and other[1] < write[1]
            batch = batch_of(world, *write)
            fixed["same_batch", other, write] = other == write or (batch > 0 and batch == batch_of(world, *other))
    fixed["marks_rivals",] = WITHOUT_FILES in model.components
    fixed |= {("plan_before", a, b): a < b for a in plans for b in plans}
    fixed |= replaced.fixed(model, groups) | announced.fixed(model, writes) | resized.fixed(model, groups)
    planned = operations.operations(model)
    fixed |= {("operation_before", a, b): a < b for a in planned for b in planned}
    fixed |= {("group_before", a, b): a < b for a in groups for b in groups}
    elements: dict[Sort, Sequence[Any]] = {
        core.WRITE: writes, core.LOG: logs, core.GROUP: groups, core.PLAN: plans,
        core.COMPACTOR: (*model.actors_of(COMPACTOR), *overwriters, *resizers), core.READER: model.actors_of(READER),
        SERVICE: operations.services(model), OPERATION: planned, AUTHOR: announced.authors(model),
        LAYOUT: resized.layouts(world),
    }  # fmt: skip
    return Instance(elements, fixed)


def interpret(model: Model, state: State, elements: Instance) -> Table:
    """Return the value of each relation in a state of the model. Values that are False or 0 may be missing from the
    result.
    """
    facts: Table = {("clock",): model.component(state, "clock")}
    published = model.component(state, "published")
    plans = list(model.component(state, "plans")) if "plans" in model.components else []
    place = announced.places(model, state, plans)
    lock = model.component(state, "lock")
    written = {(each.actor, each.number): each for each in published
               if isinstance(each, Write) and each.actor in model.actors_of(WRITER)}  # fmt: skip
    _writes(model, state, elements, written, lock, facts)
    for number, plan in enumerate(plans):
        facts |= {("planned", number): True, ("started", number): plan.inflight, ("barrier", number): plan.requested,
                  ("runner", number): plan.runner}  # fmt: skip
    compactions = {place[each.requested]: each for each in published if isinstance(each, Compaction)}
    for number, done in compactions.items():
        facts |= {("done", number): True, ("compacted", number): done.completed}
    by_time = {entry.requested: write for write, entry in written.items()}
    covers = covered.covers(model, state, by_time)
    covered.interpret(model, state, facts, covers)
    # Some plans take logs of pending writes.
    begun = {facts["requested", write]: write for write in elements.elements[core.WRITE]
             if facts.get(("phase", write))}  # fmt: skip
    _content(plans, place, facts, elements, lambda part: covered.logs_of(part, begun, covers))
    replaced.interpret(model, state, elements, facts, plans)
    by_log, by_entries = "decisions" in model.components, "entries" in model.components
    for me in model.actors_of(COMPACTOR):
        own = model.component(state, me)
        if own.step == "idle" or not (by_log or by_entries):
            _compactor(me, own, place, lock, facts)
        facts["without_files", me] = me in value_in(model, state, WITHOUT_FILES)
    for me in model.actors_of(RESIZER):
        _compactor(me, resized.runner(model.component(state, me)), place, lock, facts)
    resized.interpret(model, state, elements, written, facts)
    rows.interpret(model, state, elements, facts, place, begun)
    if by_log:
        decided.interpret(model, state, elements, facts, place)
    operations.interpret(model, state, facts)
    if by_entries:
        announced.interpret(model, state, elements, facts, place)
    instants = (("write", {entry.requested: write for write, entry in written.items()}),
                ("plan", {each.requested: place[each.requested] for each in published if each.requested in place}),
                ("operation", operations.places(model, state)))  # fmt: skip
    for me in model.actors_of(READER):
        own = model.component(state, me)
        facts |= {("reading", me): READINGS[own.step], ("reads_at", me): own.time}
        for noun, elements_of in instants:
            facts |= {(f"there_{noun}", me, elements_of[time]): True for time in own.at_start if time in elements_of}
            facts |= {(f"kept_{noun}", me, elements_of[time]): True for time in own.instants if time in elements_of}
        facts |= {("seen_plan", me, n): plan.requested in own.plans for n, plan in enumerate(plans)}
    if "archive" in model.components:
        for name, times in (("archived", "archive"), ("removed", "removed")):
            there = model.component(state, times)
            facts |= {(name, write): entry.requested in there for write, entry in written.items()}
            facts |= {(f"{name}_plan", number): each.requested in there for number, each in compactions.items()}
    if "cleans" in model.components:
        _cleaned(model, state, place, by_time, facts)
    return facts


def _writes(model: Model, state: State, elements: Instance, written: dict[Any, Write], lock: Any, facts: Table) -> None:
    pending: dict[Any, int] = {}
    for writer in model.actors_of(WRITER):
        own = model.component(state, writer)
        write = (writer, own.number)
        begun = own.number + (own.step == "idle")
        facts |= {("over", (writer, n)): True for n in range(1, begun) if (writer, n) not in written}
        if own.step == "idle" or write in written:
            continue
        pending[write] = own.files
        dead = own.step == DEAD
        _checks(model, state, elements, write, own, facts)
        left = core.READY if own.completed else core.WRITING if own.inflight else core.REQUESTED
        facts |= {("phase", write): left if dead else PHASES.get(own.step, core.WRITING), ("dead_writer", write): dead,
                  ("requested", write): own.requested, ("completed", write): own.completed,
                  ("writer_locks", write): lock == writer}  # fmt: skip
    for write, entry in written.items():
        facts |= {("phase", write): core.PUBLISHED, ("requested", write): entry.requested,
                  ("completed", write): entry.completed}  # fmt: skip
        _rolled_back(model, state, elements, write, entry.requested, facts)
    before: Counter[Any] = Counter()
    for log in elements.elements[core.LOG]:  # a writer puts the logs of a write in this order
        write = log[:2]
        facts["stored", log] = write in written or before[write] < pending.get(write, 0)
        before[write] += 1


def _checks(
    model: Model, state: State, elements: Instance, write: tuple[str, int], own: Any, facts: Table
) -> None:
    check, published = record_of(own, Validation), model.component(state, "published")
    facts |= {
        ("given_up", write): own.step in GIVEN_UP, ("expired", write): record_of(own, Heartbeat).expired,
        ("passed", write): check.passed,
    }  # fmt: skip
    _rolled_back(model, state, elements, write, own.requested, facts)
    sealed = (each for each in published[: check.sealed] if isinstance(each, Write))
    facts |= {("sealed", write, (each.actor, each.number)): True for each in sealed}


def _rolled_back(
    model: Model, state: State, elements: Instance, write: tuple[str, int], requested: int, facts: Table
) -> None:
    """Record the rollback of a write, which may be completed under a weaker protocol."""
    deleted = [each.deleted for each in value_in(model, state, "rollbacks") if each.target == requested]
    facts["rolled_back", write] = bool(deleted)
    mine = [log for log in elements.elements[core.LOG] if log[:2] == write]
    facts |= {("erased", log): True for log in mine[: max(deleted, default=0)]}


def _cleaned(model: Model, state: State, place: Any, by_time: dict[int, Any], facts: Table) -> None:
    cleans = model.component(state, "cleans")
    operation = operations.places(model, state)
    facts["horizon",] = model.horizon(state)
    facts |= {("planned_horizon", operation[each.requested]): each.horizon for each in cleans}
    old = [file for each in cleans for victims in each.groups for file in victims.files]
    for name, files in (("old", old), ("deleted", model.component(state, "deleted"))):
        for group, requested, version in files:
            key = (f"{name}_log", (*by_time[requested], group, version)) if version else (
                f"{name}_base", place[requested], group)  # fmt: skip
            facts[key] = True


def _content(
    plans: Any, place: Any, facts: Table, elements: Instance, logs_of: Callable[[GroupPlan], set[Any]]
) -> None:
    """Record which logs the base file of each plan contains: the logs in the plan and the logs in the previous base
    file.
    """
    for number, plan in enumerate(plans):
        for part in plan.groups:
            facts |= {("part", number, part.group): True, ("newest", part.group): number}
            taken = logs_of(part)
            for log in elements.elements[core.LOG]:
                inherited = part.base is not None and facts.get(("holds", place[part.base], log), False)
                if log[2] == part.group and (log in taken or inherited):
                    facts["holds", number, log] = True


def _compactor(me: str, own: Any, place: Any, lock: Any, facts: Table) -> None:
    if own.step == "idle":
        return
    dead = own.step == DEAD
    facts |= {
        ("work", me): (core.TIMED if own.completed else core.RUNNING) if dead else WORKS[own.step],
        ("dead_compactor", me): dead, ("own_plan", me): place[own.plan], ("completing", me): own.completed,
        ("compactor_locks", me): lock == me,
    }  # fmt: skip
    facts |= {("base_written", me, group): True for group in own.groups[: own.written]}
