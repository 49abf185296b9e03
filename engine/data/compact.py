"""Compacts a file slice into a base file and, if deletes must be kept, a log file with these deletes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from ..checksums import checksum_of
from ..file_names import BaseName, LogName
from ..files.data_block import encode_data
from ..names import Names
from ..storage import Storage
from .columns import conform, is_sortable
from .layers import Layer, Merged
from .memory import fits, refused
from .merge import merged as merged_of
from .move import only_bucket_of
from .partial import Contribution, split
from .passes import name_of, slice_passes
from .put_files import put_base_parts, put_data_file
from .tasks import CompactTask, ReadTask, WrittenFile
from .write import delete_block

LOG_COPIES: Final = 2
"""The memory for the log of a compaction as a multiple of the memory of its records: the records, and the file."""


def compact_group(storage: Storage, names: Names, task: CompactTask) -> list[WrittenFile]:
    """Merge a file slice and write the base file, even if the merge returns no rows. Deletes that must be kept
    (tombstones) are written to a log.

    A compaction preserves the commit time and the sequence number of each row. Without a tombstone, a later write with
    a smaller ordering value would restore the deleted row (docs/contract.md, LAWS). Tombstone logs have the
    compaction's instant time; Hudi and hudi-rs also read them.
    """
    merge = _Merge(task)
    token = names.write_token()
    name = BaseName(task.slice.file_id, token, task.instant)
    base = put_base_parts(storage, task.slice.partition, name, merge.parts(storage), is_sorted=bool(_sort_keys(task)))
    base = replace(base, log_records=merge.records, log_files=len(task.slice.logs), log_blocks=merge.blocks)
    deletes = pa.concat_tables(merge.deletes)
    if len(deletes) or merge.kept:
        return [base, _write_tombstones(storage, task, merge.kept, deletes, token)]
    return [base]


class _Merge:
    """The merge of a compaction, which processes the keys in parts if memory is limited.

    `deletes` and `kept` are the deletes and partial-update records that the compaction writes to its own log. `records`
    and `blocks` count the records and blocks of the merged logs. The attributes are incomplete until the iterator
    returned by `parts` is exhausted.
    """

    def __init__(self, task: CompactTask) -> None:
        self._task = task
        self.deletes: list[pa.Table] = []
        self.kept: list[Contribution] = []
        self.records = self.blocks = 0

    def parts(self, storage: Storage) -> Iterator[pa.Table]:
        task, rule, size = self._task, self._task.slice.shape.merge, 0
        for layers in self._passes(storage):
            merged = merged_of(layers, rule)
            logs = [layer for layer in layers if not layer.base]
            self.records += sum(len(layer.rows) + len(layer.deletes) for layer in logs)
            self.blocks = len(logs)
            self.deletes.append(_to_keep(merged, task))
            kept = split(layers, rule) if rule.partial else []
            self.kept += kept
            size += self.deletes[-1].nbytes + sum(each.rows.nbytes for each in kept)
            if not fits(size, task.slice.shape.limits, LOG_COPIES):
                raise refused(f"the log of deletes of {name_of(task.slice)}", size, task.slice.shape.limits, LOG_COPIES)
            by = _sort_keys(task)
            yield merged.rows.sort_by(by) if by else merged.rows
            del layers, logs, merged  # before the next part is read


    def _passes(self, storage: Storage) -> Iterator[list[Layer]]:
        task = self._task
        if task.bucket is None:
            yield from slice_passes(storage, task.slice, whole=bool(task.sort_by))
            return
        shape, bucket = task.slice.shape, task.bucket
        passes = (
            only_bucket_of(layers, shape, bucket)
            for source in task.sources or (task.slice,)
            for layers in slice_passes(storage, source)
        )
        if shape.limits.one_pass:  # no key is in two sources, so that they are merged as one slice
            yield sorted((layer for layers in passes for layer in layers), key=lambda layer: not layer.base)
        else:
            yield from passes


def _sort_keys(task: CompactTask) -> list[tuple[str, str]]:
    """Return the columns by which a compaction sorts rows. A column that was dropped after the compaction was planned
    is ignored.
    """
    kinds = {field.name: field.type for field in task.slice.shape.stored_schema}
    return [(name, "ascending") for name in task.sort_by if name in kinds and is_sortable(kinds[name])]


def _to_keep(merged: Merged, task: CompactTask) -> pa.Table:
    """Return the winning deletes that have an ordering value. Deletes without an ordering value are dropped, because
    every later record wins over them.
    """
    ranked_by = task.slice.shape.merge.ranked_by
    if not task.keeps_tombstones or ranked_by is None:
        return merged.deletes.slice(0, 0)
    return merged.deletes.filter(merged.deletes[ranked_by].is_valid())


def _write_tombstones(
    storage: Storage, task: CompactTask, kept: list[Contribution], deletes: pa.Table, token: str
) -> WrittenFile:
    """Write the compaction's tombstone log, which contains kept deletes and the partial-update records that later
    merges need.
    """
    plan = task.slice
    blocks = [delete_block(deletes, plan.partition, task.instant, plan.shape)] if len(deletes) else []
    # After the delete block: a contribution ranks above the delete of its key.
    blocks += [contribution_block(each, plan, task.instant) for each in kept]
    data = b"".join(blocks)
    name = str(LogName(plan.file_id, task.instant, 1, token))
    path = put_data_file(storage, task.instant, plan.partition, name, data)
    rows = sum(len(each.rows) for each in kept)
    made = WrittenFile(path, plan.partition, plan.file_id, len(data), rows, len(deletes), version=1)
    return replace(made, checksum=checksum_of(data))


def contribution_block(kept: Contribution, plan: ReadTask, instant: str, compacted: Sequence[str] = ()) -> bytes:
    """Return a log data block with the rows of `kept`. If the rows set only some columns, the result is a
    partial-update block.
    """
    shape = plan.shape
    rows = conform(kept.rows, shape.stored_schema).select(shape.block_columns(kept.sets))
    by = (shape.log_format, instant, shape.avro_schema)
    return encode_data(rows, *by, compacted=compacted, partial=kept.sets is not None)
