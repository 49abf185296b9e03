"""Encodes and decodes restore plans and completed restores (docs/hudi-format.md).

A restore plan takes effect once it is on the timeline: readers then ignore the instants that it lists. Data files of
undone instants may still exist, and a paused writer may put more of them after the restore.
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
    """The plan of a restore to a savepoint; `savepoint` is the savepoint's requested time.

    `undone` contains the pair (requested time, action) of each instant to undo, in the order of undoing.
    """

    requested: str
    savepoint: str
    undone: tuple[tuple[str, str], ...]


def encode_restore_plan(plan: RestorePlan) -> bytes:
    """Return the content of the file ``<r>.restore.requested``."""
    record = {
        "instantsToRollback": _instants(plan),
        "version": _VERSION,
        "savepointToRestoreTimestamp": plan.savepoint,
    }
    return encode_record("restore_plan", record)


def decode_restore_plan(data: bytes, requested: str) -> RestorePlan:
    """Decode the content of a restore plan file, written by nbcc or by Hudi."""
    name = Instant(requested, ACTION, "requested").file_name
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        undone = tuple(
            (checked.instant(each["commitTime"]), checked.action(each["action"]))
            for each in record.get("instantsToRollback") or ()
        )
        return RestorePlan(requested, checked.instant_or_none(record.get("savepointToRestoreTimestamp")), undone)


def load_restore_plan(storage: Storage, requested: str) -> RestorePlan:
    """Return the restore plan with the requested time `requested`. If another engine wrote no plan file, the plan is
    empty.
    """
    try:
        data = storage.get(f"{HOME}/{Instant(requested, ACTION, 'requested').file_name}")
    except NotFound:
        return RestorePlan(requested, "", ())
    return decode_restore_plan(data, requested)


def encode_restore(plan: RestorePlan, deleted: Mapping[str, Sequence[str]], url: str, millis: int) -> bytes:
    """Return the content of the completed file of a restore. `deleted` maps the requested time of each undone instant
    to the deleted paths.
    """
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
    """Return the `Cleaned` error for a missing data file whose instant a restore has undone; None if no restore has
    undone it.
    """
    name = split_path(path)[1]
    named = parse_base(name) or parse_log(name)
    return restored_away(storage, named.instant, path) if named else None


def restored_away(storage: Storage, instant: str, what: str) -> Cleaned | None:
    """If a restore has undone `instant`, return a `Cleaned` error that explains why the file `what` is missing;
    otherwise, return None.
    """
    for entry in storage.list(HOME):
        name = entry.path.rpartition("/")[2]
        requested, _, state = name.partition(".")
        # The requested state decides, not the completed one: a restore takes effect when its plan is published.
        if state == f"{ACTION}.requested" and instant in dict(load_restore_plan(storage, requested).undone):
            return Cleaned(
                f"read {what}",
                f"the restore {requested} has undone the instant {instant}, which wrote it",
                "read again, at a newer time",
            )
    return None


def _instants(plan: RestorePlan) -> list[dict[str, str]]:
    return [{"commitTime": requested, "action": action} for requested, action in plan.undone]
