"""Encodes and decodes compaction plans (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..storage import Storage
from .checked import Checked
from .container import decode_record, encode_record, understood
from .instant import Instant
from .metadata import OWN_KEY, REPLACES
from .timeline import FOLDER

LOG_COMPACTION: Final = "logcompaction"

_LOG_COMPACTOR: Final = "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"

SORT_BY: Final = "nbcc.sort_by"
"""Extra metadata of a plan: the comma-separated columns by which its base files are sorted."""

_PLAN_VERSION: Final = 2  # operations hold file names, not full paths


@dataclass(frozen=True, slots=True)
class CompactionOperation:
    """One file group of a compaction plan: the name of the base file (or None), and the names of the logs in merge
    order.

    `base_instant` is the requested time of the base file, or of the first log if there is no base file.
    """

    partition: str
    file_id: str
    base_instant: str
    base_file: str | None
    logs: tuple[str, ...]
    log_bytes: int = 0
    base_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """The plan of a compaction, log compaction or replacing write. In every file group of the plan, the plan's
    requested time separates the old file slice from the new one.
    """

    operations: tuple[CompactionOperation, ...]
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def groups(self) -> frozenset[tuple[str, str]]:
        """The pair (partition, file id) of every file group in the plan."""
        return frozenset((operation.partition, operation.file_id) for operation in self.operations)

    @property
    def own(self) -> bool:
        """Return whether nbcc wrote the plan."""
        return OWN_KEY in self.extra

    @property
    def replaces(self) -> bool:
        """Return whether the plan belongs to a replacing write."""
        return REPLACES in self.extra

    @property
    def sort_by(self) -> tuple[str, ...]:
        """The columns by which the compaction sorts the rows of its base files; () if the rows are not sorted."""
        return tuple(filter(None, self.extra.get(SORT_BY, "").split(",")))


def encode_plan(plan: CompactionPlan, action: str = "compaction") -> bytes:
    """Encode the content of a plan file, such as ``<b>.compaction.requested``; `action` is the plan's action."""
    of_logs = action == LOG_COMPACTION
    return encode_record(
        "compaction",
        {
            "operations": [_operation_record(operation) for operation in plan.operations],
            "extraMetadata": dict(plan.extra),
            "version": _PLAN_VERSION,
            "strategy": {"compactorClassName": _LOG_COMPACTOR, "strategyParams": {}, "version": 1} if of_logs else None,
            "preserveHoodieMetadata": of_logs,
            "missingSchedulePartitions": [],
        },
    )


def decode_plan(data: bytes, name: str = "plan") -> CompactionPlan:
    """Decode the content of a plan file; raises `Damaged` if it is invalid. `name` is the name of the file in error
    messages.
    """
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        operations = tuple(_operation(each, checked) for each in record.get("operations") or ())
        return CompactionPlan(operations, record.get("extraMetadata") or {})


def load_plan(storage: Storage, requested: str, action: str = "compaction") -> CompactionPlan:
    """Return the compaction or log compaction plan with the requested time `requested`. Raises `NotFound` if the plan
    file is missing.
    """
    name = Instant(requested, action, "requested").file_name
    return decode_plan(storage.get(f"{FOLDER}/{name}"), name)


def _operation_record(operation: CompactionOperation) -> dict[str, Any]:
    mebibyte = 2.0**20
    read = operation.log_bytes + operation.base_bytes
    return {
        "baseInstantTime": operation.base_instant,
        "deltaFilePaths": list(operation.logs),
        "dataFilePath": operation.base_file,
        "fileId": operation.file_id,
        "partitionPath": operation.partition,
        "metrics": {  # all five are required: Hudi's Spark executor unboxes them
            "TOTAL_LOG_FILES": float(len(operation.logs)),
            "TOTAL_LOG_FILES_SIZE": float(operation.log_bytes),
            "TOTAL_IO_READ_MB": read // mebibyte,
            "TOTAL_IO_WRITE_MB": operation.base_bytes // mebibyte,
            "TOTAL_IO_MB": (read + operation.base_bytes) // mebibyte,
        },
        "bootstrapFilePath": None,
    }


def _operation(record: Mapping[str, Any], checked: Checked) -> CompactionOperation:
    metrics = record.get("metrics") or {}
    base = record.get("dataFilePath")
    return CompactionOperation(
        partition=checked.partition(record.get("partitionPath") or ""),
        file_id=checked.name(record["fileId"]),
        base_instant=checked.instant_or_none(record.get("baseInstantTime")),
        base_file=checked.name(base.rpartition("/")[2]) if base else None,
        logs=tuple(checked.name(path.rpartition("/")[2]) for path in record.get("deltaFilePaths") or ()),
        log_bytes=int(metrics.get("TOTAL_LOG_FILES_SIZE", 0)),
    )
