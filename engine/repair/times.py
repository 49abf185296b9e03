"""Corrects the completion time of an instant, so that the table satisfies MONO (docs/contract.md).

A completion time can be changed, because it occurs only in the name of the instant's file. A requested time cannot be
changed, because it also occurs in the names of data files. The new completion time must not change the order of the
timeline's times, because slices, plans and reads depend on this order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..audit import Audit
from ..clock import SHARED_SKEW_MS, to_instant, to_millis
from ..config.options import DECISION
from ..errors import BadInput, Conflict
from ..storage import Storage
from ..timeline import Instant
from ..timeline.heartbeats import FOLDER as HEARTBEATS
from ..timeline.state_checkpoint import FOLDER as STATE
from ..timeline.timeline import FOLDER

FARTHEST_ZONE_MS: Final = 14 * 3_600_000
"""The greatest offset of a time zone. A table with LOCAL times does not record its zone."""


@dataclass(frozen=True, slots=True)
class Retiming:
    """A planned correction of an instant's completion time. `put` is the path to which the first file in `deleted` is
    copied; '' means no copy. `deleted` contains the files that are deleted after the copy. `checkpoints` contains the
    state checkpoints, which are deleted before, because they list the times of instants.
    """

    put: str
    deleted: tuple[str, ...]
    checkpoints: tuple[str, ...] = ()


def latest_time(audit: Audit, now: str) -> str:
    """Return the latest time that any writer's clock can currently show, given the bounds on clock skew and time zones.
    """
    zone = audit.properties.get("hoodie.table.timeline.timezone", "LOCAL")
    return to_instant(to_millis(now) + SHARED_SKEW_MS + (0 if zone == "UTC" else FARTHEST_ZONE_MS))


def retiming(audit: Audit, requested: str, now: str) -> Retiming:
    """Return the planned correction of an instant's completion time. Raises `BadInput` if the instant's times are
    correct or cannot be corrected.
    """
    checkpoints = sorted(path for path in audit.listing if path.startswith(f"{STATE}/"))
    return replace(_correction(audit, requested, now), checkpoints=tuple(checkpoints))


def _correction(audit: Audit, requested: str, now: str) -> Retiming:
    asked = f"correct the times of the instant {requested}"
    completions = sorted(
        (i for i in audit.completions if i.requested == requested and i.action != "savepoint"),
        key=lambda instant: instant.completed or "",
    )
    if not completions:
        return _pending_change(audit, requested, now, asked)
    if audit.properties.get(DECISION, "lock") != "lock":
        raise BadInput(asked, f"the table's completion times are entries of a log ({DECISION})", "leave them")
    if len({each.completes_as for each in completions}) > 1:
        names = ", ".join(each.file_name for each in completions)
        because = f"several instants were requested at that time ({names}), which is a part of the names of their files"
        raise BadInput(asked, because, "delete none of them; compact the table, so that later reads need none of them")
    first, *others = completions
    if others:
        return Retiming("", tuple(_path(other) for other in others))
    time = _wanted(audit, first, now, asked)
    return Retiming(_path(Instant(first.requested, first.action, "completed", time)), (_path(first),))


def retime(storage: Storage, change: Retiming) -> None:
    """Execute a planned correction: delete the state checkpoints, write the new file, then delete the old files. The
    caller of `retime` holds the table's lock. Raises `Conflict` if two files of one instant have different content.
    """
    storage.delete_all(change.checkpoints)
    if change.put:
        storage.put(change.put, storage.get(change.deleted[0]))
    elif change.deleted[0].rpartition(".")[2] not in ("requested", "inflight"):
        _refuse_different(storage, change.deleted)
    for path in change.deleted:
        storage.delete(path)


def _pending_change(audit: Audit, requested: str, now: str, asked: str) -> Retiming:
    """Return the correction that deletes a pending instant whose requested time is in the future. The instant's data
    files are deleted first, which is safe because readers ignore pending instants.
    """
    pending = [i for i in audit.timeline.pending if i.requested == requested]
    if not pending:
        raise BadInput(asked, "it is not on the active timeline", "name an instant that validate reports")
    if requested <= latest_time(audit, now):
        raise BadInput(asked, "it is pending, and its time is not in the future", "roll it back if its writer has died")
    if f"{HEARTBEATS}/{requested}" in audit.listing:
        raise Conflict(asked, "its writer has a heartbeat", "stop that writer, and correct its clock")
    files = (path for path, file in audit.files.items() if file.requested == requested)
    states = (Instant(requested, pending[0].action, state) for state in ("inflight", "requested"))
    return Retiming("", (*files, *map(_path, states)))


def _wanted(audit: Audit, instant: Instant, now: str, asked: str) -> str:
    present = instant.completed or ""
    others = [i for i in {*audit.completions, *audit.timeline.pending} if i != instant and i.action != "savepoint"]
    times = {time for other in others for time in (other.requested, other.completed) if time}
    if instant.requested > latest_time(audit, now):
        because = "its requested time is in the future as well, and is a part of the names of its files"
        raise BadInput(asked, because, "stop all writers until that time")
    if present > latest_time(audit, now):
        wanted = now
    elif present <= instant.requested:
        wanted = _after(instant.requested)
    elif present in times:
        wanted = _after(present)
    else:
        raise BadInput(asked, f"nothing is wrong with {instant.file_name}", "name an instant that validate reports")
    low, high = min(present, wanted), max(present, wanted)
    if between := min((time for time in times if low <= time <= high and time != present), default=None):
        because = f"the time {between} of another instant is between {present} and {wanted}: the order would change"
        raise BadInput(asked, because, "correct that instant first; if it is correct, leave this one")
    return wanted


def _after(time: str) -> str:
    return to_instant(to_millis(time) + 1)


def _path(instant: Instant) -> str:
    return f"{FOLDER}/{instant.file_name}"


def _refuse_different(storage: Storage, later: tuple[str, ...]) -> None:
    """Raise `Conflict` if the completed files of one instant have different content."""
    requested, action = later[0].rpartition("/")[2].partition("_")[0], later[0].rpartition(".")[2]
    paths = [e.path for e in storage.list(FOLDER) if e.path.startswith(f"{FOLDER}/{requested}_")]
    if len({storage.get(path) for path in paths if path.endswith(f".{action}")}) > 1:
        exists = "the files of this completed instant have different content"
        raise Conflict(f"delete {', '.join(later)}", exists, "compare them, and keep the one whose data files exist")
