"""Commits instants under the table's lock alone, or by putting the next entry of the decision log (`Rules.decision`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..context import Context
from ..storage import ListedAhead, Storage
from ..timeline import Instant, load, put_requested
from ..timeline.decisions import (
    Decision,
    forget_before,
    is_cut,
    is_published,
    last_decision,
    publish,
    put_cut,
    put_decision,
)

NOTHING: Final = Decision(0, "time", "", "", "")
"""Before the first decision."""


def uses_decision_log(context: Context) -> bool:
    """Return whether commits are decided by entries of a decision log rather than by the lock."""
    return context.rules.decision == "log"


def catch_up(context: Context, listed: Storage | None = None) -> Decision:
    """Publish the last entry of the decision log if it is not yet published, and return the entry. On return, the
    timeline contains every instant in the log, and the clock has passed the time of the last entry.

    `listed` is a storage with prefetched listings; the default is the storage of `context`.
    """
    storage = listed or context.storage
    while (last := last_decision(storage)) is not None and not is_published(storage, last):
        publish(context.storage, last)  # its writer died, or is about to; meanwhile the next one may be decided
        if isinstance(storage, ListedAhead):
            storage.forget()
    if last is None:
        return NOTHING
    context.clock.not_before(last.time)
    return last


def decide(context: Context, decision: Decision, before_publication: Callable[[], None] = lambda: None) -> bool:
    """Put `decision` into the decision log, then publish the instant that it decides. Returns False and decides nothing
    if another writer has already put a log entry with the same number, even if that entry has been deleted since.
    """
    if not put_decision(context.storage, decision):
        return False
    if is_cut(context.storage, decision.number):
        return _took_effect(context, decision)
    before_publication()
    publish(context.storage, decision)
    return True


def _took_effect(context: Context, decision: Decision) -> bool:
    """Return whether an entry that was created, and whose number has been cut, was the first with its number.

    Everything before a cut is published. So if the writer paused only after it had created a valid entry, another actor
    has published its instant. Otherwise the number was free because its entry had been deleted. An entry that only
    reserves a time leaves no trace: its writer reserves another.
    """
    if decision.kind == "time":
        return False
    timeline = context.commits.whole(load(context.storage))
    there = context.commits.at(timeline, decision.requested)
    return bool(there) if decision.kind == "plan" else decision.instant in there


def cut(context: Context, last: Decision | None) -> None:
    """Put a cut of the decision log just before the last entry, and delete older entries.

    The caller must hold the table's lock. The entry `last` and all earlier entries must already be published.
    """
    if last is not None and last.number > 1:
        put_cut(context.storage, last.number - 1)
        forget_before(context.storage, last.number - 1)


def latest_decision(context: Context) -> Decision | None:
    """Publish the last entry of the decision log and return it; return None if the table has no decision log. The
    caller of `latest_decision` holds the table's lock and is about to make a plan.
    """
    return catch_up(context) if uses_decision_log(context) else None


def put_plan(context: Context, last: Decision | None, requested: str, action: str, plan: bytes) -> Instant | None:
    """Publish a plan based on the table state after the entry `last`, and return the plan's instant. Returns None if
    another writer has put an entry after `last`.

    Another writer can put an entry only if this process has lost the lock. If `put_plan` returns None, the plan may be
    outdated, and the caller makes a new plan from the current state.
    """
    if last is None:
        return put_requested(context.storage, requested, action, plan)
    decision = Decision(last.number + 1, "plan", requested, action, requested, plan)
    return decision.instant if decide(context, decision) else None


def withdraw(context: Context, requested: str) -> None:
    """Before a plan is removed from the timeline, ensure that the plan is not the last entry of the decision log.

    If the removed plan were the last entry of the decision log, the next writer would publish it again.
    """
    while uses_decision_log(context) and (last := catch_up(context)).requested == requested:
        taken = context.clock.take()
        put_decision(context.storage, Decision(last.number + 1, "time", taken, "", taken))
