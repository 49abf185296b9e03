"""What a restore says that it undoes, and the timeline without it (hudi-format §4.9).

The plan counts from when it is on the timeline: whoever lists the timeline then sees nothing of what it names, whether
or not that is gone already, and whatever a writer that slept through it puts afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import Cleaned
from ..file_names import parse_base, parse_log, split_path
from ..storage import NotFound, Storage
from .checked import Checked
from .container import decode_record, encode_record, understood
from .instant import HOME, Instant
from .rollbacks import RollbackPlan, rollback_record

ACTION: Final = "restore"
_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """The restore requested then, to the instant (by its requested time) that a savepoint pins.

    `undone`: (requested time, action) of each instant that goes, in the order in which they go.
    """

    requested: str
    savepoint: str
    undone: tuple[tuple[str, str], ...]


def encode_restore_plan(plan: RestorePlan) -> bytes:
    """The bytes of ``<r>.restore.requested``."""
    record = {
        "instantsToRollback": _instants(plan),
        "version": _VERSION,
        "savepointToRestoreTimestamp": plan.savepoint,
    }
    return encode_record("restore_plan", record)


def decode_restore_plan(data: bytes, requested: str) -> RestorePlan:
    """The plan in the bytes of ``<r>.restore.requested``, whoever wrote them."""
    name = Instant(requested, ACTION, "requested").file_name
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        undone = tuple(
            (checked.instant(each["commitTime"]), checked.action(each["action"]))
            for each in record.get("instantsToRollback") or ()
        )
        return RestorePlan(requested, checked.instant_or_none(record.get("savepointToRestoreTimestamp")), undone)


def load_restore_plan(storage: Storage, requested: str) -> RestorePlan:
    """The plan of the restore requested then; an empty one where its file is gone, as other engines may leave it."""
    try:
        data = storage.get(f"{HOME}/{Instant(requested, ACTION, 'requested').file_name}")
    except NotFound:
        return RestorePlan(requested, "", ())
    return decode_restore_plan(data, requested)


def encode_restore(plan: RestorePlan, deleted: Mapping[str, Sequence[str]], url: str, millis: int) -> bytes:
    """The bytes of the completed restore; `deleted`: requested time of each instant -> the paths that went with it."""
    rolled_back = {
        requested: [rollback_record(plan.requested, RollbackPlan(requested, action), deleted.get(requested, ()), url)]
        for requested, action in plan.undone
    }
    record = {
        "startRestoreTime": plan.requested,
        "timeTakenInMillis": millis,
        "instantsToRollback": [requested for requested, _ in plan.undone],
        "hoodieRestoreMetadata": rolled_back,
        "version": 1,
        "restoreInstantInfo": _instants(plan),
    }
    return encode_record(ACTION, record)


def file_restored_away(storage: Storage, path: str) -> Cleaned | None:
    """Why the data file at `path` is gone: the restore that has undone who put it; None if none has."""
    name = split_path(path)[1]
    named = parse_base(name) or parse_log(name)
    return restored_away(storage, named.instant, path) if named else None


def restored_away(storage: Storage, instant: str, what: str) -> Cleaned | None:
    """Why what the instant requested then had put is gone: the restore that has undone it; None if none has."""
    for entry in storage.list(HOME):
        name = entry.path.rpartition("/")[2]
        requested, _, state = name.partition(".")
        if state == f"{ACTION}.requested" and instant in dict(load_restore_plan(storage, requested).undone):
            return Cleaned(
                f"read {what}",
                f"the restore {requested} has undone the instant {instant}, which had put it",
                "read again, at a newer time",
            )
    return None


def _instants(plan: RestorePlan) -> list[dict[str, str]]:
    return [{"commitTime": requested, "action": action} for requested, action in plan.undone]
