"""Encodes and decodes commit metadata (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ..json_text import parse_json
from ..storage import Storage
from .checked import Checked
from .container import decode_record, encode_record, understood
from .fast_commit_parser import FIELDS, skim_commit
from .instant import Instant
from .timeline import FOLDER

OWN_KEY: Final = "nbcc.format"
"""Extra metadata that marks an instant as written by nbcc's rules."""

OWN_FORMAT: Final = "1"

REPLACES: Final = "nbcc.replaces"
"""Extra metadata of a replacing write (its plan and its commit): the name of the operation. Its rows replace everything
in its file groups before the plan's barrier."""

RESIZES: Final = "nbcc.resize"
"""Extra metadata of a resize (its plan and its commit): number and buckets of the generation that it makes."""

COVERS: Final = "nbcc.log.compaction"
"""Extra metadata of a log compaction of nbcc: JSON, path of each new log -> names of the logs that it replaces."""

RANGES: Final = "nbcc.ranges"
"""Extra metadata of a write of nbcc: JSON, the least and the greatest value of the first columns of each log."""

CHECKSUMS: Final = "nbcc.checksums"
"""Extra metadata of a write of nbcc: the CRC-32 of each log, as 8 hexadecimal digits, comma-separated in the order of
the partitions' paths and of the files in each partition; empty for a file that is not a log."""

_STATS: Final = "partitionToWriteStats"


class WriteStat(NamedTuple):
    """The statistics of one data file in a commit. `path` is relative to the table's root, `size` is in bytes, and
    `writes`, `deletes`, `inserts` and `updates` count rows.

    For a log file, `log_version` is set, and `log_files` contains the name of the log file itself. For a compacted base
    file, `prev_base_file` is the replaced base file, and the fields `log_*` count the merged logs;
    `log_files_compacted` is None if another engine has not recorded the number. `checksum` is the CRC-32 of a log that
    nbcc wrote; '' for other files, because base files contain their checksums.
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
    log_files_compacted: int | None = 0
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
    def schema(self) -> str | None:
        """The Avro schema with which the rows were written; None if the commit does not record it."""
        return self.extra.get("schema")

    @property
    def groups_replaced(self) -> tuple[tuple[str, str], ...]:
        """The pair (partition, file id) of each file group in `replaced`."""
        return tuple((partition, file_id) for partition, ids in self.replaced.items() for file_id in ids)

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
    # Computed again below: a commit that was decoded and changed may list other files.
    extra = {key: value for key, value in commit.extra.items() if key != CHECKSUMS}
    if any(stat.checksum for stat in commit.stats):
        # A stable sort: the order of the files in a partition stays that of the record, on which a reader relies.
        extra[CHECKSUMS] = ",".join(stat.checksum for stat in sorted(commit.stats, key=lambda stat: stat.partition))
    record = {
        _STATS: stats,
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
    checked = Checked(name)
    with understood(name):
        try:
            record = skim_commit(data)
        except Exception:  # not plain: the complete decoder reads it, or reports what is wrong
            record = _decoded(data, name)
        by_partition = record.get(_STATS) or {}
        replaced = record.get("partitionToReplaceFileIds") or {}
        extra = record.get("extraMetadata") or {}
        listed = [
            (partition, values)
            for partition in map(checked.partition, sorted(by_partition))
            for values in by_partition[partition]
            if values[0]
        ]  # skip the stats of a workload profile, which have no file
        commit = CommitMetadata(
            stats=tuple(
                _stat(values, partition, checked, checksum)
                for (partition, values), checksum in zip(listed, _checksums(extra, len(listed)), strict=True)
            ),
            operation=record.get("operationType") or "",
            compacted=bool(record.get("compacted")),
            extra=extra,
            replaced={checked.partition(p): tuple(map(checked.name, ids)) for p, ids in replaced.items()},
        )
        for path, names in commit.covers.items():
            checked.path(path)
            all(map(checked.path, names))
        return commit


def _decoded(data: bytes, name: str) -> dict[str, Any]:
    """Return the record of a commit in the form that `skim_commit` returns."""
    record = decode_record(data, name)
    listed = record.get(_STATS) or {}
    stats = {partition: [tuple(map(stat.get, FIELDS)) for stat in listed[partition]] for partition in listed}
    return {**record, _STATS: stats}


def load_commit(storage: Storage, instant: Instant) -> CommitMetadata:
    """Return the metadata of a completed instant on the active timeline."""
    return decode_commit(storage.get(f"{FOLDER}/{instant.file_name}"), instant.file_name)


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


def _checksums(extra: Mapping[str, str], files: int) -> list[str]:
    """Return the checksums of the files of a commit, in the order of `CHECKSUMS`; '' for a file without one. Raises
    ValueError if the commit records the checksums of another number of files.
    """
    texts = extra[CHECKSUMS].split(",") if CHECKSUMS in extra else [""] * files
    if len(texts) != files:
        raise ValueError(f"it records the checksums of {len(texts)} files, and lists {files}")
    return texts


def _stat(values: tuple[Any, ...], partition: str, checked: Checked, checksum: str) -> WriteStat:
    """Return the statistics of a file whose `FIELDS` have the given values."""
    path, file_id, prev_commit, base, logs, size, *numbers = values
    writes, deletes, inserts, updates, version, log_records, log_blocks, compacted, compacted_size = numbers
    return WriteStat(
        checked.name(file_id),
        checked.path(path),
        partition,
        checked.size(size),
        prev_commit or "null",
        writes or 0,
        deletes or 0,
        inserts or 0,
        updates or 0,
        version,
        tuple(logs or ()),
        checked.name(base) if base else None,
        log_records or 0,
        log_blocks or 0,
        compacted,
        compacted_size or 0,
        checksum,
    )
