"""Announcements: a writer announces an instant, and another actor may decide and publish it.

An announcement is the object ``.hoodie/.nbcc/announced/<name>``, which is put if absent after the last data file and
never changes. It has all that another actor needs: the content of the timeline file, and what must be checked before
the instant is decided. Its name is ``<requested>.<action>`` for a completed instant, and
``<requested>.<action>.requested`` for a plan. ``.checked`` follows if an actor must read it before it decides. An
announcement is deleted after its instant is on the timeline.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ..errors import Damaged, Unsupported
from ..json_text import parse_json
from ..storage import NotFound, Storage, put_own
from .checked import Checked

FOLDER: Final = ".hoodie/.nbcc/announced"

Bucket = tuple[str, int | None]
"""(partition, bucket)."""

_NAME: Final = re.compile(r"([0-9]{17})\.([a-z]+)(\.requested)?(\.checked)?")


class Announced(NamedTuple):
    """The name of an announcement. `is_plan` states whether the plan of the instant is announced, or its completion.
    `is_checked` states whether an actor must read the announcement before it decides the instant.
    """

    requested: str
    action: str
    is_plan: bool = False
    is_checked: bool = False

    @property
    def file_name(self) -> str:
        ends = (".requested" if self.is_plan else "") + (".checked" if self.is_checked else "")
        return f"{self.requested}.{self.action}{ends}"

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.file_name}"


class Footprint(NamedTuple):
    """What an optimistic write has read and written, for the conflict check (RFC-22, step 4).

    `buckets` are the file groups that the write has files in. `partitions` are the partitions that it has read; None
    means the whole table. `bases` are the buckets in which a bulk insert puts base files: no other write may have
    completed there, in any concurrency mode, and no plan be pending. `known` contains the requested times of the
    completed instants that the writer saw on the active timeline when it began. If the write is based on an earlier
    state of the table, `as_of` is the completion time of that state, and `known` is empty.
    """

    buckets: tuple[Bucket, ...]
    partitions: tuple[str, ...] | None = ()
    known: tuple[str, ...] = ()
    as_of: str = ""
    bases: tuple[Bucket, ...] = ()


class Announcement(NamedTuple):
    """An announced instant. `data` is the content of its timeline file.

    `token` identifies the attempt at the instant. `batch_id` and `footprint` are checked before the instant is decided.
    `planned_from` is the number of the entry of the decision log from which a plan was made. `undoes` is the requested
    time of the write that the plan of a rollback undoes.
    """

    name: Announced
    data: bytes
    token: str = ""
    batch_id: str | None = None
    footprint: Footprint | None = None
    planned_from: int = 0
    undoes: str = ""


def put_announcement(storage: Storage, announcement: Announcement) -> bool:
    """Announce an instant; return False if another attempt at the same instant has announced it first."""
    return put_own(storage, announcement.name.path, _encode(announcement))


def announced_instants(storage: Storage) -> list[Announced]:
    """Return the names of all announcements, by one listing, in the order of their requested times. Other objects
    in the folder are ignored: they decide nothing.
    """
    found = (named(entry.path.rpartition("/")[2]) for entry in storage.list(FOLDER))
    return [each for each in found if each is not None]


def named(file_name: Any) -> Announced | None:
    """Return the announcement with a file name; None if it is not the name of an announcement."""
    parsed = _NAME.fullmatch(file_name) if isinstance(file_name, str) else None
    return Announced(parsed[1], parsed[2], bool(parsed[3]), bool(parsed[4])) if parsed else None


def load_announcement(storage: Storage, name: Announced) -> Announcement | None:
    """Read an announcement; return None if it was deleted, because its instant is decided and published or rolled back.
    Raises `Damaged` if its content is invalid.
    """
    try:
        return _decode(name, storage.get(name.path))
    # No error: a rival decided and published the instant, or rolled it back, and then deleted the announcement.
    except NotFound:
        return None


def announced_data(storage: Storage, name: Announced) -> bytes | None:
    """Return the content of the timeline file of an announced instant; None if its announcement was deleted."""
    announcement = load_announcement(storage, name)
    return None if announcement is None else announcement.data


def forget_announcements(storage: Storage, names: Sequence[Announced]) -> None:
    """Delete announcements of instants that are on the timeline or rolled back, and so are never decided again."""
    if names:
        storage.delete_all([name.path for name in names])


def _encode(announcement: Announcement) -> bytes:
    values = announcement._asdict()
    footprint = announcement.footprint and announcement.footprint._asdict()
    head = {name: values[name] for name in ("token", "batch_id", "planned_from", "undoes")}
    return json.dumps({"format": 1, **head, "footprint": footprint}).encode() + b"\n" + announcement.data


def _decode(name: Announced, content: bytes) -> Announcement:
    asked, checked = f"read the announcement {name.path}", Checked(name.path)
    head, end, data = content.partition(b"\n")
    try:
        # A power failure can truncate a local file. Without this check, a truncated head would be parsed as a whole
        # one.
        if not end:
            raise ValueError("its first line has no end")
        fields = parse_json(head)
        if fields["format"] != 1:
            raise Unsupported(asked, f"it has format {fields['format']}", "use a release of nbcc that knows it")
        batch_id = fields["batch_id"]
        return Announcement(
            name,
            data,
            checked.text(fields["token"]),
            None if batch_id is None else checked.text(batch_id),
            None if fields["footprint"] is None else _footprint(fields["footprint"], checked),
            checked.size(fields["planned_from"]),
            checked.instant_or_none(fields["undoes"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as broken:
        raise Damaged(
            asked,
            f"its {len(content)} bytes are not an announcement ({broken})",
            "restore the file from a copy; if no writer is alive and no entry of the decision log names it, delete it",
        ) from None


def _footprint(fields: dict[str, Any], checked: Checked) -> Footprint:
    partitions = fields["partitions"]
    written, based = (
        tuple((checked.partition(partition), bucket) for partition, bucket in fields[name])
        for name in ("buckets", "bases")
    )
    return Footprint(
        written,
        None if partitions is None else tuple(map(checked.partition, partitions)),
        tuple(map(checked.instant, fields["known"])),
        checked.instant_or_none(fields["as_of"]),
        based,
    )
