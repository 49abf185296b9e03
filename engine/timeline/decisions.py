"""The decision log: what commits, and in which order, is decided by entries that are put if absent under dense numbers.

A lock can be lost between any two steps of its holder. So where a table's commits are decided by the log, publishing an
instant is three things: whoever wants the next number first publishes what the last one decided; its entry holds the
time, greater than the last one's, and all that others need to publish it; then it publishes. An entry is never changed
or removed: a number that was free again could be taken twice. A plan's barrier takes a number like a commit.
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
    """Whether the timeline holds it. `Damaged` if the timeline's file is empty or holds something else."""
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
    told = {"format": 1, "kind": decision.kind, "requested": decision.requested, "action": decision.action}
    return json.dumps({**told, "time": decision.time}).encode() + b"\n" + decision.data


def _decode(number: int, content: bytes) -> Decision:
    """The entry in a file's bytes. An empty or torn one is an error: read as no entry, its number would be free again,
    and what it decided would be lost."""
    name, asked = _path(number), f"read the decision {number}"
    checked = Checked(name)
    head, end, data = content.partition(b"\n")
    try:
        if not end:
            raise ValueError("its first line has no end")
        told = json.loads(head)
        if told["format"] != 1:
            remedy = "use a release of nbcc that knows it"
            raise Unsupported(asked, f"it has format {told['format']}", remedy)
        if told["kind"] not in get_args(Kind):
            raise ValueError(f"its kind is {told['kind']!r}")
        action = told["action"] and checked.action(told["action"])
        decision = Decision(
            number, told["kind"], checked.instant(told["requested"]), action, checked.instant(told["time"]), data
        )
        if not data and decision.kind == "commit":
            raise ValueError("it holds no commit")
        return decision
    except (ValueError, KeyError, TypeError, RecursionError) as broken:
        raise Damaged(
            asked,
            f"the {len(content)} bytes of {name} are not a decision ({broken})",
            "restore the file from a copy, or, if no writer lives and the timeline does not hold what it decided, "
            "delete it: that write was lost",
        ) from None
