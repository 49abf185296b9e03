"""Times that contradict each other, and giving an instant another completion time (MONO).

A completion time stands in a file's name and nowhere else, a requested time in the names of data files, too. So the
first can be changed, the second cannot. It is changed only where the order of all other times stays as it is: slices,
plans and reads are decided by that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..audit import Audit
from ..clock import SHARED_SKEW_MS, to_instant, to_millis
from ..config.options import DECISION
from ..errors import BadInput, Conflict
from ..storage import Storage
from ..timeline import Instant
from ..timeline.heartbeats import FOLDER as HEARTBEATS
from ..timeline.timeline import FOLDER

FARTHEST_ZONE_MS: Final = 14 * 3_600_000
"""How far ahead of UTC a clock on earth can be: a table whose times are LOCAL does not say where."""


@dataclass(frozen=True, slots=True)
class Retiming:
    """What would be done: `put` is the new name of the first path of `deleted`; '' if something only goes."""

    put: str
    deleted: tuple[str, ...]


def latest_time(found: Audit, now: str) -> str:
    """What is later lies in the future, whoever's clock it was."""
    zone = found.properties.get("hoodie.table.timeline.timezone", "LOCAL")
    return to_instant(to_millis(now) + SHARED_SKEW_MS + (0 if zone == "UTC" else FARTHEST_ZONE_MS))


def retiming(found: Audit, requested: str, now: str) -> Retiming:
    """What puts the times of an instant right. `BadInput` if nothing is wrong with them, or nothing can be done."""
    asked = f"put the times of the instant {requested} right"
    completions = sorted(
        (i for i in found.completions if i.requested == requested and i.action != "savepoint"),
        key=lambda instant: instant.completed or "",
    )
    if not completions:
        return _given_up(found, requested, now, asked)
    if found.properties.get(DECISION) == "log":
        raise BadInput(asked, f"the table's completion times are entries of a log ({DECISION})", "leave them")
    if len({each.completes_as for each in completions}) > 1:
        names = ", ".join(each.file_name for each in completions)
        because = f"several instants were requested then ({names}), and the names of their files carry that time"
        raise BadInput(asked, because, "delete neither of them; compact the table, so that later reads need neither")
    first, *others = completions
    if others:
        return Retiming("", tuple(_path(other) for other in others))
    time = _wanted(found, first, now, asked)
    return Retiming(_path(Instant(first.requested, first.action, "completed", time)), (_path(first),))


def retime(storage: Storage, made: Retiming) -> None:
    """Do it, the new name first: under the table's lock. `Conflict` if two files of one instant are not the same."""
    if made.put:
        storage.put(made.put, storage.get(made.deleted[0]))
    elif made.deleted[0].rpartition(".")[2] not in ("requested", "inflight"):
        _refuse_different(storage, made.deleted)
    for path in made.deleted:
        storage.delete(path)


def _given_up(found: Audit, requested: str, now: str, asked: str) -> Retiming:
    """A pending instant of the future goes, its files first; nobody has read them."""
    pending = [i for i in found.timeline.pending if i.requested == requested]
    if not pending:
        raise BadInput(asked, "the active timeline does not hold it", "name the instant that validate complains about")
    if requested <= latest_time(found, now):
        raise BadInput(asked, "it is pending, and its time is not in the future", "roll it back if its writer has died")
    if f"{HEARTBEATS}/{requested}" in found.listing:
        raise Conflict(asked, "its writer has a heartbeat", "stop that writer, and set its clock right")
    files = (path for path, file in found.files.items() if file.requested == requested)
    states = (Instant(requested, pending[0].action, state) for state in ("inflight", "requested"))
    return Retiming("", (*files, *map(_path, states)))


def _wanted(found: Audit, instant: Instant, now: str, asked: str) -> str:
    """The completion time that it should have; `BadInput` if others lie between that and the one it has."""
    has = instant.completed or ""
    others = [i for i in {*found.completions, *found.timeline.pending} if i != instant and i.action != "savepoint"]
    times = {time for other in others for time in (other.requested, other.completed) if time}
    if instant.requested > latest_time(found, now):
        because = "it was requested in the future as well, and the names of its files carry that time"
        raise BadInput(asked, because, "let nobody write until then")
    if has > latest_time(found, now):
        wanted = now
    elif has <= instant.requested:
        wanted = _after(instant.requested)
    elif has in times:
        wanted = _after(has)
    else:
        raise BadInput(asked, f"nothing is wrong with {instant.file_name}", "name one that validate complains about")
    low, high = min(has, wanted), max(has, wanted)
    if between := min((time for time in times if low <= time <= high and time != has), default=None):
        because = f"the time {between} of another instant lies between {has} and {wanted}: the order would change"
        raise BadInput(asked, because, "put that instant right first; if it is right, let this one be")
    return wanted


def _after(time: str) -> str:
    return to_instant(to_millis(time) + 1)


def _path(instant: Instant) -> str:
    return f"{FOLDER}/{instant.file_name}"


def _refuse_different(storage: Storage, later: tuple[str, ...]) -> None:
    """All files of one completed instant must say the same."""
    requested, action = later[0].rpartition("/")[2].partition("_")[0], later[0].rpartition(".")[2]
    paths = [e.path for e in storage.list(FOLDER) if e.path.startswith(f"{FOLDER}/{requested}_")]
    if len({storage.get(path) for path in paths if path.endswith(f".{action}")}) > 1:
        exists = "the two files of this completed instant do not list the same"
        raise Conflict(f"delete {', '.join(later)}", exists, "compare them, and keep the one whose files are there")
