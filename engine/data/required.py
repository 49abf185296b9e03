"""Finds nulls in required columns, including nested columns.

Arrow tables and log files can contain nulls in required columns, but readers and compactions fail on such nulls.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .codes import Mask
from .columns import is_deleted, one_array
from .compare import elements, lengths


def lacking(rows: pa.Table, schema: pa.Schema) -> Mask:
    """Return a mask of the rows with a null in a required column. Deletes are not checked, and neither are columns that
    `rows` does not contain.
    """
    lack = np.zeros(len(rows), np.bool_)
    there = set(rows.column_names)
    for field in schema:
        if field.name in there and (not field.nullable or demands(field.type)):
            lack |= _lacks(one_array(rows[field.name]), field)
    deleted = is_deleted(rows)
    return lack if deleted is None else lack & ~deleted.to_numpy()


def demands(kind: pa.DataType) -> bool:
    """Return True if the nested type `kind` has a required (non-nullable) inner field."""
    return any(not inner.nullable or demands(inner.type) for inner in _inside(kind))


def _inside(kind: pa.DataType) -> Iterator[pa.Field]:
    if pa.types.is_struct(kind):
        yield from kind
    elif pa.types.is_map(kind):
        yield kind.item_field
    elif pa.types.is_list(kind):
        yield kind.value_field


def _lacks(values: pa.Array, field: pa.Field) -> Mask:
    null: Mask = values.is_null().to_numpy(zero_copy_only=False)
    lack = np.zeros(len(values), np.bool_) if field.nullable else null.copy()
    if not demands(field.type):
        return lack
    there = np.flatnonzero(~null)
    whole = values.take(pa.array(there))
    if pa.types.is_struct(field.type):
        for place, inner in enumerate(field.type):
            lack[there] |= _lacks(pc.struct_field(whole, [place]), inner)
        return lack
    (inner,) = _inside(field.type)
    items = elements(whole)
    if pa.types.is_map(field.type):
        items = pc.struct_field(items, [1])
    owners = np.repeat(there, lengths(whole))
    lack[owners[_lacks(items, inner)]] = True
    return lack
