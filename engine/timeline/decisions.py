"""The decision log: numbered entries, each created only if absent, that decide which instants commit and in which
order.

The decision log protects the table from a writer that loses the table's lock while it publishes. Before a writer
commits, it publishes the instant of the log's last entry, unless that instant is already published. The writer then
creates a new log entry, and finally the timeline file of its own instant. A new entry contains the content of the
timeline file to publish. The time of a new entry is later than the times of all earlier entries. Entries of the
decision log never change. Both commits and plans of table services are entries of the decision log.

Archiving shortens the decision log by deleting old entries. The archiver first puts a cut: an object named after the
number up to which all entries are published. It then deletes entries before the cut that are more than an hour older
than the newest entry. A writer that pauses after it has read the log can create an entry whose number was deleted. No
clock shows that: a frozen process may see no time pass. Each writer therefore compares its number with the newest cut
after it has created its entry. An entry above the cut is valid, because a cut is put before its numbers become free. In
an object store, a listing of the decision log starts at the cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, get_args

from ..errors import Damaged, Unsupported
from ..json_text import parse_json
from ..storage import Entry, ListedAhead, NotFound, ObjectStorage, Storage, put_own
from .checked import Checked
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER as TIMELINE

FOLDER: Final = ".hoodie/.nbcc/decisions"
CUTS: Final = ".hoodie/.nbcc/cuts"
PATIENCE_SECONDS: Final = 3600.0
"""For how long an entry stays after the next one, so that an actor in time finds its number taken."""

Kind = Literal["commit", "plan", "time"]


class Decision(NamedTuple):
    """One entry of the decision log.

    `kind` is "commit" for a completing instant, "plan" for a new plan, and "time" for an entry that only reserves a
    time. `action` is the action of the pending instant. `time` is the completion time if `kind` is "commit", and the
    requested time if `kind` is "plan". `data` is the content of the timeline file that the entry publishes.
    """

    number: int
    kind: Kind
    requested: str
    action: str
    time: str
    data: bytes = b""

    @property
    def instant(self) -> Instant:
        """The instant that the decision-log entry publishes."""
        if self.kind == "plan":
            return Instant(self.requested, self.action, "requested")
        return Instant(self.requested, COMPLETES_AS.get(self.action, self.action), "completed", self.time)


def put_decision(storage: Storage, decision: Decision) -> bool:
    """Put an entry into the decision log; return False if another writer has already put an entry with the same number.
    An existing entry with the same number and content counts as success.
    """
    return put_own(storage, _path(decision.number), _encode(decision))


def is_cut(storage: Storage, number: int) -> bool:
    """Return whether the entry `number` may have been deleted. The caller has just created an entry of that number, and
    must not take it for the first one if the result is True.
    """
    return number <= _newest_cut(storage)


def last_decision(storage: Storage) -> Decision | None:
    """Return the decision-log entry with the greatest number, found by one listing and one get; None if the log is
    empty.
    """
    number = max(_numbers(storage), default=None)
    if number is None:
        return None
    if isinstance(storage, ObjectStorage):
        storage.remember(FOLDER, _path(number - 1))
    return _decode(number, storage.get(_path(number)))


def _numbers(storage: Storage) -> list[int]:
    """Return the sequence numbers of the entries in the decision log. In an object store, the listing starts at the
    newest cut or at the last entry that was read.
    """
    if not isinstance(storage, ObjectStorage):
        return _decimal(storage.list(FOLDER))
    remember_cut(storage)
    return _decimal(storage.list(FOLDER, storage.last_seen(FOLDER)))


def remember_cut(storage: Storage) -> None:
    """Make listings of the decision log start at the newest cut. For an object store, the cuts are listed only before
    the first listing of the log.
    """
    if isinstance(storage, ObjectStorage) and not storage.last_seen(FOLDER):
        storage.remember(FOLDER, _path(max(0, _newest_cut(storage) - 1)))


def _decimal(entries: Iterable[Entry]) -> list[int]:
    names = (entry.path.rpartition("/")[2] for entry in entries)
    return [int(name) for name in names if name.isdecimal()]


def put_cut(storage: Storage, number: int) -> None:
    """Record that all entries up to `number` are published on the timeline, before any of them is deleted.

    Cuts only advance: each is an object of its own, so that a stalled archiver cannot replace a newer cut by its own.
    The two newest cuts stay, so that a listing during a later cut shows one of them.
    """
    storage.put_if_absent(f"{CUTS}/{number:020d}", b"")
    if old := sorted(_decimal(storage.list(CUTS)))[:-2]:
        storage.delete_all([f"{CUTS}/{each:020d}" for each in old])


def _newest_cut(storage: Storage) -> int:
    return max(_decimal(storage.list(CUTS)), default=0)


def forget_before(storage: Storage, number: int) -> None:
    """Delete the decision-log entries before `number` that are more than an hour older than the newest entry. `number`
    must not exceed the newest cut.
    """
    entries = [entry for entry in storage.list(FOLDER) if entry.path.rpartition("/")[2].isdecimal()]
    bound = max((entry.modified for entry in entries), default=0.0) - PATIENCE_SECONDS
    old = [entry.path for entry in entries if entry.modified < bound and entry.path < _path(number)]
    if old:
        storage.delete_all(old)


def publish(storage: Storage, decision: Decision) -> None:
    """Put the instant of a decision-log entry onto the timeline if it is absent."""
    if decision.kind != "time":
        storage.put_if_absent(f"{TIMELINE}/{decision.instant.file_name}", decision.data)


def is_published(storage: Storage, decision: Decision) -> bool:
    """Return whether the timeline contains the instant that the entry publishes. Raises `Damaged` if the timeline file
    of the instant differs from the decision-log entry.
    """
    if decision.kind == "time":
        return True
    path = f"{TIMELINE}/{decision.instant.file_name}"
    if isinstance(storage, ListedAhead):
        size = next((entry.size for entry in storage.list(TIMELINE) if entry.path == path), None)
        if size is None or size == len(decision.data):  # an object store puts a whole object or none
            return size is not None
    try:
        data = storage.get(path)
    except NotFound:
        return False
    if data != decision.data:
        raise Damaged(
            f"read {path}",
            f"it has {len(data)} bytes that are not those of the decision {decision.number}",
            "delete the file: the next writer puts it again from the decision",
        )
    return True


def _path(number: int) -> str:
    return f"{FOLDER}/{number:020d}"


def _encode(decision: Decision) -> bytes:
    head = {"format": 1, "kind": decision.kind, "requested": decision.requested, "action": decision.action}
    return json.dumps({**head, "time": decision.time}).encode() + b"\n" + decision.data


def _decode(number: int, content: bytes) -> Decision:
    """Decode an entry of the decision log; raise `Damaged` if it is invalid. An empty or truncated entry is an error,
    because ignoring it would let another writer reuse its number.
    """
    name, asked = _path(number), f"read the decision {number}"
    checked = Checked(name)
    head, end, data = content.partition(b"\n")
    try:
        if not end:
            raise ValueError("its first line has no end")
        entry = parse_json(head)
        if entry["format"] != 1:
            remedy = "use a release of nbcc that knows it"
            raise Unsupported(asked, f"it has format {entry['format']}", remedy)
        if entry["kind"] not in get_args(Kind):
            raise ValueError(f"its kind is {entry['kind']!r}")
        action = entry["action"] and checked.action(entry["action"])
        decision = Decision(
            number, entry["kind"], checked.instant(entry["requested"]), action, checked.instant(entry["time"]), data
        )
        if not data and decision.kind == "commit":
            raise ValueError("it holds no commit")
        return decision
    except (ValueError, KeyError, TypeError, RecursionError) as broken:
        raise Damaged(
            asked,
            f"the {len(content)} bytes of {name} are not a decision ({broken})",
            "restore the file from a copy, or, if no writer is alive and the timeline lacks what it decided, "
            "delete it: that write was lost",
        ) from None
