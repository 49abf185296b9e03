"""Promises of table services: QUIET, PART."""

from __future__ import annotations

from math import inf

from ..fold import logs_of
from ..model import Model, State
from ..reads import base_file
from ..slicing import file_slices
from ..step import Step
from .compare import Ledger, one_against_other
from .oracle import completed, logs_by_rank
from .promise import Promise
from .reads import completed_writes, groups, same_reads, table_and_readers, window
from .sentences import write_named


def no_service(model: Model) -> str | None:
    """Why a promise about compaction says nothing of this model."""
    return None if model.setting.of("compactor") else "the world has no compactor"


def quiet_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """QUIET: no step of a service, no crash, no expiring lock changes a retained read or an incremental window."""
    assert before is not None
    assert step is not None
    if not model.is_service(step):
        return None
    settled = model.settled(before)
    if changed := same_reads(model, before, after, [inf, *range(1, settled + 1)]):
        return f"when {model.describe(step)}: {changed}"
    old, new, ledger = model.table(before), model.table(after), Ledger(model, after)
    for end in range(1, settled + 1):
        for start in range(end):
            for group in groups(model):
                had, has = (window(table, group, start, end, model.protocol) for table in (old, new))
                if change := one_against_other(ledger, group, had, has, deletes=True):
                    return f"when {model.describe(step)}: the incremental read (t{start}, t{end}] changed {change}"
    return None


def partition_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """PART: each completed log lies in exactly one slice, and readers and planner agree on which side of a barrier."""
    table, published = model.table(after), model.component(after, "published")
    done = completed(published, 0, inf)
    writes = {write.requested: write for write in done}
    for group in groups(model):
        slices = file_slices(table, group, model.protocol)
        for log in logs_by_rank(done, group):
            if (times := sum(log in each.logs for each in slices)) != 1:
                return f"the log of {write_named(writes[log[0]])} lies in {times} slices of group {group}"
        for plan in table.plans:
            shape = base_file(table, group, plan.requested, model.protocol) if plan.of(group) else None
            if shape is None:
                continue
            taken = {log for log in logs_of(shape) if log[0] in writes}
            older = [s for s in slices if s.barrier is None or s.barrier < plan.requested]
            behind = {log for each in older for log in each.logs if log[0] in writes}
            for log in sorted(taken ^ behind):
                name = write_named(writes[log[0]])
                if log in behind:
                    return (
                        f"readers put the log of {name} in group {group} before the barrier t{plan.requested}, "
                        f"whose plan does not take it"
                    )
                return (
                    f"the plan at t{plan.requested} takes the log of {name} in group {group}, which readers put "
                    f"at or after its barrier"
                )
    return None


QUIET = Promise(
    name="QUIET",
    about="Compaction never changes the answer of a retained read: pending, complete, or dead half way.",
    source="RFC-66, non-serial compaction; design, section 4",
    kind="step",
    holds=quiet_holds,
    sometimes=lambda model, state: bool(model.component(state, "plans")) and completed_writes(model, state) > 1,
    reads=table_and_readers,
    unfit=no_service,
)
PART = Promise(
    name="PART",
    about="Each completed log lies in exactly one slice, and readers and planner agree which.",
    source="RFC-66, new file slicing and new compaction plan scheduling",
    kind="state",
    holds=partition_holds,
    sometimes=lambda model, state: bool(model.component(state, "plans")) and completed_writes(model, state) > 1,
    reads=table_and_readers,
    unfit=no_service,
)
