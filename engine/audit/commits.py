"""Parses commit files for an audit. For most commit files, one regular expression parses the whole file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..json_text import parse_json
from ..timeline import Instant
from ..timeline.checked import is_inside
from ..timeline.container import decode_record
from ..timeline.fast_commit_parser import skim_commit
from ..timeline.metadata import COVERS, OWN_KEY, checksums_of
from ..writes.idempotency import EXTRA as BATCH
from .record import Commit, Stat


def commit_of(instant: Instant, data: bytes) -> Commit:
    """Parse the content of a commit file. Raises KeyError, TypeError, ValueError or `NotATable` if the content is not a
    valid commit.
    """
    try:
        by_partition, record = skim_commit(data)
        stats = tuple(
            Stat(file.path, file.size or 0, file.writes or 0, file.deletes or 0, file.merged)
            for partition in sorted(by_partition)
            for file in by_partition[partition]
            if file.path
        )
    except Exception:  # not plain: the complete decoder reads it, or reports what is wrong
        record = decode_record(data, instant.file_name)
        listed = record["partitionToWriteStats"] or {}
        stats = tuple(_stat(s) for partition in sorted(listed) for s in listed[partition] if s["path"])
    for stat in stats:
        if not is_inside(stat.path):
            raise ValueError(f"it lists {stat.path[:200]!r}, which is not a path below the table")
    return _commit(instant, stats, record)


def _commit(instant: Instant, stats: tuple[Stat, ...], record: Mapping[str, Any]) -> Commit:
    extra = record["extraMetadata"] or {}
    replaced = record.get("partitionToReplaceFileIds") or {}
    checksums = zip(stats, checksums_of(extra, len(stats)), strict=True)
    stats = tuple(stat._replace(checksum=checksum) if checksum else stat for stat, checksum in checksums)
    groups = tuple((text(partition), text(file_id)) for partition, ids in replaced.items() for file_id in ids)
    covered = parse_json(extra[COVERS]).items() if COVERS in extra else ()
    return Commit(
        instant,
        stats,
        record["operationType"] or "",
        OWN_KEY in extra,
        extra.get("schema"),
        groups,
        covers=tuple((text(path), tuple(map(text, names))) for path, names in covered),
        batch=text(extra.get(BATCH, "")),
    )


def _stat(record: Mapping[str, Any]) -> Stat:
    text(record["fileId"])
    size, rows, deletes = (int(record[name] or 0) for name in ("fileSizeInBytes", "numWrites", "numDeletes"))
    merged = record.get("totalLogFilesCompacted")
    return Stat(text(record["path"]), size, rows, deletes, None if merged is None else int(merged))


def text(value: object) -> str:
    """Return `value` if it is a string; otherwise raise ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")
    return value
