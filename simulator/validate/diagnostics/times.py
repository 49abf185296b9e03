"""Complaints about times: MONO asks that they are distinct, rise, and lie in the past."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nbcc.engine.clock import to_millis
from nbcc.engine.repair import latest_time
from nbcc.engine.timeline import Instant

from ..view import View, timeline_file
from .diagnostic import Found, Rule

_SHARED: Final = "delete no file of that time: the names of files do not say which of the two wrote them"


def _right(instant: Instant) -> str:
    return f"nbcc table {{table}} retime {instant.requested}"


def future(view: View) -> Iterator[Found]:
    bound = latest_time(view.found, view.now)
    for instant in view.found.timeline.instants:
        time = max(instant.requested, instant.completed or "")
        if time > bound:
            because = f"its time {time} lies after now, {view.now}: what completes before then is seen by no reader"
            waits = instant.completed is not None and instant.requested > bound
            remedy = f"let nobody write until {time}" if waits else _right(instant)
            yield Found(timeline_file(instant), because, f"set that clock right, and {remedy}")


def no_time(view: View) -> Iterator[Found]:
    for instant in view.found.timeline.instants:
        for time in (instant.requested, instant.completed):
            if time is not None and not _is_time(time):
                yield Found(timeline_file(instant), f"{time} is no time of 17 (or 14) digits", "give it its name back")


def equal(view: View) -> Iterator[Found]:
    """Savepoints are left out: they carry the requested time of the commit that they pin."""
    owner: dict[str, Instant] = {}
    for instant in view.found.timeline.instants:
        if instant.action == "savepoint":
            continue
        for time in filter(None, (instant.requested, instant.completed)):
            other = owner.setdefault(time, instant)
            if other is not instant or instant.requested == instant.completed:
                because = f"its time {time} is also that of {timeline_file(other)}: neither is before the other"
                later = instant if time == instant.completed else other
                both_requested = other is not instant and instant.requested == other.requested
                right = _SHARED if both_requested else _right(later)
                remedy = f"let all writers take their times under one lock, and {right}"
                yield Found(timeline_file(instant), because, remedy)


def backwards(view: View) -> Iterator[Found]:
    for instant in view.found.timeline.completed:
        if instant.completed and instant.completed < instant.requested:
            because = f"it completed at {instant.completed}, before it was requested"
            remedy = f"let all writers take their times from one clock, and {_right(instant)}"
            yield Found(timeline_file(instant), because, remedy)


def twice(view: View) -> Iterator[Found]:
    seen: dict[tuple[str, str], Instant] = {}
    for instant in view.found.completions:
        first = seen.setdefault((instant.requested, instant.completes_as), instant)
        if first != instant:
            because = f"the same instant completed as {timeline_file(first)}, too: readers believe one or the other"
            yield Found(timeline_file(instant), because, _right(instant))


def _is_time(text: str) -> bool:
    try:
        to_millis(text)
    except ValueError:
        return False
    return True


RULES: Final = (
    Rule("no-time", "the time in the name of an instant is none", ("MONO",), no_time),
    Rule("future-instant", "an instant lies in the future", ("MONO", "SNAP"), future),
    Rule("equal-times", "two instants have a time in common", ("MONO",), equal),
    Rule("completed-before-requested", "an instant completed before it was requested", ("MONO",), backwards),
    Rule("completed-twice", "an instant has two completion times", ("MONO", "TRAVEL"), twice),
)
