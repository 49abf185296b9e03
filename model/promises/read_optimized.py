"""Promise RO: a read-optimised query returns each file group's state as of the requested time of its newest base file.
"""

from __future__ import annotations

from ..kernel.compactor import COMPACTOR
from ..kernel.merge import logs_of
from ..kernel.reads import read_optimized
from ..kernel.table import Log
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.bulk_insert.mechanism import BULK_INSERTER
from ..mechanisms.bulk_insert.rules import loaded
from ..mechanisms.clustering import CLUSTERER
from ..mechanisms.insert_overwrite import OVERWRITER, ranks_at
from ..mechanisms.resizes.mechanism import RESIZER
from ..model import Model
from . import oracle
from .compare import against_oracle
from .promise import Promise
from .shape import completions_of
from .view import View, on_table, view_of


def read_optimized_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise RO: a read-optimised query merges, in each file group, the writes that had completed at the
    requested time of the newest base file.
    """
    view = view_of(model, after)
    for group in view.groups:
        barrier = newest_barrier(view, group)
        fold = read_optimized(model.rules, view.table, group, float("inf"))
        right = state_at_barrier(view, group, barrier)
        if broken := against_oracle(view, f"read-optimised read at the barrier t{barrier}", group, fold, right=right):
            return broken
    return None


def newest_barrier(view: View, group: int) -> int:
    """Return the requested time of the newest completed instant that put a base file into the file group; 0 if there is
    none.
    """
    planned = [
        plan.requested
        for plan, completed in zip(view.table.plans, view.table.completed, strict=True)
        if completed is not None and plan.part_in(group) is not None
    ]
    put = [write.requested for write in view.completions if write.marks and group in loaded(write)]
    return max((*planned, *put), default=0)


def state_at_barrier(view: View, group: int, barrier: int) -> tuple[Log, ...]:
    """Return the logs that the base file written by the instant requested at `barrier` must include, in merge order.
    These are the logs that completed before `barrier`, and the files of a write requested at `barrier`.
    """
    writes = (
        write
        for write in view.completions
        # Times are distinct, so that `<=` differs from `<` for a replace alone, whose rank is its own barrier.
        if (ranks_at(write, group) or 0) <= barrier
        or (write.requested == barrier and write.marks and group in loaded(write))
    )
    return oracle.logs_by_rank(writes, group)


def _has_later_write(model: Model, state: State) -> bool:
    view = view_of(model, state)
    barriers = ((group, newest_barrier(view, group)) for group in view.groups)
    return any(
        barrier and {*logs_of(view.as_of(group))} != {*state_at_barrier(view, group, barrier)}
        for group, barrier in barriers
    )


def _no_barrier(model: Model) -> str | None:
    if model.world.flat().get("table_type") == "COPY_ON_WRITE":
        return "every read of a copy-on-write table reads base files alone"
    there = any(model.actors_of(kind) for kind in (COMPACTOR, CLUSTERER, RESIZER, BULK_INSERTER, OVERWRITER))
    return None if there else "no actor of the world puts base files"


RO = Promise(
    name="RO",
    about="A read-optimised read is, in each file group, the state at the barrier of its newest completed base file.",
    source="docs/contract.md, RO; RFC-66, file slices",
    kind="state",
    holds=read_optimized_holds,
    sometimes=_has_later_write,
    reads=on_table,
    unfit=_no_barrier,
    shape=completions_of,
)
