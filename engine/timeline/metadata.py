"""Encodes and decodes commit metadata and compaction plans (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..json_text import parse_json
from ..storage import Storage
from .checked import Checked
from .container import decode_record, encode_record, understood
from .instant import Instant
from .timeline import FOLDER

OWN_KEY: Final = "nbcc.format"
"""Extra metadata that marks an instant as written by nbcc's rules."""

OWN_FORMAT: Final = "1"

REPLACES: Final = "nbcc.replaces"
"""Extra metadata of a replacing write (its plan and its commit): the name of the operation. Its rows replace everything
in its file groups before the plan's barrier."""

COVERS: Final = "nbcc.log.compaction"
"""Extra metadata of a log compaction of nbcc: JSON, path of each new log -> names of the logs that it replaces."""

RANGES: Final = "nbcc.ranges"
"""Extra metadata of a write of nbcc: JSON, the least and the greatest value of the first columns of each log."""

CHECKSUMS: Final = "nbcc.checksums"
"""Extra metadata of a write of nbcc: the CRC-32 of each log, as 8 hexadecimal digits, comma-separated in the order of
the partitions' paths and of the files in each partition; empty for a file that is not a log."""

LOG_COMPACTION: Final = "logcompaction"

_LOG_COMPACTOR: Final = "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"

SORT_BY: Final = "nbcc.sort_by"
"""Extra metadata of a plan: the comma-separated columns by which its base files are sorted."""

_PLAN_VERSION: Final = 2  # operations hold file names, not full paths


@dataclass(frozen=True, slots=True)
class WriteStat:
    """The statistics of one data file in a commit. `path` is relative to the table's root, `size` is in bytes, and
    `writes`, `deletes`, `inserts` and `updates` count rows.

    For a log file, `log_version` is set, and `log_files` contains the name of the log file itself. For a compacted base
    file, `prev_base_file` is the replaced base file, and the fields `log_*` count the merged logs. `checksum` is the
    CRC-32 of a log that nbcc wrote; '' for other files, because base files contain their checksums.
    """

    file_id: str
    path: str
    partition: str
    size: int
    prev_commit: str
    writes: int = 0
    deletes: int = 0
    inserts: int = 0
    updates: int = 0
    log_version: int | None = None
    log_files: tuple[str, ...] = ()
    prev_base_file: str | None = None
    log_records: int = 0
    log_blocks: int = 0
    log_files_compacted: int = 0
    log_size_compacted: int = 0
    checksum: str = ""

    @property
    def name(self) -> str:
        """The name of the data file, without its partition."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class CommitMetadata:
    """The metadata of a completed commit. `replaced` maps each partition to the ids of the file groups that the commit
    replaces.
    """

    stats: tuple[WriteStat, ...]
    operation: str
    compacted: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Return whether nbcc wrote the commit."""
        return OWN_KEY in self.extra

    @property
    def replaces(self) -> bool:
        """Return whether the commit is a replacing write, which hides all older writes in its file groups."""
        return REPLACES in self.extra

    @property
    def covers(self) -> Mapping[str, tuple[str, ...]]:
        """Return, for each new log of a log compaction by nbcc, the paths of the replaced logs in merge order."""
        if COVERS not in self.extra:
            return {}
        names_by_log: dict[str, list[str]] = parse_json(self.extra[COVERS])
        return {
            path: tuple(path[: path.rfind("/") + 1] + name for name in names) for path, names in names_by_log.items()
        }


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


def own_extra(schema: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the extra metadata of an instant written by nbcc: nbcc's format version, the table's schema as Avro JSON,
    and the entries of `more`.
    """
    return {"schema": schema, OWN_KEY: OWN_FORMAT, **(more or {})}


def encode_commit(commit: CommitMetadata) -> bytes:
    """Encode the content of an inflight or completed commit file."""
    stats: dict[str, list[dict[str, Any]]] = {}
    for stat in commit.stats:
        stats.setdefault(stat.partition, []).append(_stat_record(stat))
    extra = {key: value for key, value in commit.extra.items() if key != CHECKSUMS}
    if any(stat.checksum for stat in commit.stats):
        extra[CHECKSUMS] = ",".join(stat.checksum for stat in sorted(commit.stats, key=lambda stat: stat.partition))
    record = {
        "partitionToWriteStats": stats,
        "compacted": commit.compacted,
        "extraMetadata": extra,
        "version": 1,
        "operationType": commit.operation,
    }
    if not commit.replaced:
        return encode_record("commit", record)
    replaced = {partition: list(ids) for partition, ids in commit.replaced.items()}
    return encode_record("replacecommit", {**record, "partitionToReplaceFileIds": replaced})


def decode_commit(data: bytes, name: str = "commit") -> CommitMetadata:
    """Decode the content of a completed commit file; raises `Damaged` if it is invalid. `name` is the name of the file
    in error messages.
    """
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        by_partition = record.get("partitionToWriteStats") or {}
        replaced = record.get("partitionToReplaceFileIds") or {}
        extra = record.get("extraMetadata") or {}
        stats = [
            _stat(stat, checked.partition(partition), checked)
            for partition in sorted(by_partition)
            for stat in by_partition[partition]
            if stat.get("path")
        ]  # skip the stats of a workload profile, which have no file
        checksums = checksums_of(extra, len(stats))
        commit = CommitMetadata(
            stats=tuple(replace(s, checksum=c) if c else s for s, c in zip(stats, checksums, strict=True)),
            operation=record.get("operationType") or "UNKNOWN",
            compacted=bool(record.get("compacted")),
            extra=extra,
            replaced={checked.partition(p): tuple(map(checked.name, ids)) for p, ids in replaced.items()},
        )
        for path, names in commit.covers.items():
            checked.path(path)
            all(map(checked.path, names))
        return commit


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


def load_commit(storage: Storage, instant: Instant) -> CommitMetadata:
    """Return the metadata of a completed instant on the active timeline."""
    return decode_commit(storage.get(f"{FOLDER}/{instant.file_name}"), instant.file_name)


def load_plan(storage: Storage, requested: str, action: str = "compaction") -> CompactionPlan:
    """Return the compaction or log compaction plan with the requested time `requested`. Raises `NotFound` if the plan
    file is missing.
    """
    name = Instant(requested, action, "requested").file_name
    return decode_plan(storage.get(f"{FOLDER}/{name}"), name)


def _stat_record(stat: WriteStat) -> dict[str, Any]:
    log = stat.log_version is not None
    return {
        "fileId": stat.file_id,
        "path": stat.path,
        "prevCommit": stat.prev_commit,
        "numWrites": stat.writes,
        "numDeletes": stat.deletes,
        "numUpdateWrites": stat.updates,
        "totalWriteBytes": stat.size,
        "totalWriteErrors": 0,
        "partitionPath": stat.partition,
        "totalLogRecords": stat.log_records,
        "totalUpdatedRecordsCompacted": stat.writes if stat.log_files_compacted else 0,
        "numInserts": stat.inserts,
        "totalLogBlocks": stat.log_blocks,
        "totalCorruptLogBlock": 0,
        "totalRollbackBlocks": 0,
        "fileSizeInBytes": stat.size,
        "logVersion": stat.log_version,
        "logOffset": 0 if log else None,
        "baseFile": "" if log else None,
        "logFiles": list(stat.log_files or (stat.name,)) if log else None,
        "prevBaseFile": stat.prev_base_file,
        "totalLogFilesCompacted": stat.log_files_compacted,
        "totalLogReadTimeMs": 0,
        "totalLogSizeCompacted": stat.log_size_compacted,
        "numUpdates": 0,
    }


def checksums_of(extra: Mapping[str, str], files: int) -> list[str]:
    """Return the checksums of the files of a commit, in the order of `CHECKSUMS`; '' for a file without one. Raises
    ValueError if the commit records the checksums of another number of files.
    """
    texts = extra[CHECKSUMS].split(",") if CHECKSUMS in extra else [""] * files
    if len(texts) != files:
        raise ValueError(f"it records the checksums of {len(texts)} files, and lists {files}")
    return texts


def _stat(record: Mapping[str, Any], partition: str, checked: Checked) -> WriteStat:
    before = record.get("prevBaseFile")
    return WriteStat(
        file_id=checked.name(record["fileId"]),
        path=checked.path(record["path"]),
        partition=partition,
        size=checked.size(record.get("fileSizeInBytes")),
        prev_commit=record.get("prevCommit") or "null",
        writes=record.get("numWrites") or 0,
        deletes=record.get("numDeletes") or 0,
        inserts=record.get("numInserts") or 0,
        updates=record.get("numUpdateWrites") or 0,
        log_version=record.get("logVersion"),
        log_files=tuple(record.get("logFiles") or ()),
        prev_base_file=checked.name(before) if before else None,
        log_records=record.get("totalLogRecords") or 0,
        log_blocks=record.get("totalLogBlocks") or 0,
        log_files_compacted=record.get("totalLogFilesCompacted") or 0,
        log_size_compacted=record.get("totalLogSizeCompacted") or 0,
    )


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
