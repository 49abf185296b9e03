"""Defines the names of Hudi's meta columns, and helper functions for Arrow columns."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import Unsupported

COMMIT_TIME: Final = "_hoodie_commit_time"
COMMIT_SEQNO: Final = "_hoodie_commit_seqno"
RECORD_KEY: Final = "_hoodie_record_key"
PARTITION_PATH: Final = "_hoodie_partition_path"
FILE_NAME: Final = "_hoodie_file_name"
META: Final = (COMMIT_TIME, COMMIT_SEQNO, RECORD_KEY, PARTITION_PATH, FILE_NAME)
IS_DELETED: Final = "_hoodie_is_deleted"
"""True marks a row as a delete, whose key, partition and ordering value alone are used."""

SET_COLUMNS: Final = "nbcc_set_columns"
"""In windows of partial updates: the columns that a row sets. Its other columns are null, which has no meaning."""


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without a copy if the column has one chunk."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def constant(text: str, count: int) -> pa.DictionaryArray:
    """Return a dictionary-encoded column that repeats `text` `count` times."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [text])


def is_deleted(rows: pa.Table) -> pa.ChunkedArray | None:
    """Return the column `_hoodie_is_deleted` with null replaced by false, or None if the column is absent."""
    return pc.fill_null(rows[IS_DELETED], False) if IS_DELETED in rows.column_names else None


def is_sortable(kind: pa.DataType) -> bool:
    """Return True if rows can be sorted by a column of the type `kind`."""
    if pa.types.is_struct(kind):
        return all(is_sortable(inner.type) for inner in kind)
    return not pa.types.is_nested(kind)


def conform(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the rows with exactly the columns of `schema`. Missing columns are filled with nulls, columns outside
    `schema` are dropped, and all other columns are cast.
    """
    if rows.schema.equals(schema):
        return rows
    present = set(rows.column_names)
    columns = [_cast(rows, field) if field.name in present else _nulls(len(rows), field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _nulls(count: int, kind: pa.DataType) -> pa.Array:
    """Return a column of `count` nulls of the type `kind`.

    For a struct, `pa.nulls` would also set the inner columns to null, which Arrow rejects if an inner column is
    non-nullable.
    """
    return pa.array([None] * count, kind) if pa.types.is_struct(kind) else pa.nulls(count, kind)


def _cast(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    try:
        return rows[field.name].cast(field.type)
    except pa.ArrowInvalid as unfit:
        raise Unsupported(
            f"read the column {field.name!r} as {field.type}",
            f"it contains other values ({unfit}); its type may have been widened since the table was opened",
            "open the table again",
        ) from None
