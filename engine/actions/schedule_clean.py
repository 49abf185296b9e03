"""Plans a clean, which deletes files that reads as of the horizon (the oldest readable time) or later do not need."""

from __future__ import annotations

import time

from ..clock import to_instant
from ..config import TableConfig
from ..context import Context
from ..files.planned_slices import planned_slices
from ..files.slices import FileSlice
from ..lock import held
from ..reads.retention import refuse_unlisted
from ..services.cleaning import Policy, PolicyName, horizon_of, plan_clean
from ..services.consumers import waits_for_consumers
from ..timeline import Instant, Timeline, load
from ..timeline.cleans import CleanPlan, encode_clean_plan
from ..writes.claims import new_time
from ..writes.decision_log import latest_decision, put_plan

ACTION = "clean"


def run(
    context: Context, config: TableConfig, policy: PolicyName = "KEEP_LATEST_COMMITS", retained: int = 10
) -> Instant | None:
    """Publish a clean plan and return its instant; None if there is nothing to delete or if a clean is already pending.

    The clean plan records the horizon (the oldest time that stays readable). Once the clean plan is published, reads as
    of times before its horizon raise `Cleaned` (docs/contract.md, CLEAN). The horizon does not pass the progress of a
    named consumer, unless the consumer's oldest unread write completed more than `config.consumer_hours` ago. The clean
    is planned under the table's lock, so that a later compaction plan selects only files that the clean keeps. With a
    decision log, also returns None if another actor has created the next log entry first (see `put_plan`). Raises
    `BadInput` if the policy is unknown.
    """
    config.check_writable()
    chosen = Policy(policy, retained)
    with held(context.lock):
        last = latest_decision(context)
        timeline = context.unretired(load(context.storage))
        refuse_unlisted(context, timeline, "clean the table")
        if any(instant.action == ACTION for instant in timeline.pending):
            return None
        slices = planned_slices(context.storage, timeline, context.commits, context.rules)
        requested = new_time(context, timeline)
        plan = _plan(context, config, chosen, timeline, slices, requested)
        if plan is None:
            return None
        return put_plan(context, last, requested, ACTION, encode_clean_plan(plan, context.storage.url))


def is_useful(context: Context, config: TableConfig, policy: PolicyName, retained: int, timeline: Timeline) -> bool:
    """Return whether a clean that is planned now would delete files. A service asks before it takes the table's lock,
    because most commits leave nothing to delete.
    """
    refuse_unlisted(context, timeline, "clean the table")
    slices = planned_slices(context.storage, timeline, context.commits, context.rules)
    now = max(to_instant(time.time_ns() // 1_000_000), timeline.newest or "")
    return _plan(context, config, Policy(policy, retained), timeline, slices, now) is not None


def _plan(
    context: Context,
    config: TableConfig,
    policy: Policy,
    timeline: Timeline,
    slices: tuple[FileSlice, ...],
    now: str,
) -> CleanPlan | None:
    horizon = horizon_of(policy, timeline, context.commits, slices, now)
    if horizon is not None:
        horizon = waits_for_consumers(context, timeline, horizon, now, config.consumer_hours)
    return plan_clean(context, timeline, slices, policy, horizon) if horizon is not None else None
