"""Applies filters that Spark pushes down: as Arrow masks on merged rows, and to skip file groups.

The reader accepts only filters that mean the same in Arrow and Spark: comparisons of booleans, integers, strings and
dates. Spark itself applies filters on floating point (NaN), decimals and timestamps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as ds

from ..data.bucket import buckets_of
from ..data.keys import hashed_values, partition_paths
from ..data.tasks import AnyRead, ReadTask, TableShape
from ..names import bucket_of

Mask = Callable[[pa.Table], pa.Array]

_COMPARE: Final[dict[type[ds.Filter], str]] = {
    ds.EqualTo: "equal",
    ds.GreaterThan: "greater",
    ds.GreaterThanOrEqual: "greater_equal",
    ds.LessThan: "less",
    ds.LessThanOrEqual: "less_equal",
}
_TEXT: Final[dict[type[ds.Filter], str]] = {
    ds.StringStartsWith: "starts_with",
    ds.StringEndsWith: "ends_with",
    ds.StringContains: "match_substring",
}


def pushable(condition: ds.Filter, schema: pa.Schema) -> Mask | None:
    """Return the filter as a mask (true: select; null counts as false), or None if Spark must apply the filter."""
    if isinstance(condition, ds.Not):
        inner = pushable(condition.child, schema)
        return None if inner is None else _not(inner)
    name = ".".join(getattr(condition, "attribute", ()))
    if name not in schema.names:  # a field of a struct: columns of nbcc have no dots in their names
        return None
    if isinstance(condition, ds.IsNull | ds.IsNotNull):
        return _valid(name, isinstance(condition, ds.IsNotNull))
    return _on_value(condition, name, schema.field(name).type)


def _on_value(condition: ds.Filter, name: str, kind: pa.DataType) -> Mask | None:
    """Return the mask of a filter that compares a column with values, or None if Spark must apply the filter."""
    wanted = getattr(condition, "value", None)
    many = list(wanted or ()) if isinstance(condition, ds.In) else [wanted]
    values = [_scalar(value, kind) for value in many]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if isinstance(condition, ds.In):
        return _in(name, pa.array([value.as_py() for value in known], kind))
    if isinstance(condition, ds.EqualNullSafe):
        return _equal_null_safe(name, known[0])
    if type(condition) in _COMPARE:
        return _compared(_COMPARE[type(condition)], name, known[0])
    return _text(_TEXT[type(condition)], name, known[0]) if type(condition) in _TEXT else None


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar | None:
    """Return the value in the type of the column. Returns None for null, an unsupported type, or a value out of range.
    """
    fits = (
        (pa.types.is_boolean(kind) and isinstance(value, bool))
        or (kind in (pa.int32(), pa.int64()) and isinstance(value, int) and not isinstance(value, bool))
        or (pa.types.is_string(kind) and isinstance(value, str))
        or (pa.types.is_date32(kind) and type(value) is date)
    )
    try:
        return pa.scalar(value, kind) if fits else None
    except (pa.ArrowInvalid, OverflowError):
        return None


def _not(inner: Mask) -> Mask:
    return lambda rows: pc.invert(inner(rows))


def _valid(name: str, wanted: bool) -> Mask:
    return lambda rows: rows[name].is_valid() if wanted else rows[name].is_null()


def _in(name: str, values: pa.Array) -> Mask:
    """Return the mask of an IN filter. The mask is null where the column is null, as in SQL, so neither IN nor NOT IN
    selects a row with null.
    """
    unknown = pa.scalar(None, pa.bool_())
    return lambda rows: pc.if_else(rows[name].is_valid(), pc.is_in(rows[name], values), unknown)


def _equal_null_safe(name: str, value: pa.Scalar) -> Mask:
    return lambda rows: pc.fill_null(pc.equal(rows[name], value), False)


def _compared(function: str, name: str, value: pa.Scalar) -> Mask:
    return lambda rows: pc.call_function(function, [rows[name], value])


def _text(function: str, name: str, value: pa.Scalar) -> Mask:
    return lambda rows: getattr(pc, function)(rows[name], value.as_py())


def may_hold(task: AnyRead, filters: Sequence[ds.Filter], shape: TableShape | None) -> bool:
    """Return True if a file group can contain a row that all filters select.

    Equality filters on all key columns select one bucket; equality filters on all partition columns select one
    partition. `shape` is None if keys do not determine the file group.
    """
    if shape is None or not isinstance(task, ReadTask):
        return True
    fixed = {f.attribute[0]: f.value for f in filters if isinstance(f, ds.EqualTo) and len(f.attribute) == 1}
    if shape.keys.partition_by and fixed.keys() >= {*shape.keys.partition_by}:
        row = _row(fixed, shape.keys.partition_by, shape)
        if partition_paths(row, shape.keys)[0].as_py() != task.partition:
            return False
    if fixed.keys() >= {*shape.keys.record_key}:
        row = _row(fixed, shape.keys.record_key, shape)
        return int(buckets_of(hashed_values(row, shape.keys), shape.buckets)[0]) == bucket_of(task.file_id)
    return True


def _row(fixed: dict[str, Any], names: Sequence[str], shape: TableShape) -> pa.Table:
    return pa.table({name: pa.array([fixed[name]], shape.schema.field(name).type) for name in names})
