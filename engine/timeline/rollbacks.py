"""What a rollback says that it will do and has done (hudi-format §4.7)."""

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
    """The pending instant to undo: its requested time, its action, and the data files (paths) found when planning."""

    target: str
    action: str
    files: tuple[str, ...] = ()


def encode_rollback_plan(plan: RollbackPlan, url: str) -> bytes:
    """The bytes of ``<r>.rollback.requested``; `url` is the table's root, files are named in full, as Hudi does."""
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
    """The plan in a file's bytes, whoever wrote it."""
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
    """The plan of the rollback requested then; raises `NotFound` if there is none."""
    name = Instant(requested, "rollback", "requested").file_name
    return decode_rollback_plan(storage.get(f"{HOME}/{name}"), name)


def encode_rollback(requested: str, plan: RollbackPlan, deleted: Sequence[str], url: str) -> bytes:
    """The bytes of the completed rollback that was requested then."""
    return encode_record("rollback", rollback_record(requested, plan, deleted, url))


def rollback_record(requested: str, plan: RollbackPlan, deleted: Sequence[str], url: str) -> dict[str, Any]:
    """What a completed rollback says, and a restore of each instant. Its duration is not told: 0."""
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
    """The name of a file that is named in full."""
    return path.rpartition("/")[2]
