"""Translates the services in a model state, and their rollbacks, cleans and log compactions, into relations of
`lemmas/services.py`.
"""

from __future__ import annotations

from typing import Any, Final

from nbcc.model import Model, State
from nbcc.model.kernel import publication
from nbcc.model.kernel.publication import Publication
from nbcc.model.machine.transition import DEAD
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.cleaning.rules import Cleans
from nbcc.model.mechanisms.crashes import Crashes
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from nbcc.model.mechanisms.log_compaction.rules import LogCompactionLimits
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.rollback.rules import Failures, Rollback
from nbcc.model.promises.promise import value_in
from nbcc.simulator.search.prove.lemmas.services import AT_WORK, HAS_TIME, UNDER_LOCK

from .finite import Table

KINDS: Final = (ROLLBACKER, CLEANER, LOG_COMPACTOR)
PLANS: Final = ("rollbacks", "cleans", "log_plans")
"""The kinds of services, and the components of their plans."""
WORKS: Final = {publication.UNDER_LOCK: UNDER_LOCK, publication.READY: HAS_TIME}


def services(model: Model) -> tuple[str, ...]:
    return tuple(me for kind in KINDS for me in model.actors_of(kind))


def operations(model: Model) -> range:
    """Return one element for each operation that the limits of the world allow. An announced rollback may be refused,
    once for each write with an expired heartbeat, and is then not counted by the limit.
    """
    world = model.world
    planned = world[Failures].rollbacks + world[Cleans].cleans + world[LogCompactionLimits].log_compactions
    refused = world[Failures].stalls + world[Crashes].crashes if "announced" in model.components and planned else 0
    return range(planned + refused)


def places(model: Model, state: State) -> dict[int, int]:
    """Map the requested time of each planned or announced operation to the integer that identifies the operation."""
    announced = (each.requested for each in value_in(model, state, "announced") if isinstance(each, Rollback))
    return {time: number for number, time in enumerate(sorted({*announced, *planned(model, state)}))}


def planned(model: Model, state: State) -> set[int]:
    """Return the requested times of the operations on the timeline."""
    return {plan.requested for name in PLANS for plan in value_in(model, state, name)}


def interpret(model: Model, state: State, facts: Table) -> None:
    """Add the values of the relations of services to `facts`."""
    place, lock = places(model, state), model.component(state, "lock")
    for time in planned(model, state):
        number = place[time]
        facts |= {("operation_planned", number): True, ("operation_requested", number): time}
    for each in model.component(state, "published"):
        if each.requested in place:
            number = place[each.requested]
            facts |= {("operation_done", number): True, ("operation_completed", number): each.completed}
    requested = {me: each.requested for me, each in model.composition.facts(Publication).items()}
    for me in services(model):
        own: Any = model.component(state, me)
        facts |= {("dead_service", me): own.step == DEAD, ("service_locks", me): lock == me}
        if getattr(own, requested[me]) in place and own.step != "idle":
            facts |= {("service_work", me): WORKS.get(own.step, AT_WORK), ("service_completing", me): own.completed,
                      ("operation_of", me): place[getattr(own, requested[me])]}  # fmt: skip
