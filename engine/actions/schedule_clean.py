"""Plans a clean, which deletes files that reads as of the horizon (the oldest readable time) or later do not need."""

from __future__ import annotations

import time

from ..clock import to_instant
from ..config import TableConfig
from ..config.maintenance import PolicyName
from ..context import Context
from ..files.slices import FileSlice
from ..services.cleaning import Policy, horizon_of, plan_clean
from ..services.consumers import waits_for_consumers
from ..services.plan import current_slices
from ..services.retirement import retire_unneeded
from ..timeline import Instant
from ..timeline.cleans import CleanPlan, encode_clean_plan
from ..timeline.history import History
from ..writes.decided_plans import history_of, latest_decision, plan_time, put_plan
from ..writes.decision_log import in_order

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
    with in_order(context):
        last = latest_decision(context)
        history = history_of(context, last)
        timeline = history.current
        if any(instant.action == ACTION for instant in timeline.pending):
            return None
        slices = retire_unneeded(context, timeline, context.rules)
        requested = plan_time(context, last, ACTION, timeline)
        plan = _plan(context, config, chosen, history, slices, requested)
        if plan is None:
            return None
        return put_plan(context, last, requested, ACTION, encode_clean_plan(plan, context.storage.url))


def is_useful(context: Context, config: TableConfig, policy: PolicyName, retained: int, history: History) -> bool:
    """Return whether a clean that is planned now would delete files. A service asks before it takes the table's lock,
    because most commits leave nothing to delete.
    """
    timeline = history.current
    slices = current_slices(context, timeline, context.rules)
    # No time is taken from the table's clock, because nothing is published at it.
    now = max(to_instant(time.time_ns() // 1_000_000), timeline.newest or "")
    return _plan(context, config, Policy(policy, retained), history, slices, now) is not None


def _plan(
    context: Context,
    config: TableConfig,
    policy: Policy,
    history: History,
    slices: tuple[FileSlice, ...],
    now: str,
) -> CleanPlan | None:
    horizon = horizon_of(policy, history.current, context.commits, slices, now)
    if horizon is not None:
        horizon = waits_for_consumers(context, history, horizon, now, config.consumer_hours)
    return plan_clean(context, history, slices, policy, horizon) if horizon is not None else None
