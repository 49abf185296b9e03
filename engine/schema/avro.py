"""Conversion between Arrow schemas and the Avro schemas of Hudi's files (docs/hudi-format.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from ..errors import Unsupported
from ..json_text import parse_json
from .columns import with_meta

_PRIMITIVES: Final[tuple[tuple[pa.DataType, Any], ...]] = (
    (pa.bool_(), "boolean"),
    (pa.int32(), "int"),
    (pa.int64(), "long"),
    (pa.float32(), "float"),
    (pa.float64(), "double"),
    (pa.string(), "string"),
    (pa.binary(), "bytes"),
    (pa.date32(), {"type": "int", "logicalType": "date"}),
    (pa.timestamp("us", "UTC"), {"type": "long", "logicalType": "timestamp-micros"}),
    (pa.timestamp("ms", "UTC"), {"type": "long", "logicalType": "timestamp-millis"}),
    (pa.timestamp("us"), {"type": "long", "logicalType": "local-timestamp-micros"}),
    (pa.timestamp("ms"), {"type": "long", "logicalType": "local-timestamp-millis"}),
)
_LOGICAL: Final = {avro["logicalType"]: arrow for arrow, avro in _PRIMITIVES if isinstance(avro, dict)}
_PLAIN: Final = {avro: arrow for arrow, avro in _PRIMITIVES if isinstance(avro, str)}


def avro_json(schema: pa.Schema, table: str, meta: bool = False) -> str:
    """Return an Arrow schema as compact Avro JSON, with the record names that Spark uses. If `meta` is True, Hudi's
    meta columns are added.

    Raises `Unsupported` for a type that not all readers of Hudi tables support.
    """
    name, namespace = f"{table}_record", f"hoodie.{table}"
    columns = with_meta(schema) if meta else schema
    fields = [_avro_field(field, f"{namespace}.{name}") for field in columns]
    record = {"type": "record", "name": name, "namespace": namespace, "fields": fields}
    return json.dumps(record, separators=(",", ":"))


def from_avro(text: str) -> pa.Schema:
    """Convert an Avro record schema in JSON to an Arrow schema. Raises `Unsupported` for an Avro type without an Arrow
    counterpart.
    """
    record = parse_json(text)
    known: dict[str, Any] = {}
    return pa.schema([_arrow_field(field, known) for field in record["fields"]])


def _avro_field(field: pa.Field, space: str) -> dict[str, Any]:
    kind = _avro_type(field.type, field.name, space)
    if field.nullable:
        return {"name": field.name, "type": ["null", kind], "default": None}
    return {"name": field.name, "type": kind}


def _avro_type(kind: pa.DataType, name: str, space: str) -> Any:
    for arrow, avro in _PRIMITIVES:
        if kind.equals(arrow):
            return avro
    if pa.types.is_decimal128(kind):
        size = _decimal_bytes(kind.precision)
        logical = {"logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
        return {"type": "fixed", "name": "fixed", "namespace": f"{space}.{name}", "size": size, **logical}
    if pa.types.is_list(kind):
        return {"type": "array", "items": _nullable(kind.value_field, name, space)}
    if pa.types.is_map(kind) and kind.key_type.equals(pa.string()):
        return {"type": "map", "values": _nullable(kind.item_field, name, space)}
    if pa.types.is_struct(kind):
        inner = f"{space}.{name}"
        return {"type": "record", "name": name, "namespace": space, "fields": [_avro_field(f, inner) for f in kind]}
    raise Unsupported(
        f"store the column {name!r}",
        f"readers of Hudi tables do not agree on the type {kind}",
        "use boolean, int, long, float, double, string, binary, date, a UTC timestamp, decimal, array, map or struct",
    )


def _nullable(field: pa.Field, name: str, space: str) -> Any:
    kind = _avro_type(field.type, name, space)
    return ["null", kind] if field.nullable else kind


def _decimal_bytes(precision: int) -> int:
    """Return the number of bytes needed to store any decimal of this precision in two's complement."""
    return int(10**precision).bit_length() // 8 + 1


def _arrow_field(field: Mapping[str, Any], known: dict[str, Any]) -> pa.Field:
    kind, nullable = _arrow_type(field["type"], field["name"], known)
    return pa.field(field["name"], kind, nullable)


def _arrow_type(avro: Any, name: str, known: dict[str, Any]) -> tuple[pa.DataType, bool]:
    """Return the pair (Arrow type, nullable) for an Avro type. `known` collects the named Avro types, because a later
    field may refer to a type by its name.
    """
    if isinstance(avro, list):
        branches = [branch for branch in avro if branch != "null"]
        if len(branches) == 1:
            return _arrow_type(branches[0], name, known)[0], "null" in avro
    elif isinstance(avro, str):
        if avro in _PLAIN:
            return _PLAIN[avro], False
        if avro in known:
            return _arrow_type(known[avro], name, known)
    elif isinstance(avro, dict):
        if "name" in avro:
            known[avro["name"]] = avro
            known[f"{avro.get('namespace', '')}.{avro['name']}"] = avro
        return _complex_type(avro, name, known), False
    raise Unsupported(
        f"read the column {name!r}", f"its Avro type {json.dumps(avro)} has no Arrow twin", "leave the column out"
    )


def _complex_type(avro: Mapping[str, Any], name: str, known: dict[str, Any]) -> pa.DataType:
    logical = avro.get("logicalType")
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    if logical == "decimal":
        return pa.decimal128(avro["precision"], avro.get("scale", 0))
    match avro["type"]:
        case "array":
            item, nullable = _arrow_type(avro["items"], name, known)
            kind = pa.list_(pa.field("element", item, nullable))
        case "map":
            item, nullable = _arrow_type(avro["values"], name, known)
            kind = pa.map_(pa.string(), pa.field("value", item, nullable))
        case "record":
            kind = pa.struct([_arrow_field(field, known) for field in avro["fields"]])
        case "enum":
            kind = pa.string()
        case "fixed":
            kind = pa.binary(avro["size"])
        case plain:
            kind = _arrow_type(plain, name, known)[0]
    return kind
