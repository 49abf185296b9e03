"""Translates the log compactions of a model state for the transition relation in `lemmas/log_compaction.py`."""

from __future__ import annotations

from typing import Any

from nbcc.model import Model, State
from nbcc.model.kernel.table import GroupPlan
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from nbcc.model.mechanisms.rivals import WITHOUT_FILES
from nbcc.model.promises.promise import value_in

from . import operations
from .finite import Table


def logs_of(part: GroupPlan, by_time: dict[int, Any], covers: dict[int, set[Any]]) -> set[Any]:
    """Return the writers' logs that a compaction plan merges in one file group. A compacted log counts as the logs that
    it replaces.
    """
    taken: set[Any] = set()
    for requested, version in part.logs:
        if requested in by_time:
            taken.add((*by_time[requested], part.group, version))
        else:
            taken |= {log for log in covers[requested] if log[2] == part.group}
    return taken


def covers(model: Model, state: State, by_time: dict[int, Any]) -> dict[int, set[Any]]:
    """Map the requested time of each log compaction to the writers' logs that it replaces."""
    found: dict[int, set[Any]] = {}
    for plan in model.component(state, "log_plans") if "log_plans" in model.components else ():
        found[plan.requested] = set().union(*(logs_of(part, by_time, found) for part in plan.groups))
    return found


def interpret(model: Model, state: State, facts: Table, covered: dict[int, set[Any]]) -> None:
    """Add the values of the log-compaction relations in a model state to `facts`. `covered` is the result of `covers`.
    """
    if "log_plans" not in model.components:
        return
    place = operations.places(model, state)
    for plan in model.component(state, "log_plans"):
        number = place[plan.requested]
        facts["logs_started", number] = plan.inflight
        facts |= {("logs_part", number, part.group): True for part in plan.groups}
        facts |= {("covers", number, log): True for log in covered[plan.requested]}
    for me in model.actors_of(LOG_COMPACTOR):
        own = model.component(state, me)
        facts["logs_deleted", me] = me in value_in(model, state, WITHOUT_FILES)
        if own.step != "idle":
            facts |= {("log_written", me, group): True for group in own.groups[: own.written]}
