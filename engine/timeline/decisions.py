"""The decision log: what commits, and in which order, is decided by entries that are put if absent under dense numbers.

A lock can be lost between any two steps of its holder. So where a table's commits are decided by the log, publishing an
instant is three things: whoever wants the next number first publishes what the last one decided; its entry holds the
time, greater than the last one's, and all that others need to publish it; then it publishes. An entry is never changed
or removed: a number that was free again could be taken twice. A plan's barrier takes a number like a commit.
"""

from __future__ import annotations

import json
from typing import Final, Literal, NamedTuple

from ..errors import Unsupported
from ..storage import NotFound, Storage, put_own
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER as TIMELINE

FOLDER: Final = ".hoodie/.nbcc/decisions"

Kind = Literal["commit", "plan", "time"]


class Decision(NamedTuple):
    """One entry.

    `kind`: an instant commits; a plan is made; or only a time is taken, after which every decision lies. `action` is
    the pending one, `time` the completion time or the barrier, `data` the content of the file on the timeline.
    """

    number: int
    kind: Kind
    requested: str
    action: str
    time: str
    data: bytes = b""

    @property
    def instant(self) -> Instant:
        """What it puts on the timeline."""
        if self.kind == "plan":
            return Instant(self.requested, self.action, "requested")
        return Instant(self.requested, COMPLETES_AS.get(self.action, self.action), "completed", self.time)


def put_decision(storage: Storage, decision: Decision) -> bool:
    """Take its number; False if another writer has. An entry of the same content is ours (`put_own`)."""
    return put_own(storage, _path(decision.number), _encode(decision))


def last_decision(storage: Storage) -> Decision | None:
    """The entry with the greatest number: one listing and one get. None if nothing was decided yet."""
    numbers = [entry.path.rpartition("/")[2] for entry in storage.list(FOLDER)]
    found = max((int(name) for name in numbers if name.isdecimal()), default=None)
    return None if found is None else _decode(found, storage.get(_path(found)))


def publish(storage: Storage, decision: Decision) -> None:
    """Put what was decided onto the timeline, unless it is there."""
    if decision.kind != "time":
        storage.put_if_absent(f"{TIMELINE}/{decision.instant.file_name}", decision.data)


def is_published(storage: Storage, decision: Decision) -> bool:
    """Whether the timeline holds it."""
    if decision.kind == "time":
        return True
    try:
        storage.get(f"{TIMELINE}/{decision.instant.file_name}")
    except NotFound:
        return False
    return True


def _path(number: int) -> str:
    return f"{FOLDER}/{number:020d}"


def _encode(decision: Decision) -> bytes:
    told = {"format": 1, "kind": decision.kind, "requested": decision.requested, "action": decision.action}
    return json.dumps({**told, "time": decision.time}).encode() + b"\n" + decision.data


def _decode(number: int, content: bytes) -> Decision:
    head, _, data = content.partition(b"\n")
    told = json.loads(head)
    if told["format"] != 1:
        raise Unsupported(
            f"read the decision {number}", f"it has format {told['format']}", "use a release of nbcc that knows it"
        )
    return Decision(number, told["kind"], told["requested"], told["action"], told["time"], data)
