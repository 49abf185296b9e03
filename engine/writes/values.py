"""Computes columns from constants and expressions: pyarrow expressions on Arrow tables, Columns on Spark DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..arguments import is_of
from ..config import TableConfig
from ..data.predicate import text_of
from ..errors import BadInput
from ..schema import to_spark


def computed(rows: pa.Table, values: Mapping[str, Any], schema: pa.Schema, asked: str) -> pa.Table:
    """Return a table with a column for each name in `values`, computed from the columns of `rows` and cast to the type
    in `schema`. A value is a pyarrow expression, or a constant. Raises `BadInput`.
    """
    from pyarrow import dataset  # it takes a tenth of a second

    expressions = {}
    for name, value in values.items():
        if isinstance(value, pc.Expression):
            expressions[name] = value
            continue
        if is_of("pyspark", value):
            raise BadInput(f"{asked} {name}", "the table was opened without Spark", "give a pyarrow expression")
        try:
            expressions[name] = pc.scalar(pa.scalar(value, schema.field(name).type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as unfit:
            exists = f"{value!r} does not fit into {schema.field(name).type} ({unfit})"
            raise BadInput(f"{asked} {name}", exists, "give a value of the column's type") from None
    try:
        found = dataset.dataset(rows).to_table(columns=expressions)
        return pa.table({name: found[name].cast(schema.field(name).type) for name in expressions})
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as failed:
        texts = ", ".join(f"{name} = {text_of(value)}" for name, value in expressions.items())
        first = str(failed).partition("\n")[0]
        raise BadInput(f"{asked} {texts}", first, "correct the expression, or cast its result") from None


def mask_of(rows: pa.Table, condition: Any, asked: str) -> pa.ChunkedArray:
    """Return which rows a condition selects; null selects none. The condition None selects all."""
    if condition is None:
        return pa.chunked_array([pa.repeat(True, len(rows))])
    if not isinstance(condition, pc.Expression):
        raise BadInput(f"{asked} {condition!r}", "that is not a condition", "give a pyarrow expression")
    found = computed(rows, {"condition": condition}, pa.schema([("condition", pa.bool_())]), asked)
    return pc.fill_null(found["condition"], False)


def spark_column(value: Any, name: str, schema: pa.Schema, asked: str) -> Any:
    """Return a Spark Column with the name and the type of a column of the table. A value is a Column, or a constant."""
    from pyspark.sql.functions import lit

    if isinstance(value, pc.Expression):
        raise BadInput(f"{asked} {name}", "the table was opened with Spark", "give a Column, such as expr('fare * 2')")
    (field,) = to_spark(pa.schema([schema.field(name)])).fields
    return (value if is_of("pyspark", value) else lit(value)).cast(field.dataType).alias(name)


def check_names(names: Mapping[str, Any], config: TableConfig, asked: str, *, fixed: bool) -> None:
    """Raise `BadInput` for a column that the table lacks and, if `fixed` is True, for a key or partition column."""
    if unknown := next((name for name in names if name not in config.schema.names), None):
        columns = ", ".join(config.schema.names)
        raise BadInput(f"{asked} {unknown}", f"the table's columns are {columns}", "name one of these")
    keys = (*config.record_key, *config.partition_by)
    if fixed and (key := next((name for name in names if name in keys), None)):
        exists = "it is part of the key or the partition, so that another row would be written"
        raise BadInput(f"{asked} {key}", exists, "delete the row, and insert another one")
