"""Decides what makes a commit: holding the lock, or taking the next number of the decision log (`Rules.decision`)."""

from __future__ import annotations

import time
from typing import Final

from ..context import Context
from ..storage import ListedAhead, Storage
from ..timeline import Instant, put_requested
from ..timeline.decisions import (
    Decision,
    forget_before,
    is_published,
    last_decision,
    publish,
    put_checkpoint,
    put_decision,
)

NOTHING: Final = Decision(0, "time", "", "", "")
"""Before the first decision."""


def uses_decision_log(context: Context) -> bool:
    """Whether a decision log decides commits."""
    return context.rules.decision == "log"


def catch_up(context: Context, listed: Storage | None = None) -> Decision:
    """Publish the last decision and return it. After that the timeline holds every decision, and the clock is past the
    decision's time.

    `listed`: the storage with the listings of the caller under way.
    """
    storage, begun = listed or context.storage, time.time()
    while (last := last_decision(storage)) is not None and not is_published(storage, last):
        publish(context.storage, last)  # its writer died, or is about to; meanwhile the next one may be decided
        if isinstance(storage, ListedAhead):
            storage.forget()
    if last is None:
        return NOTHING._replace(begun=begun)
    context.clock.not_before(last.time)
    return last


def decide(context: Context, decision: Decision) -> bool:
    """Take the number of the decision and publish it. False, with nothing changed, if another actor took the number."""
    if not put_decision(context.storage, decision):
        return False
    publish(context.storage, decision)
    return True


def cut(context: Context, last: Decision | None) -> None:
    """Publish a checkpoint behind the last decision, and delete the entries that no actor can take the number of.

    Called under the lock; `last` is published, and so is every entry before it.
    """
    if last is not None and last.number > 1:
        put_checkpoint(context.storage, last.number - 1)
        forget_before(context.storage, last.number - 1)


def latest_decision(context: Context) -> Decision | None:
    """Publish and return the last decision. Called under the lock before a plan is made. None without a decision log.
    """
    return catch_up(context) if uses_decision_log(context) else None


def put_plan(context: Context, last: Decision | None, requested: str, action: str, plan: bytes) -> Instant | None:
    """Publish a plan that was made from the state after the decision `last`. None if another decision has been taken
    since.

    Another decision is possible only if the lock was lost. After a lost lock, a write to be rolled back may have been
    committed, or a commit may precede the barrier. The next call plans from the new state.
    """
    if last is None:
        return put_requested(context.storage, requested, action, plan)
    decision = Decision(last.number + 1, "plan", requested, action, requested, plan, last.begun)
    return decision.instant if decide(context, decision) else None


def withdraw(context: Context, requested: str) -> None:
    """Ensure that a plan is not the last decision, before it is removed from the timeline under the lock.

    The next actor that decides publishes the last decision first, and would restore the plan.
    """
    while uses_decision_log(context) and (last := catch_up(context)).requested == requested:
        taken = context.clock.take()
        put_decision(context.storage, Decision(last.number + 1, "time", taken, "", taken, b"", last.begun))
