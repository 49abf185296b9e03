"""Converts batches passed as Spark DataFrames."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit

from ..data.columns import IS_DELETED
from ..schema import to_spark


def deletes(keys: DataFrame, wanted: Collection[str], schema: pa.Schema) -> DataFrame:
    """Convert `keys` to deletes: the columns `wanted` are copied, the delete flag is true, and all other columns of
    `schema` are null.
    """
    columns = []
    for field in to_spark(schema):
        if field.name in wanted:
            columns.append(col(field.name))
        else:
            value = lit(True) if field.name == IS_DELETED else lit(None).cast(field.dataType)
            columns.append(value.alias(field.name))
    return keys.select(*columns)


def cast(rows: DataFrame, names: Collection[str], schema: pa.Schema) -> DataFrame:
    """Cast the columns `names` of `rows` to their types in `schema`; copy the other columns of `schema` unchanged."""
    return rows.select(
        *(
            col(field.name).cast(field.dataType).alias(field.name) if field.name in names else col(field.name)
            for field in to_spark(schema)
        )
    )


def widened(rows: DataFrame, wanted: Collection[str], schema: pa.Schema) -> DataFrame:
    """Return `rows` with all columns of `schema`: the columns `wanted` are copied, and all other columns are null."""
    columns = [
        col(field.name) if field.name in wanted else lit(None).cast(field.dataType).alias(field.name)
        for field in to_spark(schema)
    ]
    return rows.select(*columns)
