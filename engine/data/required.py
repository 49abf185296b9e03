"""Which rows lack a value where their table's columns must have one, inside nested columns, too.

Arrow lets a batch hold such nulls, and a log file keeps them. The readers of the table, and its compactions, do not.
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
    """The rows with a null in a required column. Only the key of a delete counts, and the set columns of a partial row.
    """
    lack = np.zeros(len(rows), np.bool_)
    there = set(rows.column_names)
    for field in schema:
        if field.name in there and (not field.nullable or demands(field.type)):
            lack |= _lacks(one_array(rows[field.name]), field)
    deleted = is_deleted(rows)
    return lack if deleted is None else lack & ~deleted.to_numpy()


def demands(kind: pa.DataType) -> bool:
    """Whether something inside of values of this type must not be null."""
    return any(not inner.nullable or demands(inner.type) for inner in _inside(kind))


def _inside(kind: pa.DataType) -> Iterator[pa.Field]:
    if pa.types.is_struct(kind):
        yield from kind
    elif pa.types.is_map(kind):
        yield kind.item_field
    elif pa.types.is_list(kind):
        yield kind.value_field


def _lacks(values: pa.Array, field: pa.Field) -> Mask:
    """Where `values` has a null that `field`, of the same type but for that, does not allow."""
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
    found = elements(whole)
    if pa.types.is_map(field.type):
        found = pc.struct_field(found, [1])
    owners = np.repeat(there, lengths(whole))
    lack[owners[_lacks(found, inner)]] = True
    return lack
