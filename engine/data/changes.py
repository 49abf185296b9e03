"""Computes the change log between two snapshots: the net difference, one row per changed key (docs/contract.md, CDC).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..storage import Storage
from .columns import COMMIT_TIME, PARTITION_PATH, RECORD_KEY, one_array
from .compare import rows_differ
from .memory import fits, refused
from .passes import name_of, slice_parts
from .read import merge_window
from .tasks import ChangesTask, ReadTask, TableShape, WindowTask

INSERT, UPDATE, DELETE = "i", "u", "d"


def read_changes(storage: Storage, task: ChangesTask) -> pa.Table:
    """Return one row for each inserted, updated or deleted key, with the schema `task.result_schema`. A change is
    returned only if its old or new row satisfies `task.where`.

    The column `completed` is the completion time of the write that set the new row or deleted the old row. `completed`
    is null if the files of the task do not show which write made the change. A row that no delete removed was removed
    by the write that replaced its partition.
    """
    shape = task.shape
    before, after = (_state(storage, tasks, shape) for tasks in (task.before, task.after))
    there = _places(after, before)
    gone = before.filter(pc.invert(pc.is_in(_identity(before), _identity(after))))
    inserted = after.filter(pa.array(there < 0))
    met = np.flatnonzero(there >= 0)
    old, new = before.take(pa.array(there[met])), after.take(pa.array(met))
    changed = pa.array(rows_differ(old, new, shape.schema.names))
    old, new = old.filter(changed), new.filter(changed)
    if task.where is not None:
        inserted, gone = task.where.filter(inserted), task.where.filter(gone)
        either = pc.or_(task.where.mask(old), task.where.mask(new))
        old, new = old.filter(either), new.filter(either)
    deleted = _completed(_deleted_at(storage, gone, task), task)
    return pa.concat_tables(
        [
            _rows(INSERT, _completed(inserted[COMMIT_TIME], task), None, inserted, task),
            _rows(UPDATE, _completed(new[COMMIT_TIME], task), old, new, task),
            _rows(DELETE, deleted if task.replaced is None else deleted.fill_null(task.replaced), gone, None, task),
        ]
    )


def _state(storage: Storage, tasks: Sequence[ReadTask], shape: TableShape) -> pa.Table:
    parts, size = [shape.stored_schema.empty_table()], 0
    for task in tasks:
        for part in slice_parts(storage, task):
            parts.append(part)
            size += part.nbytes
            if not fits(size, shape.limits):
                raise refused(f"{name_of(task)} for its changes", size, shape.limits)
    return pa.concat_tables(parts)


def _identity(rows: pa.Table) -> pa.Array:
    return one_array(pc.binary_join_element_wise(rows[PARTITION_PATH], rows[RECORD_KEY], "\0"))


def _places(rows: pa.Table, among: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    positions = pc.index_in(_identity(rows), _identity(among))
    return np.asarray(pc.fill_null(positions, -1).to_numpy(zero_copy_only=False), np.int64)


def _deleted_at(storage: Storage, gone: pa.Table, task: ChangesTask) -> pa.ChunkedArray:
    """For each row in `gone`, return the requested time of the write that deleted it; null if no file of the task
    contains the delete.
    """
    if not len(gone):
        return pa.chunked_array([pa.nulls(len(gone), pa.string())])
    deletes = merge_window(storage, WindowTask(task.shape, task.window, task.bases)).deletes
    positions = pc.index_in(_identity(gone), _identity(deletes))
    return pa.chunked_array([one_array(deletes[COMMIT_TIME]).take(positions)])


def _completed(requested: pa.ChunkedArray, task: ChangesTask) -> pa.Array:
    requests = pa.array([pair[0] for pair in task.completions], pa.string())
    completions = pa.array([pair[1] for pair in task.completions], pa.string())
    return completions.take(pc.index_in(one_array(requested), requests, skip_nulls=True))


def _rows(op: str, completed: pa.Array, before: pa.Table | None, after: pa.Table | None, task: ChangesTask) -> pa.Table:
    schema = task.result_schema
    count, kind = len(completed), schema.field("before").type
    sides = [pa.nulls(count, kind) if side is None else _struct(side, kind) for side in (before, after)]
    return pa.table([pa.repeat(op, count), completed, *sides], schema=schema)


def _struct(rows: pa.Table, kind: pa.DataType) -> pa.Array:
    columns = [one_array(rows[field.name]) for field in kind]
    return pa.StructArray.from_arrays(columns, fields=list(kind))
