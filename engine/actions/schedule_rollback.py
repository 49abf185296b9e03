"""Plans the rollback of the oldest pending write of a failed writer.

A pending write has failed if its heartbeat has expired. The planner checks the heartbeat while it holds the table's
lock, so that the writer cannot publish at the same time. With a decision log, the rollback plan is the next log entry,
so that the writer cannot create that entry and commit. The operation also returns None if another actor has created
this entry first (see `put_plan`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..config import TableConfig
from ..context import Context
from ..errors import BadInput
from ..reads.times import Time
from ..timeline import Instant, RollbackPlan, encode_rollback_plan, load_rollback_plan
from ..timeline.history import Active
from ..writes.attempts import marked_files
from ..writes.commit_protocol import ROLLBACK
from ..writes.decided_plans import latest_decision, plan_time, put_plan
from ..writes.deciding import tick
from ..writes.decision_log import in_order

UNDONE: frozenset[str] = frozenset({"deltacommit", "commit"})
"""Actions that a rollback undoes. A failed compaction is not undone: another process resumes its plan."""


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Plan the rollback of the oldest failed write, or of the write `instant`. Returns None if no write has failed."""
    config.check_writable()
    with in_order(context):
        last = latest_decision(context)
        timeline = context.without_late_states(context.active())
        failed = next(failed_writes(context, timeline), None) if instant is None else _named(context, timeline, instant)
        if failed is None:
            return None
        plan = RollbackPlan(failed.requested, failed.action, tuple(marked_files(context, failed.requested)))
        requested = plan_time(context, last, ROLLBACK, timeline)
        if requested > failed.requested:  # writers look for the rollbacks of their write among the later instants
            encoded = encode_rollback_plan(plan, context.storage.url)
            return put_plan(context, last, requested, ROLLBACK, encoded, undoes=plan.target)
    tick(context)  # without the lock, the last entry may be older than the write, and so may the time that it reserves
    return run(context, config, instant)


def failed_writes(context: Context, timeline: Active) -> Iterator[Instant]:
    """Return the pending writes of failed writers, oldest first, except writes that a pending rollback already undoes.
    """
    undone = {
        load_rollback_plan(context.storage, pending.requested).target
        for pending in timeline.pending
        if pending.action == ROLLBACK
    }
    for pending in timeline.pending:
        if may_be_undone(context, pending) and pending.requested not in undone and not spared(context, pending):
            yield pending


def may_be_undone(context: Context, pending: Instant) -> bool:
    """Return whether a pending instant is a write, an insert overwrite or a delete partition. A rollback may undo only
    these.
    """
    if pending.action == "compaction":
        return context.commits.plan(pending.requested).replaces
    return pending.action in UNDONE


def spared(context: Context, pending: Instant) -> bool:
    """Return whether a pending write must not be rolled back. With ``failed_writes="lazy"`` a write is protected until
    its heartbeat expires; with "eager" no pending write is protected.
    """
    return context.rules.failed_writes == "lazy" and context.heartbeats.is_alive(pending.requested)


def _named(context: Context, timeline: Active, instant: Time) -> Instant:
    requested = instant.requested if isinstance(instant, Instant) else str(instant)
    asked = f"roll back {requested}"
    found = timeline.find(requested)
    if found is None or not (found.completed or may_be_undone(context, found)):
        raise BadInput(asked, "the timeline has no write with that requested time", "name a pending write")
    if found.completed:
        raise BadInput(asked, "it is completed: readers may have seen it", "undo it with a write of your own")
    if spared(context, found):
        raise BadInput(asked, "its writer is alive: its heartbeat has not expired", "stop that writer first")
    if found not in failed_writes(context, timeline):
        raise BadInput(asked, "a rollback of it is planned already", "run that one")
    return found
