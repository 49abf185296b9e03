"""Compacts a file slice to a base file, and to a log of the deletes that later merges need."""

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
from .partial import Contribution, split
from .publish import put_base_file, put_data_file
from .read import slice_layers
from .tasks import CompactTask, ReadTask, WrittenFile
from .write import delete_block


def compact_group(storage: Storage, names: Names, task: CompactTask) -> list[WrittenFile]:
    """Merge the slice and put the base file, even if the merge returns no rows. If deletes win in the merge, put a log
    of tombstones as well.

    A compaction does not change the commit time and the sequence number of a row. Without tombstones an update of lower
    rank that completes later would restore a deleted row (docs/contract.md, LAWS). Tombstones are deletes in a log of
    the compaction's own instant, which Hudi and hudi-rs also read.
    """
    layers = slice_layers(storage, task.slice)
    rule = task.slice.shape.merge
    merged = merged_of(layers, rule)
    token = names.write_token()
    logs = [layer for layer in layers if not layer.base]
    name = BaseName(task.slice.file_id, token, task.instant)
    by = _sort_keys(merged.rows, task.sort_by)
    rows = merged.rows.sort_by(by) if by else merged.rows
    written = [
        replace(
            put_base_file(storage, task.slice.partition, name, rows, is_sorted=bool(by)),
            log_records=sum(len(layer.rows) + len(layer.deletes) for layer in logs),
            log_files=len(task.slice.logs),
            log_blocks=len(logs),
        )
    ]
    tombstones, kept = _to_keep(merged, task), split(layers, rule) if rule.partial else []
    if len(tombstones) or kept:
        written.append(_write_tombstones(storage, task, kept, tombstones, token))
    return written


def _sort_keys(rows: pa.Table, columns: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(name, "ascending") for name in columns if name in rows.column_names and is_sortable(rows[name].type)]


def _to_keep(merged: Merged, task: CompactTask) -> pa.Table:
    """Return the winning deletes that have an ordering value. A delete without an ordering value loses to every later
    record, so the compaction does not store it.
    """
    ranked_by = task.slice.shape.merge.ranked_by
    if not task.keep_tombstones or ranked_by is None:
        return merged.deletes.slice(0, 0)
    return merged.deletes.filter(merged.deletes[ranked_by].is_valid())


def _write_tombstones(
    storage: Storage, task: CompactTask, kept: list[Contribution], deletes: pa.Table, token: str
) -> WrittenFile:
    """Write the log of the compaction's own instant. The log of a compaction contains tombstones, and records that
    cannot be recovered from a merged row.
    """
    plan = task.slice
    blocks = [delete_block(deletes, plan.partition, task.instant, plan.shape)] if len(deletes) else []
    # After the delete block: a contribution ranks above the delete of its key.
    blocks += [contribution_block(each, plan, task.instant) for each in kept]
    data = b"".join(blocks)
    name = str(LogName(plan.file_id, task.instant, 1, token))
    path = put_data_file(storage, task.instant, plan.partition, name, data)
    rows = sum(len(each.rows) for each in kept)
    return WrittenFile(path, plan.partition, plan.file_id, len(data), rows, len(deletes), version=1)


def contribution_block(kept: Contribution, plan: ReadTask, instant: str, compacted: Sequence[str] = ()) -> bytes:
    """Return a data block of the rows, with the columns that their writer set. The block is a partial block unless the
    rows set all columns.
    """
    shape = plan.shape
    rows = conform(kept.rows, shape.stored_schema).select(shape.block_columns(kept.sets))
    by = (shape.log_format, instant, shape.avro_schema)
    return encode_data(rows, *by, compacted=compacted, partial=kept.sets is not None)
