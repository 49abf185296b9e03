"""Encodes and decodes rollback plans and completed rollbacks (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..file_names import in_partition
from ..storage import Storage
from .checked import Checked
from .container import decode_record, encode_record, understood
from .instant import HOME, Instant


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """A rollback plan: the requested time and the action of the pending instant to undo, and the paths of its data
    files.
    """

    target: str
    action: str
    files: tuple[str, ...] = ()


def encode_rollback_plan(plan: RollbackPlan, url: str) -> bytes:
    """Return the content of the file ``<r>.rollback.requested``. `url` is the table's root; the file paths in Hudi's
    plans begin with it.
    """
    requests = [
        {
            "partitionPath": path.rpartition("/")[0],
            "fileId": "",
            "latestBaseInstant": "",
            "filesToBeDeleted": [f"{url}/{path}"],
            "logBlocksToBeDeleted": {},
        }
        for path in plan.files
    ]
    target = {"commitTime": plan.target, "action": plan.action}
    return encode_record("rollback plan", {"instantToRollback": target, "RollbackRequests": requests, "version": 1})


def decode_rollback_plan(data: bytes, name: str = "rollback plan") -> RollbackPlan:
    """Decode a rollback plan written by nbcc or by Hudi."""
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        target = record["instantToRollback"]
        files = (
            in_partition(checked.partition(request.get("partitionPath") or ""), checked.data_file(_name(path)))
            for request in record.get("RollbackRequests") or ()
            for path in request.get("filesToBeDeleted") or ()
        )
        return RollbackPlan(checked.instant(target["commitTime"]), checked.action(target["action"]), tuple(files))


def load_rollback_plan(storage: Storage, requested: str) -> RollbackPlan:
    """Return the rollback plan with the requested time `requested`. Raises `NotFound` if the plan file is missing."""
    name = Instant(requested, "rollback", "requested").file_name
    return decode_rollback_plan(storage.get(f"{HOME}/{name}"), name)


def encode_rollback(requested: str, plan: RollbackPlan, deleted: Sequence[str], url: str) -> bytes:
    """Return the content of the completed file of a rollback; `requested` is the rollback's requested time."""
    return encode_record("rollback", rollback_record(requested, plan, deleted, url))


def rollback_record(requested: str, plan: RollbackPlan, deleted: Sequence[str], url: str) -> dict[str, Any]:
    """Return the record of a completed rollback, which is also used in completed restores. The duration in a rollback
    record is always 0.
    """
    partitions: dict[str, list[str]] = {}
    for path in deleted:
        partitions.setdefault(path.rpartition("/")[0], []).append(f"{url}/{path}")
    return {
        "startRollbackTime": requested,
        "timeTakenInMillis": 0,
        "totalFilesDeleted": len(deleted),
        "commitsRollback": [plan.target],
        "partitionMetadata": {
            partition: {
                "partitionPath": partition,
                "successDeleteFiles": paths,
                "failedDeleteFiles": [],
                "rollbackLogFiles": {},
                "logFilesFromFailedCommit": {},
            }
            for partition, paths in partitions.items()
        },
        "version": 1,
        "instantsRollback": [{"commitTime": plan.target, "action": plan.action}],
    }


def _name(path: str) -> str:
    return path.rpartition("/")[2]
