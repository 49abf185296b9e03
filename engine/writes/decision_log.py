"""What makes a commit, under the lock: holding it, or the next number of the decision log (`Rules.decision`)."""

from __future__ import annotations

from typing import Final

from ..context import Context
from ..timeline import Instant, put_requested
from ..timeline.decisions import Decision, is_published, last_decision, publish, put_decision

NOTHING: Final = Decision(0, "time", "", "", "")
"""Before the first decision."""


def uses_decision_log(context: Context) -> bool:
    """Whether commits are decided by a log."""
    return context.rules.decision == "log"


def catch_up(context: Context) -> Decision:
    """The last decision, published, so that the timeline holds all that is decided; the clock has learned its time."""
    while (last := last_decision(context.storage)) is not None and not is_published(context.storage, last):
        publish(context.storage, last)  # its writer died, or is about to; meanwhile the next one may be decided
    if last is None:
        return NOTHING
    context.clock.not_before(last.time)
    return last


def decide(context: Context, decision: Decision) -> bool:
    """Take the decision's number and publish it; False, with nothing changed, if another actor took the number."""
    if not put_decision(context.storage, decision):
        return False
    publish(context.storage, decision)
    return True


def look(context: Context) -> Decision | None:
    """Before a plan is made, under the lock: the last decision, published. None where no log decides."""
    return catch_up(context) if uses_decision_log(context) else None


def put_plan(context: Context, last: Decision | None, requested: str, action: str, plan: bytes) -> Instant | None:
    """Publish a plan that was made from the state after the decision `last`. None if another decision was taken since.

    That requires a lost lock: a write that is to be rolled back may have been committed meanwhile, or a commit may lie
    before the barrier. The next call plans from the new state.
    """
    if last is None:
        return put_requested(context.storage, requested, action, plan)
    decision = Decision(last.number + 1, "plan", requested, action, requested, plan)
    return decision.instant if decide(context, decision) else None


def withdraw(context: Context, requested: str) -> None:
    """Make sure that a plan is not the last decision, before it is removed from the timeline under the lock.

    The next actor that decides publishes the last decision first, and would put the plan back.
    """
    while uses_decision_log(context) and (last := catch_up(context)).requested == requested:
        time = context.clock.take()
        put_decision(context.storage, Decision(last.number + 1, "time", time, "", time))
