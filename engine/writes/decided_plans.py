"""Decides the plans of table services by entries of the decision log, if the table has one."""

from __future__ import annotations

from dataclasses import replace

from ..context import Context
from ..timeline import Instant, Timeline, put_requested
from ..timeline.announcements import Announced, Announcement
from ..timeline.decisions import Decision, LogEntry
from ..timeline.history import Active, History
from .announced import decide_all_announced, plan_announced
from .claims import new_time, refuse_torn
from .deciding import decide_announced, own_entry
from .decision_log import catch_up, decide, decides_without_lock, uses_decision_log


def latest_decision(context: Context) -> LogEntry | None:
    """Carry out the last entry of the decision log and return it; return None if the table has no decision log. The
    caller of `latest_decision` is about to make a plan, and holds the table's lock (`decision_log.in_order`). Without
    the lock, the entry reserves the time of the plan.
    """
    if not uses_decision_log(context):
        return None
    if not decides_without_lock(context):
        return catch_up(context)
    # Only an empty log has a tail without reserved times.
    while not (tail := decide_announced(context).newest).reserved:
        decide_announced(context, ticks=True)
    return tail


def own_decision(context: Context) -> LogEntry | None:
    """Return the last entry like `latest_decision`; without the lock, a new entry of this actor, which alone may use
    its `AUTHOR` time.
    """
    return own_entry(context) if decides_without_lock(context) else latest_decision(context)


def plan_time(context: Context, last: LogEntry | None, action: str, timeline: Timeline) -> str:
    """Return the requested time of a plan that is made from the state of the table after the entry `last`. Everything
    that completed before this time is in that state, and nothing else will be.
    """
    if last is None or not decides_without_lock(context):
        return new_time(context, timeline)
    refuse_torn(timeline)
    return last.plan_time(action)


def history_of(context: Context, last: LogEntry | None, listed: Active | None = None) -> History:
    """Return the history of the table for a plan, of the timeline `listed` or of a new listing. Without the lock,
    writers commit while the plan is made: instants that completed after the entry `last` appear as pending.
    """
    history = context.history(listed)
    if last is None or not decides_without_lock(context):
        return history
    return replace(history, active=Active(history.active.until(last.time)))


def put_plan(
    context: Context, last: LogEntry | None, requested: str, action: str, plan: bytes, undoes: str = ""
) -> Instant | None:
    """Put a plan based on the table state after the entry `last` onto the timeline, and return the plan's instant.
    Returns None if another actor has decided something after `last` that the plan does not take into account: the plan
    may be outdated, and the caller makes a new plan from the current state.

    With ``decision="log"`` that is any entry, which only a writer that has lost the lock can put. Without the lock it
    is another plan: what completes after `last` completes after the plan's time, and belongs to the next slice.
    `undoes` is the requested time of the write that a rollback undoes.
    """
    if last is None:
        return put_requested(context.storage, requested, action, plan)
    if decides_without_lock(context):
        name = Announced(requested, action, is_plan=True, is_checked=True)
        token = context.names.write_token()
        own = Announcement(name, plan, token, planned_from=last.number, undoes=undoes)
        planned = plan_announced(context, own)
        if planned is None:
            decide_all_announced(context)  # the other plan may be that of a dead process
        return planned
    decision = Decision(last.number + 1, "plan", requested, action, requested, plan)
    return decision.instant if decide(context, decision) else None
