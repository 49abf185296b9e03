"""Builds the content of nbcc's commits: one write stat per file, the schema, and the property ``nbcc.format``
(docs/hudi-format.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from ..config import TableConfig
from ..data.ranges import encode_ranges
from ..data.tasks import WrittenFile
from ..file_names import parse_base, split_path
from ..names import Generation
from ..timeline import (
    REPLACES,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    WriteStat,
    encode_commit,
    own_extra,
)
from ..timeline.metadata import COVERS, RANGES, RESIZES
from ..timeline.resize_plans import encode_generation

_NO_BASE = "null"  # Hudi spells "no previous commit" as this word


def write_commit(
    config: TableConfig,
    requested: str,
    operation: str,
    files: Sequence[WrittenFile],
    more: Mapping[str, str] | None = None,
) -> bytes:
    """Return the content of a completed delta commit; `more` contains the batch's extra metadata."""
    stats = tuple(_base_stat(file) if file.version is None else _log_stat(file, requested) for file in files)
    extra = own_extra(config.avro_schema, {**_ranges(files), **(more or {})})
    return encode_commit(CommitMetadata(stats, operation, extra=extra))


def _ranges(files: Sequence[WrittenFile]) -> dict[str, str]:
    """Return the extra metadata that records the column ranges of log files; empty if no file has ranges."""
    bounds = {file.path: file.bounds for file in files if file.bounds}
    return {RANGES: encode_ranges(bounds)} if bounds else {}


def compaction_commit(config: TableConfig, requested: str, plan: CompactionPlan, files: Sequence[WrittenFile]) -> bytes:
    """Return the content of the commit that completes a compaction. `files` contains the new base files, and tombstone
    logs, which preserve deletes after the compaction.
    """
    operations = {(operation.partition, operation.file_id): operation for operation in plan.operations}
    stats = tuple(
        _base_stat(file, operations[file.partition, file.file_id])
        if file.version is None
        else _log_stat(file, requested)
        for file in files
    )
    return encode_commit(CommitMetadata(stats, "COMPACT", compacted=True, extra=own_extra(config.avro_schema)))


def replace_commit(config: TableConfig, requested: str, operation: str, files: Sequence[WrittenFile]) -> bytes:
    """Return the content of the completed instant of a replacing write. Hudi reads nbcc's replacing write as a
    compaction without input files.
    """
    extra = own_extra(config.avro_schema, {REPLACES: operation})
    return encode_commit(CommitMetadata(tuple(map(_base_stat, files)), operation, compacted=True, extra=extra))


def resize_commit(
    config: TableConfig, requested: str, generation: Generation, files: Sequence[WrittenFile],
    replaced: Collection[tuple[str, str]],
) -> bytes:  # fmt: skip
    """Return the content of the commit that completes a resize. `files` contains the base files of the new file groups,
    with logs of kept deletes, and the copies of late logs. `replaced` contains the old file groups (partition, file
    id). Hudi reads the commit as that of a clustering.
    """
    stats = tuple(_base_stat(file) if file.version is None else _log_stat(file, requested) for file in files)
    extra = own_extra(config.avro_schema, {RESIZES: encode_generation(generation), **_ranges(files)})
    groups: dict[str, tuple[str, ...]] = {}
    # Sorted, because a set has another order in each process.
    for partition, file_id in sorted(replaced):
        groups[partition] = (*groups.get(partition, ()), file_id)
    return encode_commit(CommitMetadata(stats, "CLUSTER", extra=extra, replaced=groups))


def log_compaction_commit(config: TableConfig, plan: CompactionPlan, files: Sequence[WrittenFile]) -> bytes:
    """Return the content of a completed log compaction: the new logs, and for each new log the logs that it replaces.
    """
    operations = {(operation.partition, operation.file_id): operation for operation in plan.operations}
    made = [(file, operations[file.partition, file.file_id]) for file in files]
    stats = tuple(
        _log_stat(file, operation.base_instant)._replace(log_records=file.log_records, log_blocks=file.log_blocks)
        for file, operation in made
    )
    covers = json.dumps({file.path: operation.logs for file, operation in made})
    extra = own_extra(config.avro_schema, {COVERS: covers, **_ranges(files)})
    return encode_commit(CommitMetadata(stats, "LOG_COMPACT", extra=extra))


def _log_stat(file: WrittenFile, requested: str) -> WriteStat:
    """Return the write stat of a log file. Every row counts as an insert, as in Hudi, because writers do not search for
    existing keys.
    """
    stat = _stat(file, requested)
    return stat._replace(inserts=file.rows, log_version=file.version, checksum=file.checksum)


def _base_stat(file: WrittenFile, operation: CompactionOperation | None = None) -> WriteStat:
    """Return the write stat of a base file. `operation` is the compaction operation that wrote the file; None for a
    file that no compaction wrote.

    A write to a copy-on-write table names the base file that it replaced, which incremental reads compare with the new
    one.
    """
    if file.before is not None:
        before = split_path(file.before)[1]
        named = parse_base(before)
        stat = _stat(file, named.instant if named else _NO_BASE)
        return stat._replace(updates=file.rows, prev_base_file=before)
    stat = _stat(file, _NO_BASE)._replace(
        log_records=file.log_records,
        log_blocks=file.log_blocks,
        log_files_compacted=file.log_files,
        log_size_compacted=operation.log_bytes if operation else 0,
    )
    if operation is None or operation.base_file is None:
        return stat._replace(inserts=file.rows)
    return stat._replace(
        prev_commit=operation.base_instant, updates=file.rows, prev_base_file=operation.base_file
    )


def _stat(file: WrittenFile, prev_commit: str) -> WriteStat:
    return WriteStat(
        file.file_id, file.path, file.partition, file.size, prev_commit, writes=file.rows, deletes=file.deletes
    )
