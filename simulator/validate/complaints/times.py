"""Complaints about times: MONO asks that they are distinct, rise, and lie in the past."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nbcc.engine.clock import SHARED_SKEW_MS, to_instant, to_millis
from nbcc.engine.timeline import Instant

from ..view import View, timeline_file
from .complaint import Found, Rule

FARTHEST_ZONE_MS: Final = 14 * 3_600_000
"""How far ahead of UTC a clock on earth can be: a table whose times are LOCAL does not say where."""


def future(view: View) -> Iterator[Found]:
    zone = view.found.properties.get("hoodie.table.timeline.timezone", "LOCAL")
    ahead = SHARED_SKEW_MS + (0 if zone == "UTC" else FARTHEST_ZONE_MS)
    bound = to_instant(to_millis(view.now) + ahead)
    for instant in view.found.timeline.instants:
        time = max(instant.requested, instant.completed or "")
        if time > bound:
            because = f"its time {time} lies after now, {view.now}: what completes before then is seen by no reader"
            yield Found(timeline_file(instant), because, f"let nobody write until {time}, and set that clock right")


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
                yield Found(timeline_file(instant), because, "let all writers take their times under one lock")


def backwards(view: View) -> Iterator[Found]:
    for instant in view.found.timeline.completed:
        if instant.completed and instant.completed < instant.requested:
            because = f"it completed at {instant.completed}, before it was requested"
            yield Found(timeline_file(instant), because, "let all writers take their times from one clock")


def twice(view: View) -> Iterator[Found]:
    seen: dict[tuple[str, str], Instant] = {}
    for instant in view.found.completions:
        first = seen.setdefault((instant.requested, instant.completes_as), instant)
        if first != instant:
            because = f"the same instant completed as {timeline_file(first)}, too: readers believe one or the other"
            yield Found(timeline_file(instant), because, "delete the later of the two if both list the same files")


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
