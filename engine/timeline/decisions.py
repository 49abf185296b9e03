"""The decision log: numbered entries, each created only if absent, that decide which instants commit and in which
order.

The decision log protects the table from a writer that loses the table's lock while it publishes. An entry is carried
out once the instant that it decides is on the timeline. Before a writer commits, it carries out the log's last entry,
unless that is done already. The writer then creates a new log entry, and finally the timeline file of its own instant.
A new entry contains the content of the timeline file to put. The time of a new entry is later than the times of all
earlier entries. Entries of the decision log never change. Both commits and plans of table services are entries of the
decision log.

Archiving shortens the decision log by deleting old entries. The archiver first puts a cut: an object named after the
number up to which all entries are carried out. It then deletes entries before the cut that are more than an hour older
than the newest entry. A writer that pauses after it has read the log can create an entry whose number was deleted. No
clock shows that: a frozen process may see no time pass. Each writer therefore compares its number with the newest cut
after it has created its entry. An entry above the cut is valid, because a cut is put before its numbers become free. In
an object store, a listing of the decision log starts at the cut.

Without the lock, an archiver first raises the floor, which every later entry carries. An author that knows the floor
reads the archive before it decides what was requested at or below it; one that does not fails to create its entry.

An entry has several items if its author decided announced instants (`timeline.announcements`). Their content stays in
the announcements until the instants are on the timeline.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple, get_args

from ..clock import to_instant, to_millis
from ..errors import Damaged, Unsupported
from ..json_text import parse_json
from ..storage import NotFound, Storage, create_or_get, put_own, together
from .announcements import Announced, announced_data, named
from .checked import Checked
from .cuts import newest_cut, numbers_in
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER as TIMELINE

FOLDER: Final = ".hoodie/.nbcc/decisions"
PATIENCE_SECONDS: Final = 3600.0
"""For how long an entry stays after the next one, so that an actor in time finds its number taken."""

NO_CONTENTS: Final[Mapping[Announced, bytes]] = {}

Kind = Literal["commit", "plan", "time"]

AUTHOR: Final = "author"
PLANNED: Final = ("compaction", "logcompaction", "clean", "rollback", "restore", AUTHOR)
"""The actions for whose plans an entry reserves times, one each, so that no two plans have the same time. The last time
is reserved for the author of the entry alone: for a write whose requested time is the barrier of its base files.
"""


class Decision(NamedTuple):
    """One item of an entry of the decision log: a decided instant.

    `number` is the number of the entry. `kind` is "commit" for a completing instant, "plan" for a new plan, and "time"
    for an item that only reserves a time. `action` is the action of the pending instant. `time` is the completion time
    if `kind` is "commit", and the requested time if `kind` is "plan". `data` is the content of the timeline file that
    the item decides. It is empty if the content is in `announced`, the announcement of the instant. A restore has both:
    its announcement has the time at which it was asked for, and the author of the entry makes its plan.
    """

    number: int
    kind: Kind
    requested: str
    action: str
    time: str
    data: bytes = b""
    announced: Announced | None = None

    @property
    def instant(self) -> Instant:
        """The instant that the item decides."""
        if self.kind == "plan":
            return Instant(self.requested, self.action, "requested")
        return Instant(self.requested, COMPLETES_AS.get(self.action, self.action), "completed", self.time)


class LogEntry(NamedTuple):
    """One entry of the decision log: the instants that it decides, in the order of their times. `reserved` is a time
    later than the times of all items: the first of the times that the entry reserves for plans made from the entries up
    to this one. It is '' in an entry that was put under the table's lock. `planned` is the number of the last entry, up
    to this one, that decides a plan, or 0. `floor` is the greatest time at or below which instants may be archived.
    Every later entry has at least this floor. `decision` is the table's `nbcc.decision` since the entry, if the table
    was converted; later announced entries carry it. `author` is the token of an author that alone may use the time of
    `AUTHOR`, or ''.
    """

    number: int
    items: tuple[Decision, ...] = ()
    reserved: str = ""
    planned: int = 0
    floor: str = ""
    decision: str = ""
    author: str = ""

    @property
    def time(self) -> str:
        """The greatest time in the entry, which every time of a completion in a later entry must exceed."""
        if self.reserved:
            return self.plan_time(PLANNED[-1])
        return max((item.time for item in self.items), default="")

    def plan_time(self, action: str) -> str:
        """Return the time that the entry reserves for a plan with the given action. Everything that completed before
        this time is decided by this entry or an earlier one.
        """
        # Steps of two keep the odd parity of `reserved`. Requested times of announced writes are even, so the two never
        # meet.
        return to_instant(to_millis(self.reserved) + 2 * PLANNED.index(action))

    def decides(self, name: Announced) -> Decision | None:
        """Return the item that decides the announced instant, if there is one."""
        return next((item for item in self.items if item.announced == name), None)

    def item(self, requested: str) -> Decision | None:
        """Return the item that decides the instant requested at `requested`, if there is one."""
        return next((item for item in self.items if item.requested == requested), None)


def put_decision(storage: Storage, decision: Decision) -> bool:
    """Put an entry with one item into the decision log. See `put_entry`."""
    return put_entry(storage, LogEntry(decision.number, (decision,)))


def put_entry(storage: Storage, entry: LogEntry) -> bool:
    """Put an entry into the decision log; return False if another writer has already put an entry with the same number.
    An existing entry with the same number and content counts as success.
    """
    return put_own(storage, _path(entry.number), _encode(entry))


def rival_of(storage: Storage, entry: LogEntry) -> LogEntry | None:
    """Put an entry into the decision log, like `put_entry`. Returns None if it was put, and otherwise the entry that
    another writer has put under its number. Raises `NotFound` if that entry has been deleted.
    """
    there = create_or_get(storage, _path(entry.number), _encode(entry))
    return None if there is None else _decode(entry.number, there)


def last_entry(storage: Storage, known: LogEntry | None = None) -> LogEntry | None:
    """Return the decision-log entry with the greatest number, found by one listing and one get; None if the log is
    empty. If `known` has that number, it is returned without the get: the greatest number is never used again.

    The timeline is listed ahead only from here on. A listing that began before the log was listed may miss an instant
    that was decided before the last entry, also if it shows the instants of that entry or the entry has none.
    """
    while (number := max(_numbers(storage), default=None)) is not None:
        storage.list_ahead(TIMELINE)
        if known is not None and known.number == number:
            return known
        # One less than the number, because a listing omits the remembered path itself, and the last entry must stay
        # visible.
        storage.remember(FOLDER, _path(number - 1))
        try:
            return _decode(number, storage.get(_path(number)))
        except NotFound:  # deleted since: this actor has stood still, and there are later ones
            # The listings that were begun are as old as the deleted entry.
            storage.forget_listings()
    return None


def _numbers(storage: Storage) -> list[int]:
    """Return the sequence numbers of the entries in the decision log. In an object store, the listing starts at the
    newest cut or at the last entry that was read.
    """
    remember_cut(storage)
    return numbers_in(storage.list_new(FOLDER))


def remember_cut(storage: Storage) -> None:
    """Make listings of the decision log start at the newest cut. For an object store, the cuts are listed only before
    the first listing of the log.
    """
    if storage.is_remote and not storage.last_seen(FOLDER):
        # One before the cut, so that a listing shows an entry even if the cut names the last one.
        storage.remember(FOLDER, _path(max(0, newest_cut(storage) - 1)))


def forget_before(storage: Storage, number: int) -> None:
    """Delete the decision-log entries before `number` that are more than an hour older than the newest entry. `number`
    must not exceed the newest cut.
    """
    entries = [entry for entry in storage.list(FOLDER) if entry.path.rpartition("/")[2].isdecimal()]
    # The store's own times on both sides, so that the clock of this machine does not matter.
    bound = max((entry.modified for entry in entries), default=0.0) - PATIENCE_SECONDS
    old = [entry.path for entry in entries if entry.modified < bound and entry.path < _path(number)]
    if old:
        storage.delete_all(old)


def carry_out(storage: Storage, entry: LogEntry, contents: Mapping[Announced, bytes] = NO_CONTENTS) -> None:
    """Put the instants of an entry onto the timeline in ascending order of time, each after the previous put has
    ended. An instant that is on the timeline already stays as it is. `contents` has what the caller has read of the
    announcements.
    """
    # A reader that sees a completed instant must see all that completed before it.
    for item in entry.items:
        _put(storage, item, contents)


def carry_out_at_once(storage: Storage, items: Sequence[Decision], contents: Mapping[Announced, bytes]) -> None:
    """Put instants of an entry onto the timeline at the same time, or in the order of `items` if the storage executes
    one call after the other.
    """
    together(storage, [partial(_put, storage, item, contents) for item in items])


def _put(storage: Storage, item: Decision, contents: Mapping[Announced, bytes]) -> None:
    data = item.data or (contents.get(item.announced) if item.announced is not None else None)
    if item.kind != "time" and (data := data or _data_of(storage, item)) is not None:
        storage.put_if_absent(f"{TIMELINE}/{item.instant.file_name}", data)


def _data_of(storage: Storage, item: Decision) -> bytes | None:
    """Return the content of an item's timeline file; None if another actor has put the file, perhaps archived it since,
    and has deleted the announcement with the content. Raises `Damaged` if there is neither, and no later entry.
    """
    if item.announced is None:
        return item.data
    data = announced_data(storage, item.announced)
    path = f"{TIMELINE}/{item.instant.file_name}"
    is_gone = data is None and all(entry.path != path for entry in storage.list(TIMELINE))
    # A later entry proves that this one was carried out, so both files may have been archived and deleted since.
    if is_gone and max(_numbers(storage), default=0) <= item.number:
        raise Damaged(
            f"carry out the entry {item.number} of the decision log",
            f"neither {path} nor the announcement {item.announced.path} exists",
            "restore one of the two from a copy: no writer can commit before",
        )
    return data


def is_carried_out(storage: Storage, entry: LogEntry) -> bool:
    """Return whether the timeline contains every instant that the entry decides. Raises `Damaged` if a timeline file
    differs from the content in the entry.
    """
    return not unpublished(storage, entry)


def unpublished(storage: Storage, entry: LogEntry) -> list[Decision]:
    """Return the items of an entry whose instants are not on the timeline. See `is_carried_out`."""
    sizes: dict[str, int] = {}
    if storage.lists_ahead or any(item.announced for item in entry.items):
        sizes = {listed.path: listed.size for listed in storage.list(TIMELINE)}
    return [item for item in entry.items if not _is_published(storage, item, sizes)]


def _is_published(storage: Storage, item: Decision, sizes: Mapping[str, int]) -> bool:
    """`sizes` maps the paths on the timeline to their sizes. It is empty if the timeline was not listed."""
    if item.kind == "time":
        return True
    path = f"{TIMELINE}/{item.instant.file_name}"
    if item.announced is not None or (storage.lists_ahead and path not in sizes):
        return path in sizes
    if storage.lists_ahead and sizes[path] == len(item.data):  # an object store puts a whole object or none
        return True
    try:
        there = storage.get(path)
    except NotFound:
        return False
    if there != item.data:
        raise Damaged(
            f"read {path}",
            f"it has {len(there)} bytes that are not those of the decision {item.number}",
            "delete the file: the next writer puts it again from the decision",
        )
    return True


def _path(number: int) -> str:
    return f"{FOLDER}/{number:020d}"


def _encode(entry: LogEntry) -> bytes:
    """Encode an entry: in format 1 if it has one item with its content, so that older releases can read it."""
    first = entry.items[0] if len(entry.items) == 1 else None
    if first is not None and first.announced is None and not (entry.reserved or entry.floor or entry.decision):
        return json.dumps({"format": 1, **_fields(first)}).encode() + b"\n" + first.data
    items = [_fields(item) | {"bytes": len(item.data)} for item in entry.items]
    names = ("reserved", "planned", "floor", "decision", *(["author"] if entry.author else []))
    head = {"format": 2, **{name: getattr(entry, name) for name in names}, "items": items}
    return json.dumps(head).encode() + b"\n" + b"".join(item.data for item in entry.items)


def _fields(item: Decision) -> dict[str, Any]:
    fields = {"kind": item.kind, "requested": item.requested, "action": item.action, "time": item.time}
    return fields | ({} if item.announced is None else {"announced": item.announced.file_name})


def _decode(number: int, content: bytes) -> LogEntry:
    """Decode an entry of the decision log; raise `Damaged` if it is invalid. An empty or truncated entry is an error,
    because ignoring it would let another writer reuse its number.
    """
    name, asked = _path(number), f"read the decision {number}"
    checked = Checked(name)
    head, end, data = content.partition(b"\n")
    try:
        if not end:
            raise ValueError("its first line has no end")
        fields = parse_json(head)
        if fields["format"] == 1:
            return LogEntry(number, (_item(number, fields, data, checked),))
        if fields["format"] != 2:
            remedy = "use a release of nbcc that knows it"
            raise Unsupported(asked, f"it has format {fields['format']}", remedy)
        items = tuple(_items(number, fields["items"], data, checked))
        reserved, floor = (checked.instant_or_none(fields[name]) for name in ("reserved", "floor"))
        planned, decision = checked.size(fields["planned"]), checked.text(fields["decision"])
        return LogEntry(number, items, reserved, planned, floor, decision, checked.text(fields.get("author", "")))
    except (ValueError, KeyError, TypeError, RecursionError) as broken:
        raise Damaged(
            asked,
            f"the {len(content)} bytes of {name} are not a decision ({broken})",
            "restore the file from a copy, or, if no writer is alive and the timeline lacks what it decided, "
            "delete it: that write was lost",
        ) from None


def _items(number: int, items: list[dict[str, Any]], data: bytes, checked: Checked) -> Iterator[Decision]:
    """Yield the items of an entry of format 2. `data` is the content of those items that have it in the entry."""
    start, time = 0, ""
    for fields in items:
        end = start + checked.size(fields.get("bytes"))
        item = _item(number, fields, data[start:end], checked)
        if item.time <= time:
            raise ValueError("its times do not ascend")
        yield item
        start, time = end, item.time
    if start != len(data):
        raise ValueError(f"its items have {start} bytes")


def _item(number: int, fields: dict[str, Any], data: bytes, checked: Checked) -> Decision:
    if fields["kind"] not in get_args(Kind):
        raise ValueError(f"its kind is {fields['kind']!r}")
    action = fields["action"] and checked.action(fields["action"])
    requested, time = checked.instant(fields["requested"]), checked.instant(fields["time"])
    announced = named(fields["announced"]) if "announced" in fields else None
    if "announced" in fields and announced is None:
        raise ValueError(f"{fields['announced']!r} does not name an announcement")
    if not data and fields["kind"] == "commit" and announced is None:
        raise ValueError("it holds no commit")
    return Decision(number, fields["kind"], requested, action, time, data, announced)
