"""What a commit says, of an audit's interest. Skimmed where it is plain, which most are; else read as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..timeline import Instant
from ..timeline.checked import is_inside
from ..timeline.container import decode_record
from ..timeline.fast_commit_parser import skim_commit
from ..timeline.metadata import COVERS, OWN_KEY
from ..writes.idempotency import EXTRA as BATCH
from .record import Commit, Stat


def commit_of(instant: Instant, data: bytes) -> Commit:
    """The commit in a file's bytes; KeyError, TypeError, ValueError or `NotATable` where they are none."""
    try:
        listed, record = skim_commit(data)
        stats = tuple(
            Stat(file.path, file.size or 0, file.writes or 0, file.deletes or 0, file.merged)
            for partition in sorted(listed)
            for file in listed[partition]
            if file.path
        )
    except Exception:  # what is wrong, if anything is, is said by the reader of everything
        record = decode_record(data, instant.file_name)
        by_partition = record["partitionToWriteStats"] or {}
        stats = tuple(_stat(s) for partition in sorted(by_partition) for s in by_partition[partition] if s["path"])
    for stat in stats:
        if not is_inside(stat.path):
            raise ValueError(f"it lists {stat.path[:200]!r}, which is not a path below the table")
    return _commit(instant, stats, record)


def _commit(instant: Instant, stats: tuple[Stat, ...], record: Mapping[str, Any]) -> Commit:
    extra = record["extraMetadata"] or {}
    replaced = record.get("partitionToReplaceFileIds") or {}
    groups = tuple((text(partition), text(each)) for partition, ids in replaced.items() for each in ids)
    made = json.loads(extra[COVERS]).items() if COVERS in extra else ()
    covers = tuple((text(path).rpartition("/")[2], tuple(map(text, names))) for path, names in made)
    own = OWN_KEY in extra
    told = (instant, stats, record["operationType"] or "", own, extra.get("schema"), groups)
    return Commit(*told, covers=covers, batch=text(extra.get(BATCH, "")))


def _stat(record: Mapping[str, Any]) -> Stat:
    text(record["fileId"])
    size, rows, deletes = (int(record[name] or 0) for name in ("fileSizeInBytes", "numWrites", "numDeletes"))
    merged = record.get("totalLogFilesCompacted")
    return Stat(text(record["path"]), size, rows, deletes, None if merged is None else int(merged))


def text(value: object) -> str:
    """The value itself; ValueError where it is no text."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value
