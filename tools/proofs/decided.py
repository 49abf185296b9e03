"""Translates the decision log and the lost locks of a model state into relations of `lemmas/decisions.py`."""

from __future__ import annotations

from typing import Any

from nbcc.model import Model, State
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.publication import UNDER_LOCK
from nbcc.model.kernel.table import Compaction, Write
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.plans import PLANNED, RUNNING, WRITTEN
from nbcc.model.machine.transition import record_of
from nbcc.model.mechanisms.clock_waits import HAS_REQUESTED_TIME, REFUSED_TIME, WAITING, Deferred
from nbcc.model.mechanisms.decision_log import DECIDED, READY_TO_DECIDE, Seen
from nbcc.simulator.search.prove.lemmas import numbers
from nbcc.simulator.search.prove.lemmas import state as core

from .finite import Instance, Table

WAITS = {WAITING: numbers.WAITING, REFUSED_TIME: numbers.REFUSED, HAS_REQUESTED_TIME: numbers.CLAIMED,
         "has a barrier": numbers.CLAIMED}  # fmt: skip
WORKS = {"idle": 0, PLANNED: core.SCHEDULED, RUNNING: core.RUNNING, WRITTEN: core.RUNNING,
         UNDER_LOCK: core.COMPLETING, READY_TO_DECIDE: core.TIMED, DECIDED: numbers.DECIDED}  # fmt: skip
PHASES = {"requested": core.REQUESTED, "writing": core.WRITING, "written": core.WRITING, UNDER_LOCK: core.LOCKED,
          READY_TO_DECIDE: core.READY, DECIDED: core.READY}  # fmt: skip


def interpret(model: Model, state: State, elements: Instance, facts: Table, place: dict[int, int]) -> None:
    """Add the values of the decision-log relations in a model state to `facts`.

    `place` maps the requested time of each plan to the integer that identifies the plan in `facts`.
    """
    log = model.component(state, "decisions")
    lock = model.component(state, "lock")
    for each in log:
        if isinstance(each, Write):
            write = (each.actor, each.number)
            facts |= {("decided", write): True, ("completed", write): each.completed}
        elif isinstance(each, Compaction):
            number = place[each.requested]
            facts |= {("decided_plan", number): True, ("compacted", number): each.completed}
    for me in model.actors_of(WRITER):
        _writer(me, model.component(state, me), elements, lock, len(log), facts)
    for me in model.actors_of(COMPACTOR):
        _compactor(me, model.component(state, me), place, lock, len(log), facts)


def _writer(me: str, own: Any, elements: Instance, lock: str | None, taken: int, facts: Table) -> None:
    published = {key[1] for key, value in facts.items() if key[0] == "phase" and value == core.PUBLISHED}
    for write in elements.elements[core.WRITE]:
        if write in published and write[0] == me:
            facts["returned", write] = own.number > write[1] or own.step == "idle"
    if own.step == "idle":
        return
    write = (me, own.number)
    facts["writer_locks", write] = lock == me
    waits = WAITS.get(own.step, 0)
    facts["waits", write] = waits
    if waits:
        asked = record_of(own, Deferred).requested
        facts |= {("phase", write): 0 if asked else core.LOCKED, ("asked", write): asked,
                  ("completed", write): own.completed}  # fmt: skip
    elif write not in published:
        facts["phase", write] = PHASES[own.step]
    counts = own.step == READY_TO_DECIDE or (waits and own.completed)
    facts["late", write] = bool(counts) and taken > record_of(own, Seen).decisions


def _compactor(me: str, own: Any, place: dict[int, int], lock: str | None, taken: int, facts: Table) -> None:
    if own.step == "idle":
        return
    waits = WAITS.get(own.step, 0)
    facts |= {("compactor_waits", me): waits, ("compactor_locks", me): lock == me}
    if waits and not own.completed:
        # The plan is not put: the relation has the barrier of the compactor, and the plan that it ran last.
        facts["asked_barrier", me] = own.plan
    else:
        facts |= {("work", me): core.COMPLETING if waits else WORKS[own.step], ("own_plan", me): place[own.plan],
                  ("completing", me): own.completed}  # fmt: skip
        facts |= {("base_written", me, group): True for group in own.groups[: own.written]}
    counts = waits or own.step == READY_TO_DECIDE
    facts["late_compactor", me] = bool(counts) and taken > record_of(own, Seen).decisions
