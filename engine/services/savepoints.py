"""The effects of savepoints on services: a clean keeps the savepoints' files, and no instant requested after a
savepoint is archived.
"""

from __future__ import annotations

from ..context import Context
from ..errors import BadInput
from ..files.slices import all_slices, to_read
from ..reads.times import Time
from ..timeline import Instant, completion_of
from ..timeline.history import Active, Current, Whole
from ..timeline.savepoints import Savepoint, decode_savepoint


def decoded(context: Context, saved: Instant) -> Savepoint:
    """Return the decoded content of a completed savepoint."""
    return decode_savepoint(context.commits.content(saved), saved.file_name)


def pinned_files(context: Context, timeline: Current) -> frozenset[str]:
    """Return the paths that a clean must keep because a savepoint on the timeline lists them."""
    if context.rules.savepoint_keeps == "nothing":
        return frozenset()
    paths = (path for saved in timeline.savepoints for path in decoded(context, saved).paths)
    every = context.rules.savepoint_keeps == "files"
    return frozenset(path for path in paths if every or path.endswith(".parquet"))


def files_as_of(context: Context, timeline: Whole, time: str) -> frozenset[str]:
    """Return the files that a read as of `time` opens, together with the input logs of log compactions. `time` must be
    settled: no pending instant can still complete at or before it.
    """
    slices = all_slices(context.storage, timeline, context.commits, context.rules, time)
    return frozenset(path for piece in to_read(slices, context.rules) for path in piece.paths)


def to_pin(timeline: Active, instant: Time | None) -> Instant:
    """Return the instant that the user names for a new savepoint; the default is the newest completed write or
    compaction.
    """
    writes = [each for each in timeline.completed if each.writes]
    if instant is None and not writes:
        raise BadInput("make a savepoint", "nothing has completed in this table", "write to it first")
    if instant is None:
        return writes[-1]
    requested = instant.requested if isinstance(instant, Instant) else str(instant)
    pinned = timeline.find(requested)
    if pinned is None or not pinned.completed:
        exists = "it is not completed" if pinned else "the timeline has no write or compaction with that requested time"
        raise BadInput(f"make a savepoint of {requested}", exists, "name a completed instant of the active timeline")
    return pinned


def to_use(timeline: Active, instant: Time | None, asked: str) -> Instant:
    """Return the completed savepoint that the user names; the default is the newest savepoint."""
    there = timeline.savepoints
    if instant is None and there:
        return max(there, key=completion_of)
    requested = instant.requested if isinstance(instant, Instant) else str(instant or "")
    savepoint = next((each for each in there if each.requested == requested), None)
    if savepoint is None:
        names = ", ".join(each.requested for each in there)
        exists = f"the savepoints are {names}" if names else "the table has no savepoint"
        raise BadInput(f"{asked} {requested}".rstrip(), exists, "name one of them" if names else "make one first")
    return savepoint
