"""A file slice becomes a base file, and a log of the deletes that must not be forgotten."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from ..files.names import BaseName, LogName
from ..names import Names
from ..storage import Storage
from .merge import Merged, merge
from .publish import put_base_file, put_data_file
from .read import slice_layers
from .tasks import CompactTask, WrittenFile
from .write import delete_block


def compact_group(storage: Storage, names: Names, task: CompactTask) -> list[WrittenFile]:
    """Merge the slice, put the base file (even without rows) and, if deletes won, their tombstone log.

    Rows keep their commit time and number. Without tombstones a late update of lower rank would bring a deleted row
    back; they are typed deletes in a log of the compaction's own instant, which Hudi and hudi-rs honour (design.md §4).
    """
    layers = slice_layers(storage, task.slice)
    merged = merge(layers, task.slice.shape.merge)
    token = names.write_token()
    logs = [layer for layer in layers if not layer.base]
    name = BaseName(task.slice.file_id, token, task.instant)
    written = [
        replace(
            put_base_file(storage, task.slice.partition, name, merged.rows),
            log_records=sum(len(layer.rows) + len(layer.deletes) for layer in logs),
            log_files=len(task.slice.logs),
            log_blocks=len(logs),
        )
    ]
    tombstones = _to_keep(merged, task)
    if len(tombstones):
        written.append(_write_tombstones(storage, task, tombstones, token))
    return written


def _to_keep(merged: Merged, task: CompactTask) -> pa.Table:
    """Deletes with an ordering value: without one they have beaten all before them and lose to all that may come."""
    ranked_by = task.slice.shape.merge.ranked_by
    if not task.keep_tombstones or ranked_by is None:
        return merged.deletes.slice(0, 0)
    return merged.deletes.filter(merged.deletes[ranked_by].is_valid())


def _write_tombstones(storage: Storage, task: CompactTask, deletes: pa.Table, token: str) -> WrittenFile:
    plan = task.slice
    data = delete_block(deletes, plan.partition, task.instant, plan.shape)
    name = str(LogName(plan.file_id, task.instant, 1, token))
    path = put_data_file(storage, task.instant, plan.partition, name, data)
    return WrittenFile(path, plan.partition, plan.file_id, len(data), 0, len(deletes), version=1)
