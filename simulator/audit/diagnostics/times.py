"""Diagnostics of requested and completion times. The promise MONO requires that times are distinct, increasing and in
the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nbcc.engine.clock import to_millis
from nbcc.engine.repair import latest_time
from nbcc.engine.timeline import Instant

from ..view import TableView, timeline_file
from .diagnostic import Rule, Spot, filled

_SHARED: Final = "delete no file of that time: file names do not show which of the two instants wrote them"


_RETIME: Final = "nbcc table {table} retime {instant}"
_FUTURE: Final = f"correct the clock of its writer, and {_RETIME}"
_WAIT: Final = "correct the clock of its writer, and stop all writers until {instant}"
_ONE_LOCK: Final = "make all writers take their times under one lock"
_ONE_CLOCK: Final = f"make all writers use one clock, and {_RETIME}"
_NAME: Final = "restore its name"


def future(view: TableView) -> Iterator[Spot]:
    bound = latest_time(view.audit, view.now)
    for instant in view.audit.timeline.instants:
        time = max(instant.requested, instant.completed or "")
        if time > bound and is_time(time):
            because = f"its time {time} is after now, {view.now}: until then readers miss what completes"
            waits = instant.completed is not None and instant.requested > bound
            remedy = filled(_WAIT, instant=time) if waits else filled(_FUTURE, instant=instant.requested)
            yield Spot(timeline_file(instant), because, remedy)


def no_time(view: TableView) -> Iterator[Spot]:
    for instant in view.audit.timeline.instants:
        for time in filter(None, (instant.requested, instant.completed)):
            if not is_time(time):
                yield Spot(timeline_file(instant), f"{time} is not a time of 17 (or 14) digits", _NAME)


def equal(view: TableView) -> Iterator[Spot]:
    """Yield instants whose requested or completion time is not unique on the timeline. Savepoints are ignored, because
    a savepoint has the requested time of its commit.
    """
    owner: dict[str, Instant] = {}
    for instant in view.audit.timeline.instants:
        if instant.action == "savepoint":
            continue
        for time in filter(None, (instant.requested, instant.completed)):
            other = owner.setdefault(time, instant)
            if is_backwards(instant):
                continue
            if other is not instant or instant.requested == instant.completed:
                because = f"{timeline_file(other)} has the same time {time}: their order is undefined"
                later = instant if time == instant.completed else other
                both_requested = other is not instant and instant.requested == other.requested
                right = _SHARED if both_requested else filled(_RETIME, instant=later.requested)
                yield Spot(timeline_file(instant), because, f"{_ONE_LOCK}, and {right}")


def backwards(view: TableView) -> Iterator[Spot]:
    for instant in view.audit.timeline.completed:
        if is_backwards(instant):
            because = f"it completed at {instant.completed}, before it was requested"
            yield Spot(timeline_file(instant), because, filled(_ONE_CLOCK, instant=instant.requested))


def is_backwards(instant: Instant) -> bool:
    return instant.completed is not None and instant.completed < instant.requested


def twice(view: TableView) -> Iterator[Spot]:
    by_instant: dict[tuple[str, str], Instant] = {}
    for instant in view.audit.completions:
        first = by_instant.setdefault((instant.requested, instant.completes_as), instant)
        if first != instant:
            because = f"the same instant also completed as {timeline_file(first)}: readers use one or the other"
            yield Spot(timeline_file(instant), because, filled(_RETIME, instant=instant.requested))


def is_time(text: str) -> bool:
    """Return True if a text is a time of Hudi's instant format."""
    try:
        to_millis(text)
    except ValueError:
        return False
    return True


RULES: Final = (
    Rule("no-time", "an instant whose name has no valid time", ("MONO",), no_time, (_NAME,)),
    Rule("future-instant", "an instant in the future", ("MONO", "SNAP", "INCR"), future, (_FUTURE, _WAIT)),
    Rule("equal-times", "two instants have a time in common", ("MONO",), equal,
         (f"{_ONE_LOCK}, and {_RETIME}", f"{_ONE_LOCK}, and {_SHARED}")),
    Rule("completed-before-requested", "an instant completed before it was requested", ("MONO",), backwards,
         (_ONE_CLOCK,)),
    Rule("completed-twice", "an instant has two completion times", ("MONO", "TRAVEL"), twice, (_RETIME,)),
)  # fmt: skip
