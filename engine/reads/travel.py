"""Determines which times can be read: only settled times, at or before which no further instant can complete
(docs/contract.md, TRAVEL and INCR).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..context import Context
from ..errors import BadInput
from ..lock import held
from ..timeline import Timeline, completion_of, load
from ..timeline.decisions import Decision
from ..timeline.loading import list_again
from ..writes.commit_protocol import take_time
from ..writes.decision_log import catch_up, decide, uses_decision_log


def settled_at(context: Context, time: str, asked: str) -> Timeline:
    """Return a timeline with every instant that completed at or before `time`; the timeline may also contain newer
    instants.

    A time T is settled if an instant that completed at T or later is published. T is also settled if a lock holder has
    read T or a later time from its clock. Once T is settled, no instant can complete at or before T. One listing shows
    whether `time` is settled, but may miss instants that are published during the listing. A second listing finds the
    instants that the first listing missed. Raises `BadInput` if `time` is in the future.
    """
    timeline = load(context.storage)
    if (timeline.greatest_completion or "") < time:
        now = _settle(context, timeline)
        if now < time:
            raise BadInput(
                f"{asked} {time}", f"now is {now}, and what has not happened yet cannot be read", "use an earlier time"
            )
    return list_again(timeline, time, context.storage, context.rules, context.commits)


def _settle(context: Context, timeline: Timeline) -> str:
    """Return a new time, generated under the lock; every later commit has a greater completion time."""
    with held(context.lock):
        while True:
            last = catch_up(context) if uses_decision_log(context) else None
            time = take_time(context, timeline)
            if last is None or decide(context, Decision(last.number + 1, "time", time, "", time)):
                return time


def refuse_requested_time(timeline: Timeline, time: str, asked: str) -> None:
    """Raise `BadInput` if `time` is the requested time of a write. Writes become visible in the order of completion
    times, so a requested time does not determine which rows a read shows.

    A requested time that is also the completion time of an instant is accepted. A requested time and a completion time
    can be equal if clocks differ by more than the allowed bound.
    """
    write = timeline.find(time)
    if write is None or any(instant.completed == time for instant in timeline.completed):
        return
    if write.completed is None:
        exists, remedy = (
            f"that is when a {write.action} was requested that is not completed",
            "use a time since its completion",
        )
    else:
        exists = f"that is when a {write.action} was requested, which completed at {write.completed}"
        remedy = f"use {write.completed} to see it, or the completion time of an earlier instant not to"
    raise BadInput(f"{asked} {time}", exists, remedy)


def refuse_before_first(timeline: Timeline, time: str, asked: str, archived: Sequence[str] = ()) -> None:
    """Raise `BadInput` if no write had completed at or before `time`. `archived` contains the completion times of the
    archived writes.
    """
    first = min((*archived, *(completion_of(i) for i in timeline.completed if i.writes)), default=None)
    if first is None:
        raise BadInput(f"{asked} {time}", "the table has no commit yet", "write to it first")
    if first > time:
        raise BadInput(f"{asked} {time}", f"the first commit completed at {first}", f"use {first} or a later time")
