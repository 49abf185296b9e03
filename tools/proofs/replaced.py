"""Translates the insert overwrites in a model state for the transition relation in `lemmas/replaces.py`."""

from __future__ import annotations

from typing import Any

from nbcc.model import Model, State
from nbcc.model.kernel.publication import READY, UNDER_LOCK
from nbcc.model.kernel.table import Plan, Write
from nbcc.model.machine.transition import DEAD
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER, REPLACING, SCHEDULED, replaced_groups
from nbcc.simulator.search.prove.lemmas import state as core

from .finite import Instance, Table

WORKS = {SCHEDULED: core.SCHEDULED, REPLACING: core.RUNNING, "written": core.RUNNING,
         UNDER_LOCK: core.COMPLETING, READY: core.TIMED}  # fmt: skip


def fixed(model: Model, groups: list[int]) -> Table:
    """Return the values of the fixed relations: which actors are overwriters, and which file groups each overwriter
    replaces.
    """
    found: Table = {}
    for me in model.actors_of(OVERWRITER):
        found["overwriter", me] = True
        found |= {("overwrites", me, group): group in replaced_groups(model.world, me) for group in groups}
    return found


def interpret(model: Model, state: State, elements: Instance, facts: Table, plans: list[Plan]) -> None:
    """Add the values of the insert-overwrite relations in a model state to `facts`."""
    overwriters = model.actors_of(OVERWRITER)
    if not overwriters:
        return
    place = {plan.requested: number for number, plan in enumerate(plans)}
    done = [e for e in model.component(state, "published") if isinstance(e, Write) and e.actor in overwriters]
    for number, plan in enumerate(plans):
        for part in plan.groups:
            if plan.runner in overwriters:
                facts |= {("replaces", number): True, ("shows", number, number, part.group): True}
            elif part.base is not None:
                facts |= {("shows", number, other, part.group): True for other in range(len(plans))
                          if facts.get(("shows", place[part.base], other, part.group))}  # fmt: skip
    for entry in done:
        facts |= {("done", place[entry.requested]): True, ("compacted", place[entry.requested]): entry.completed}
    for me in overwriters:
        own: Any = model.component(state, me)
        if own.step in WORKS or own.step == DEAD:
            left = core.TIMED if own.completed else core.RUNNING
            facts |= {("work", me): WORKS.get(own.step, left), ("dead_compactor", me): own.step == DEAD,
                      ("own_plan", me): place[own.requested],
                      ("completing", me): own.completed,
                      ("compactor_locks", me): model.component(state, "lock") == me}  # fmt: skip
            groups = replaced_groups(model.world, me)
            facts |= {("base_written", me, group): True for group in groups[: own.bases]}
