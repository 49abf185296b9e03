"""Converts schemas between Arrow and Spark. The conversion functions import pyspark when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ..errors import Unsupported

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_PRIMITIVES: Final[tuple[tuple[pa.DataType, str], ...]] = (  # Arrow, class
    (pa.bool_(), "BooleanType"),
    (pa.int8(), "ByteType"),  # no table stores it: `accepted.stored_schema` makes it an int
    (pa.int16(), "ShortType"),
    (pa.int32(), "IntegerType"),
    (pa.int64(), "LongType"),
    (pa.float32(), "FloatType"),
    (pa.float64(), "DoubleType"),
    (pa.string(), "StringType"),
    (pa.binary(), "BinaryType"),
    (pa.date32(), "DateType"),
    (pa.timestamp("us", "UTC"), "TimestampType"),
    (pa.timestamp("ms", "UTC"), "TimestampType"),
    (pa.timestamp("us"), "TimestampNTZType"),
    (pa.timestamp("ms"), "TimestampNTZType"),
)


def to_spark(schema: pa.Schema) -> StructType:
    from pyspark.sql import types

    return types.StructType([types.StructField(f.name, _to_spark(f.type, f.name), f.nullable) for f in schema])


def from_spark(struct: StructType | str) -> pa.Schema:
    """Convert a Spark schema to an Arrow schema. The argument is a StructType or a DDL string; only a DDL string
    requires a running Spark session.

    Raises `Unsupported` for a type that not all readers of Hudi tables support.
    """
    from pyspark.sql import types

    parsed = types.StructType.fromDDL(struct) if isinstance(struct, str) else struct
    assert isinstance(parsed, types.StructType)
    return pa.schema([pa.field(f.name, _from_spark(f.dataType, f.name), f.nullable) for f in parsed.fields])


def _to_spark(kind: pa.DataType, name: str) -> DataType:
    from pyspark.sql import types

    for arrow, spark in _PRIMITIVES:
        if kind.equals(arrow):
            primitive: DataType = getattr(types, spark)()
            return primitive
    if pa.types.is_list(kind):
        return types.ArrayType(_to_spark(kind.value_type, name), kind.value_field.nullable)
    if pa.types.is_map(kind):
        keys, items = _to_spark(kind.key_type, name), _to_spark(kind.item_type, name)
        return types.MapType(keys, items, kind.item_field.nullable)
    if pa.types.is_struct(kind):
        return to_spark(pa.schema(list(kind)))
    if pa.types.is_decimal128(kind):
        return types.DecimalType(kind.precision, kind.scale)
    raise _no_spark_type(kind, name)


def _from_spark(kind: DataType, name: str) -> pa.DataType:
    from pyspark.sql import types

    if isinstance(kind, types.ArrayType):
        return pa.list_(pa.field("element", _from_spark(kind.elementType, name), kind.containsNull))
    if isinstance(kind, types.MapType) and isinstance(kind.keyType, types.StringType):
        return pa.map_(pa.string(), pa.field("value", _from_spark(kind.valueType, name), kind.valueContainsNull))
    if isinstance(kind, types.StructType):
        return pa.struct(list(from_spark(kind)))
    if isinstance(kind, types.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    for arrow, spark in _PRIMITIVES:  # the first of several Arrow types is the one that nbcc writes
        if kind == getattr(types, spark)():
            return arrow
    raise Unsupported(
        f"store the column {name!r}",
        f"readers of Hudi tables do not agree on Spark's type {kind.simpleString()}",
        "cast it to int, bigint, string, timestamp or another type that they share first",
    )


def _no_spark_type(kind: pa.DataType, name: str) -> Unsupported:
    return Unsupported(f"show the column {name!r} to Spark", f"Spark has no type {kind}", "leave the column out")
