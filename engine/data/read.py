"""Reads the merged rows of a file slice, and merges the files of an incremental query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import Unsupported
from ..files.data_block import decode_data
from ..files.delete_block import decode_deletes
from ..files.log_block import Block, BlockKind, Header, read_blocks, without_rolled_back
from ..parquet import decode_parquet
from ..schema import from_avro
from ..storage import Storage
from .columns import COMMIT_TIME, IS_DELETED, PARTITION_PATH, RECORD_KEY, SET_COLUMNS, conform, one_array
from .fetch import decoding, fetch
from .keys import key_columns
from .layers import Layer, Merged
from .memory import bounded
from .merge import merged
from .partial import in_window
from .predicate import Predicate
from .ranged_file import RangedFile
from .skipping import base_layer, can_match, parts_of_base, window_can_match
from .tasks import BaseInput, ChangedBase, LogInput, ReadTask, TableShape, WindowTask

Columns = Sequence[str] | None


def read_slice(storage: Storage, task: ReadTask) -> pa.Table:
    """Return the merged rows of a file slice that satisfy the task's condition, with the schema `task.result_schema`.
    """
    if task.where is not None:
        rows = selected(_matching_part(storage, task, task.where), task.where)
    elif task.base_only and task.base_input is not None:
        rows = base_rows(storage, task.base_input, task.shape, task.needed)
    else:
        rows = merged_rows(task, slice_layers(storage, task))
    return conform(rows, task.result_schema)


def merged_rows(task: ReadTask, layers: Sequence[Layer]) -> pa.Table:
    """Return the rows of a slice with the given records. A base file without logs is not merged: its rows are the
    result, although its tombstone logs may repeat their keys.
    """
    if task.base_only:
        return pa.concat_tables([layer.rows for layer in layers if layer.base and not layer.kept])
    return merged(layers, task.shape.merge).rows


def _matching_part(storage: Storage, task: ReadTask, where: Predicate) -> pa.Table:
    """Return the merged rows of a slice without reading row groups that cannot contain matching rows (see `skipping`).
    The result may include rows that do not satisfy `where`.
    """
    shape, file = task.shape, task.base_input
    if file is None:
        if not can_match(where, shape, task.logs):
            return nothing(shape).rows
        return merged_rows(task, slice_layers(storage, task))
    base = RangedFile(storage, file, shape.limits)
    parts = parts_of_base(where, task, base)
    if parts is None:
        return nothing(shape).rows
    layer = base_layer(base, parts, shape, task.needed)
    return layer.rows if task.base_only else merged_rows(task, slice_layers(storage, task, layer))


def selected(rows: pa.Table, where: Predicate | None) -> pa.Table:
    """Return the rows that satisfy `where`, or all rows if `where` is None."""
    return rows if where is None else where.filter(rows)


def slice_layers(storage: Storage, task: ReadTask, base: Layer | None = None) -> list[Layer]:
    """Return the records of a slice as merge layers, in merge order. Each layer contains records of one file or log
    block. `base` contains the records of the base file if it has already been read.
    """
    shape = task.shape
    if task.base_input is not None and base is None:
        rows = base_rows(storage, task.base_input, shape, task.needed)
        base = Layer(rows, shape.deletes_schema.empty_table(), base=True)
    return [*layers_after(storage, task, [] if base is None else [base])] or [nothing(shape)]


def layers_after(storage: Storage, task: ReadTask, base: Iterable[Layer]) -> Iterator[Layer]:
    """Yield the layers of the base file, and after them those of the logs, each of which is read when it is needed."""
    yield from base
    for log in task.tombstones:
        yield from log_layers(storage, log, task.shape, task.needed, base=True)
    for log in task.logs:
        yield from log_layers(storage, log, task.shape, task.needed)


def read_window(storage: Storage, task: WindowTask) -> pa.Table:
    """Return the winning records in the files of an incremental query, with the schema `task.result_schema`. Only
    records that satisfy the task's condition are returned.

    Deletes in the result have only key, partition, ordering value and commit time. For partial updates, each record has
    only the columns that it contributes to the merged row. To obtain the state after the interval, merge the result by
    ordering value into the state before the interval.
    """
    shape, where = task.shape, task.where
    if where is not None and not window_can_match(where, task):
        return task.result_schema.empty_table()
    whole = shape.merge.partial  # a record of a partial update lists the columns that it sets
    layers = window_layers(storage, task, None if whole else shape.needed(task.columns, where))
    found = in_window(layers, shape.merge) if shape.merge.partial else merged(layers, shape.merge)
    rows = conform(found.rows, shape.stored_schema)
    if IS_DELETED not in rows.column_names:
        rows = rows.append_column(IS_DELETED, pa.repeat(False, len(rows)))
    if found.sets is not None:
        rows = rows.append_column(SET_COLUMNS, found.sets)
    known = {name: found.deletes[name] for name in found.deletes.column_names}
    known |= key_columns(found.deletes, shape.keys, shape.schema)
    deletes = pa.table(known | {IS_DELETED: pa.repeat(True, len(found.deletes))})
    records = pa.concat_tables([rows, conform(deletes, rows.schema)])
    return conform(selected(records, where), task.result_schema)


def merge_window(storage: Storage, task: WindowTask) -> Merged:
    """Return the rows and deletes that win when the files of an incremental query are merged."""
    return merged(window_layers(storage, task), task.shape.merge)


def window_layers(storage: Storage, task: WindowTask, needed: Columns = None) -> list[Layer]:
    """Return the records of an incremental query as one or more merge layers, in merge order. Columns outside `needed`
    may be null in the result.
    """

    def layers() -> Iterator[Layer]:
        yield from (_changed_by(storage, base, task.shape, needed) for base in task.bases)
        for log in task.logs:
            yield from log_layers(storage, log, task.shape, needed)

    return bounded(layers(), task.shape.limits, "the window of a file group") or [nothing(task.shape)]


def _changed_by(storage: Storage, base: ChangedBase, shape: TableShape, needed: Columns) -> Layer:
    """Return the rows that a copy-on-write commit wrote, and a delete for each key that it removed."""
    now = base_rows(storage, base.file, shape, needed)
    rows = now.filter(pc.equal(now[COMMIT_TIME], base.requested))
    if base.before is None:
        return Layer(rows, shape.deletes_schema.empty_table())
    before = base_rows(storage, base.before, shape, (RECORD_KEY, PARTITION_PATH))
    gone = before.filter(pc.invert(pc.is_in(before[RECORD_KEY], one_array(now[RECORD_KEY]))))
    left_out = pa.table(
        {
            COMMIT_TIME: pa.repeat(base.requested, len(gone)),
            RECORD_KEY: gone[RECORD_KEY],
            PARTITION_PATH: gone[PARTITION_PATH],
        }
    )
    return Layer(rows, conform(left_out, shape.deletes_schema))


def base_rows(storage: Storage, file: BaseInput, shape: TableShape, needed: Columns = None) -> pa.Table:
    """Return the rows of a base file, with the schema `shape.packed_schema`. Columns outside `needed` are null in the
    result.
    """
    if needed is not None:
        return conform(RangedFile(storage, file, shape.limits).read(needed), shape.packed_schema)
    data = fetch(storage, file)
    with decoding(file.path):
        return conform(decode_parquet(data, file.path, packed=True, bounds=shape.limits), shape.packed_schema)


def log_layers(
    storage: Storage, log: LogInput, shape: TableShape, needed: Columns = None, base: bool = False
) -> list[Layer]:
    """Return one merge layer for each block of a log file, in order, without the blocks that were rolled back. Columns
    outside `needed` may be null in the result.
    """
    data = fetch(storage, log)
    with decoding(log.path):
        return [
            layer._replace(base=base, kept=base)
            for block in without_rolled_back(read_blocks(data, log.path))
            for layer in _block(block, log, shape, needed)
        ]


def _block(block: Block, log: LogInput, shape: TableShape, needed: Columns) -> Iterable[Layer]:
    if block.kind in (BlockKind.AVRO, BlockKind.PARQUET):
        if block.partial and not shape.merge.partial:
            raise Unsupported(
                f"read {log.path}", "it holds partial updates", "compact the table with its own writer first"
            )
        found = decode_data(block, log.path, packed=True, columns=needed, bounds=shape.limits)
        rows = conform(found, shape.packed_schema)
        sets = frozenset(from_avro(block.headers[Header.SCHEMA]).names) if block.partial else None
        yield Layer(rows, shape.deletes_schema.empty_table(), sets=sets)
    elif block.kind == BlockKind.DELETE:
        for deletes in decode_deletes(block, log.path):
            yield Layer(shape.packed_schema.empty_table(), _deletes(deletes, log, shape))
    else:
        raise Unsupported(
            f"read {log.path}", f"it holds a {block.kind.name} block", "compact the table with its own writer first"
        )


def _deletes(found: pa.Table, log: LogInput, shape: TableShape) -> pa.Table:
    """Return the deletes with the columns that a merge needs. A delete with a null ordering value wins over every
    earlier record.
    """
    columns = {
        COMMIT_TIME: pa.repeat(log.requested, len(found)),
        RECORD_KEY: found["key"],
        PARTITION_PATH: found["partition"],
    }
    if shape.ordering is not None:
        columns[shape.ordering.name] = _ordering(found["ordering"], shape)
    return conform(pa.table(columns), shape.deletes_schema)


def _ordering(values: pa.ChunkedArray, shape: TableShape) -> pa.ChunkedArray:
    """Return the ordering values of deletes, cast to the type of the ordering column. Hudi treats the integer 0 as a
    missing ordering value (docs/hudi-format.md).
    """
    field = shape.ordering
    assert field is not None
    if pa.types.is_int32(values.type) and (field.type != pa.int32() or shape.merge.fold == "logs_first"):
        values = pc.if_else(pc.equal(values, 0), pa.scalar(None, pa.int32()), values)
    return values.cast(field.type)


def nothing(shape: TableShape) -> Layer:
    return Layer(shape.packed_schema.empty_table(), shape.deletes_schema.empty_table())
