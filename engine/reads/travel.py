"""Determines which times can be read: only settled times, at or before which no further instant can complete
(docs/contract.md, TRAVEL and INCR).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..context import Context
from ..errors import BadInput
from ..lock import held
from ..timeline import Timeline, completion_of
from ..timeline.decisions import Decision, last_entry
from ..timeline.history import Active, History, Whole
from ..writes.claims import new_time
from ..writes.deciding import tick
from ..writes.decision_log import catch_up, decide, decides_without_lock, is_parallel, uses_decision_log


def settled(context: Context, now: str | None = None) -> Whole:
    """Return a timeline that contains every instant completed at or before some time T, and no instant completed after
    T.

    Because a single listing may show a newer instant and miss an older one, the timeline is listed twice. T is the
    greatest completion time in the first listing. The second listing shows every instant that completed at or before T.
    Instants archived between the first and the second listing are found in the archive, which is read after each
    listing. With `Rules(listing="once")`, the timeline is listed only once. With `Rules(read_time="clock")`, `now`
    replaces the greatest completion time, although instants may still complete at or before `now`.
    """
    listed = list_once(context)
    is_by_clock = now is not None and context.rules.read_time == "clock"
    time = (now if is_by_clock else newest_time(context, listed)) or ""
    if context.rules.listing == "twice":
        listed = list_again(context, listed, time)
    return listed.until(time)


def newest_time(context: Context, listed: Timeline) -> str:
    """Return the greatest completion time in a listing; if the instants of an entry of the decision log are published
    at the same time, the greatest one before each instant that the listing has missed.
    """
    return newest_settled(context, listed) if is_parallel(context) else listed.greatest_completion or ""


def newest_settled(context: Context, listed: Timeline) -> str:
    """Return the greatest completion time that is earlier than each missing instant of the last entry of the decision
    log; '' if there is none.

    A listing may show an instant and miss an earlier one of the same entry. Only the last entry can have missing
    instants: the next one is created after them. A listing that begins after this call shows all instants that
    completed at or before the returned time.
    """
    shown = {instant.completed: instant.requested for instant in listed.completed if instant.completed}
    # Read after the listing: an entry that was the last one before it may have been completed during it.
    last = last_entry(context.storage)
    decided = () if last is None else (item for item in last.items if item.kind == "commit")
    # '~' is greater than every time, which consists of digits.
    first = min((item.time for item in decided if shown.get(item.time) != item.requested), default="~")
    return max((time for time in shown if time < first), default="")


def list_again(context: Context, listed: Timeline, time: str) -> Whole:
    """List the timeline again until the listing contains all instants that the previous listing showed as completed at
    or before `time`.

    If a restore deletes instants during a listing, the listing may show some deleted instants but not the restore. The
    next listing shows the restore's plan, which names the deleted instants.
    """
    again = list_once(context)
    while again.misses(listed, time):
        listed, again = again, list_once(context)
    return again


def list_once(context: Context) -> Whole:
    """Return the timeline from one listing, joined with the archive if the rules require it."""
    active = context.commits.active_to_read()
    if context.rules.archive_lookup == "never" and context.rules.files == "listed":
        return History(replace(active, lacks_archived=False)).whole
    return context.history(active).whole


def settled_at(context: Context, time: str, asked: str) -> Whole:
    """Return a timeline with every instant that completed at or before `time`; the timeline may also contain newer
    instants.

    A time T is settled if an instant that completed at T or later is published. T is also settled if a lock holder has
    read T or a later time from its clock. Once T is settled, no instant can complete at or before T. One listing shows
    whether `time` is settled, but may miss instants that are published during the listing. A second listing finds the
    instants that the first listing missed. Raises `BadInput` if `time` is in the future.
    """
    timeline = context.active()
    # Only then a lock is needed: a time that a published instant has reached is settled already.
    if newest_time(context, timeline) < time:
        now = _settle(context, timeline)
        if now < time:
            raise BadInput(
                f"{asked} {time}", f"now is {now}, and what has not happened yet cannot be read", "use an earlier time"
            )
    return list_again(context, timeline, time)


def _settle(context: Context, timeline: Active) -> str:
    """Return a new time, generated under the lock or by the decision log; every later commit has a greater completion
    time.
    """
    if decides_without_lock(context):
        return tick(context)
    with held(context.lock):
        while True:
            last = catch_up(context) if uses_decision_log(context) else None
            time = new_time(context, timeline, claimed=False)
            # A reader that has lost the lock is noticed only by the log: its put fails, and it takes a later time.
            if last is None or decide(context, Decision(last.number + 1, "time", time, "", time)):
                return time


def refuse_requested_time(timeline: Whole, time: str, asked: str) -> None:
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


def refuse_before_first(timeline: Whole, time: str, asked: str, archived: Sequence[str] = ()) -> None:
    """Raise `BadInput` if no write had completed at or before `time`. `archived` contains the completion times of the
    archived writes.
    """
    first = min((*archived, *(completion_of(i) for i in timeline.completed if i.writes)), default=None)
    if first is None:
        raise BadInput(f"{asked} {time}", "the table has no commit yet", "write to it first")
    if first > time:
        raise BadInput(f"{asked} {time}", f"the first commit completed at {first}", f"use {first} or a later time")
