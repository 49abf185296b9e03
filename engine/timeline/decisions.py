"""The decision log: numbered entries, put if absent, decide which instants commit and in which order.

A lock can be lost between any two steps of its holder. So with `decision = log` a writer publishes in three steps.
First the writer publishes the last entry, if that entry's writer has not. Then the writer puts the next entry, with a
greater time and everything that other writers need to publish it. Then the writer publishes its own entry. Entries are
never changed or deleted: a number that became free could be taken twice. A plan takes a number like a commit.
"""

from __future__ import annotations

import json
from typing import Final, Literal, NamedTuple, get_args

from ..errors import Damaged, Unsupported
from ..storage import NotFound, Storage, put_own
from .checked import Checked
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER as TIMELINE

FOLDER: Final = ".hoodie/.nbcc/decisions"

Kind = Literal["commit", "plan", "time"]


class Decision(NamedTuple):
    """One entry.

    `kind`: an instant commits, a plan is made, or only a time is taken, which all later decisions exceed. `action`: the
    pending action. `time`: the completion time, or the barrier of a plan. `data`: the content of the timeline file.
    """

    number: int
    kind: Kind
    requested: str
    action: str
    time: str
    data: bytes = b""

    @property
    def instant(self) -> Instant:
        """The instant that the entry publishes."""
        if self.kind == "plan":
            return Instant(self.requested, self.action, "requested")
        return Instant(self.requested, COMPLETES_AS.get(self.action, self.action), "completed", self.time)


def put_decision(storage: Storage, decision: Decision) -> bool:
    """Put the entry; False if another writer has taken the number. Equal content counts as success (`put_own`)."""
    return put_own(storage, _path(decision.number), _encode(decision))


def last_decision(storage: Storage) -> Decision | None:
    """The entry with the greatest number, by one listing and one get; None for an empty log."""
    numbers = [entry.path.rpartition("/")[2] for entry in storage.list(FOLDER)]
    number = max((int(name) for name in numbers if name.isdecimal()), default=None)
    return None if number is None else _decode(number, storage.get(_path(number)))


def publish(storage: Storage, decision: Decision) -> None:
    """Put the entry's instant onto the timeline if absent."""
    if decision.kind != "time":
        storage.put_if_absent(f"{TIMELINE}/{decision.instant.file_name}", decision.data)


def is_published(storage: Storage, decision: Decision) -> bool:
    """Whether the timeline has the entry's instant. `Damaged` if that file is empty or differs."""
    if decision.kind == "time":
        return True
    path = f"{TIMELINE}/{decision.instant.file_name}"
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
    """Decode an entry of the decision log. An empty or truncated file is an error: if it counted as absent, its number
    would be taken again and its decision lost.
    """
    name, asked = _path(number), f"read the decision {number}"
    checked = Checked(name)
    head, end, data = content.partition(b"\n")
    try:
        if not end:
            raise ValueError("its first line has no end")
        entry = json.loads(head)
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
