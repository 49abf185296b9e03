"""Promise BOUND: while table services run, the backlog of a table stays below a bound (docs/contract.md).

A state violates BOUND if a file group is in two pending plans. A state without successors violates BOUND if a live
compactor has logs to compact, or if a live rollback actor has a failed write to remove.

BOUND is checked only in worlds (bounded configurations) with a limited number of writes. In these worlds, every run
ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Model
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.slicing import writes_by_slice
from nbcc.model.kernel.table import Table
from nbcc.model.machine.mechanism import Kind
from nbcc.model.machine.state import State
from nbcc.model.machine.transition import DEAD, Step
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.promises.progress import limited
from nbcc.model.promises.promise import Promise


def bound_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Return a sentence that describes how a state violates promise BOUND; None if BOUND holds."""
    table = model.table(after)
    pending = [plan for plan, done in zip(table.plans, table.completed, strict=True) if done is None]
    for group in range(model.world.groups):
        if (plans := sum(bool(plan.part_in(group)) for plan in pending)) > 1:
            return f"group {group} is in {plans} pending plans: a service plans what is planned, without a bound"
    if next(model.successors(after), None) is not None or limited(model, after):
        return None
    if _is_live(model, after, COMPACTOR) and (left := _logs_left(model, table)):
        return f"no step is possible any more, and {left}"
    failed = [i for i in model.pending(after) if i.action == "deltacommit" and i.state != "completed"]
    if failed and _is_live(model, after, ROLLBACKER):
        return f"no step is possible any more, and the failed write of t{failed[0].requested} is left"
    return None


def first_excess(model: Model, states: Sequence[State]) -> tuple[int, str] | None:
    """Return the index of the first state that violates promise BOUND, and the message; None if BOUND holds in all
    states.
    """
    messages = ((number, bound_holds(model, None, None, state)) for number, state in enumerate(states))
    return next(((number, message) for number, message in messages if message), None)


def _logs_left(model: Model, table: Table) -> str | None:
    for group in range(model.world.groups):
        newest = max(model.rules.barriers(table, group), default=None)
        if any(write.completed for write in writes_by_slice(model.rules, table, group)[newest]):
            return f"the newest slice of group {group} has completed logs that a compactor could merge"
    return None


def _is_live(model: Model, state: State, kind: Kind) -> bool:
    return any(model.component(state, name).step != DEAD for name in model.actors_of(kind))


BOUND = Promise(
    name="BOUND",
    about="Logs per slice, active instants and leftovers of failed writers stay below a bound while services run.",
    source="RFC-66, table services; docs/contract.md, BOUND",
    kind="run",
    holds=bound_holds,
    sometimes=lambda model, state: bool(model.component(state, "published")),
    reads=lambda model: ("published",),
    first=first_excess,
)
