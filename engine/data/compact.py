"""A file slice becomes a base file, and a log of the deletes that must not be forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from ..file_names import BaseName, LogName
from ..files.data_block import encode_data
from ..names import Names
from ..storage import Storage
from .columns import conform, is_sortable
from .layers import Merged
from .merge import merged as merged_of
from .partial import Kept, split
from .publish import put_base_file, put_data_file
from .read import slice_layers
from .tasks import CompactTask, ReadTask, WrittenFile
from .write import delete_block


def compact_group(storage: Storage, names: Names, task: CompactTask) -> list[WrittenFile]:
    """Merge the slice, put the base file (even without rows) and, if deletes won, their tombstone log.

    Rows keep their commit time and number. Without tombstones a late update of lower rank would bring a deleted row
    back; they are typed deletes in a log of the compaction's own instant, which Hudi and hudi-rs honour
    (docs/contract.md, LAWS).
    """
    layers = slice_layers(storage, task.slice)
    rule = task.slice.shape.merge
    merged = merged_of(layers, rule)
    token = names.write_token()
    logs = [layer for layer in layers if not layer.base]
    name = BaseName(task.slice.file_id, token, task.instant)
    written = [
        replace(
            put_base_file(storage, task.slice.partition, name, _sorted(merged.rows, task.sort_by)),
            log_records=sum(len(layer.rows) + len(layer.deletes) for layer in logs),
            log_files=len(task.slice.logs),
            log_blocks=len(logs),
        )
    ]
    tombstones, kept = _to_keep(merged, task), split(layers, rule) if rule.partial else []
    if len(tombstones) or kept:
        written.append(_write_tombstones(storage, task, kept, tombstones, token))
    return written


def _sorted(rows: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    """By those of the columns that there still are: a plan can be older than the table's columns."""
    by = [(name, "ascending") for name in columns if name in rows.column_names and is_sortable(rows[name].type)]
    return rows.sort_by(by) if by else rows


def _to_keep(merged: Merged, task: CompactTask) -> pa.Table:
    """Deletes with an ordering value: without one they have beaten all before them and lose to all that may come."""
    ranked_by = task.slice.shape.merge.ranked_by
    if not task.keep_tombstones or ranked_by is None:
        return merged.deletes.slice(0, 0)
    return merged.deletes.filter(merged.deletes[ranked_by].is_valid())


def _write_tombstones(
    storage: Storage, task: CompactTask, kept: list[Kept], deletes: pa.Table, token: str
) -> WrittenFile:
    """Write the log of the compaction's own instant: tombstones, and records that a merged row does not preserve."""
    plan = task.slice
    blocks = [delete_block(deletes, plan.partition, task.instant, plan.shape)] if len(deletes) else []
    blocks += [kept_block(each, plan, task.instant) for each in kept]  # what is kept lies above the delete of its key
    data = b"".join(blocks)
    name = str(LogName(plan.file_id, task.instant, 1, token))
    path = put_data_file(storage, task.instant, plan.partition, name, data)
    rows = sum(len(each.rows) for each in kept)
    return WrittenFile(path, plan.partition, plan.file_id, len(data), rows, len(deletes), version=1)


def kept_block(kept: Kept, plan: ReadTask, instant: str, compacted: Sequence[str] = ()) -> bytes:
    """Rows as their writer put them: a partial block, unless they set all columns."""
    shape = plan.shape
    rows = conform(kept.rows, shape.stored_schema).select(shape.block_columns(kept.sets))
    by = (shape.log_format, instant, shape.avro_schema)
    return encode_data(rows, *by, compacted=compacted, partial=kept.sets is not None)
