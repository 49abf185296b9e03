"""Converts the filters that Spark pushes down into Arrow expressions.

The reader accepts only filters with the same meaning in Arrow and Spark: comparisons of booleans, integers, strings and
dates. Spark itself applies filters on decimals, timestamps and floating-point numbers, because Arrow and Spark compare
NaN differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import reduce
from operator import and_
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as ds

from ..data.predicate import Predicate
from ..data.pruning import groups_to_read
from ..data.tasks import AnyRead, ChangesTask, ReadTask, TableShape

_COMPARE: Final[dict[type[ds.Filter], Callable[[Any, Any], Any]]] = {
    ds.EqualTo: lambda column, value: column == value,
    ds.GreaterThan: lambda column, value: column > value,
    ds.GreaterThanOrEqual: lambda column, value: column >= value,
    ds.LessThan: lambda column, value: column < value,
    ds.LessThanOrEqual: lambda column, value: column <= value,
}
_TEXT: Final[dict[type[ds.Filter], Callable[..., Any]]] = {
    ds.StringStartsWith: pc.starts_with,
    ds.StringEndsWith: pc.ends_with,
    ds.StringContains: pc.match_substring,
}


def predicate_of(filters: Sequence[ds.Filter], schema: pa.Schema) -> Predicate | None:
    """Return the conjunction of the accepted filters, or None if no filter was accepted."""
    conditions = [condition for each in filters if (condition := condition_of(each, schema)) is not None]
    if not conditions:
        return None
    names = dict.fromkeys(_column(each) for each in filters)
    equal = {_column(each): each.value for each in filters if isinstance(each, ds.EqualTo)}
    return Predicate(reduce(and_, conditions), pa.schema([schema.field(name) for name in names]), equal)


def condition_of(condition: ds.Filter, schema: pa.Schema) -> pc.Expression | None:
    """Convert a Spark filter to an Arrow expression, or return None if Spark must apply the filter."""
    negated = isinstance(condition, ds.Not)
    if isinstance(condition, ds.Not):
        condition = condition.child
    name = _column(condition)
    if name not in schema.names:  # a field of a struct, or a nested Not: columns of nbcc have no dots in their names
        return None
    column = pc.field(name)
    if isinstance(condition, ds.IsNull | ds.IsNotNull):
        return column.is_null() if isinstance(condition, ds.IsNull) != negated else column.is_valid()
    return _on_value(condition, column, schema.field(name).type, negated)


def _column(condition: ds.Filter) -> str:
    if isinstance(condition, ds.Not):
        condition = condition.child
    return ".".join(getattr(condition, "attribute", ()))


def _on_value(condition: ds.Filter, column: pc.Expression, kind: pa.DataType, negated: bool) -> pc.Expression | None:
    """Convert a filter that compares a column with values to an Arrow expression, or return None if Spark must apply
    the filter. As in SQL, neither IN nor NOT IN selects rows in which the column is null. A comparison with null is
    null, and the negation of the comparison is also null.
    """
    wanted = getattr(condition, "value", None)
    many = list(wanted or ()) if isinstance(condition, ds.In) else [wanted]
    values = [_scalar(value, kind) for value in many]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if isinstance(condition, ds.In):
        inside = column.isin(pa.array([value.as_py() for value in known], kind))
        return column.is_valid() & ~inside if negated else inside
    if isinstance(condition, ds.EqualNullSafe):
        return column.is_null() | (column != known[0]) if negated else column == known[0]
    if type(condition) in _COMPARE:
        compared = _COMPARE[type(condition)](column, pc.scalar(known[0]))
    elif type(condition) in _TEXT:
        compared = _TEXT[type(condition)](column, known[0].as_py())
    else:
        return None
    return ~compared if negated else compared


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar | None:
    """Convert a filter value to the type of the column. Returns None for null, an unsupported type, or a value out of
    range.
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


def restricted(tasks: Sequence[AnyRead], where: Predicate, shape: TableShape | None) -> list[AnyRead]:
    """Add the condition `where` to the read tasks, and omit tasks whose file groups cannot contain a matching row. If
    `shape` is None, as for tables of other engines, no task is omitted. `ChangesTask` objects remain unchanged, because
    their result has different columns.
    """
    groups = [(task.partition, task.file_id) for task in tasks if isinstance(task, ReadTask)]
    kept = frozenset(groups) if shape is None else groups_to_read(where, shape, groups)
    return [
        task if isinstance(task, ChangesTask) else replace(task, where=where)
        for task in tasks
        if not isinstance(task, ReadTask) or (task.partition, task.file_id) in kept
    ]
