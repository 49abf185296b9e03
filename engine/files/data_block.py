"""Encodes and decodes data blocks: log blocks that contain rows, as Avro records or as a Parquet file
(docs/hudi-format.md).
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Literal

import fastavro
import pyarrow as pa

from ..errors import NotATable, Unsupported
from ..json_text import parse_json
from ..limits import Limits, limits
from ..parquet import decode_parquet, encode_parquet
from ..schema import from_avro
from ..schema.avro_check import checked_schema
from .log_block import Block, BlockKind, Header, compacted_header, encode_block

DataFormat = Literal["parquet", "avro"]

_VERSION: Final = 3
_TWO_INTS: Final = struct.Struct(">ii")
_INT: Final = struct.Struct(">i")


def encode_data(
    rows: pa.Table,
    data_format: DataFormat,
    instant: str,
    schema: str,
    *,
    compacted: Sequence[str] = (),
    partial: bool = False,
) -> bytes:
    """Encode rows as one data block. The rows must have Hudi's meta columns.

    `instant` is the requested time of the commit that writes the block. `schema` is the Avro JSON of the rows,
    including the meta columns. `compacted` contains the instants whose blocks a log compaction replaces with the new
    block. `partial` is True for a partial update, which sets only the columns of `rows`; `schema` may have more
    columns.
    """
    if partial:
        schema = _narrowed(schema, rows.column_names)
    headers = {Header.INSTANT: instant, Header.SCHEMA: schema, **compacted_header(compacted)}
    if partial:
        headers[Header.IS_PARTIAL] = "true"
    if data_format == "parquet":
        return encode_block(BlockKind.PARQUET, headers, encode_parquet(rows))
    return encode_block(BlockKind.AVRO, headers, _encode_records(rows, schema))


def _narrowed(schema: str, names: Sequence[str]) -> str:
    record = parse_json(schema)
    record["fields"] = [field for field in record["fields"] if field["name"] in names]
    return json.dumps(record, separators=(",", ":"))


def decode_data(
    block: Block,
    name: str = "log file",
    packed: bool = False,
    columns: Sequence[str] | None = None,
    bounds: Limits | None = None,
) -> pa.Table:
    """Return the rows of an Avro or Parquet data block, with the columns and types stored in the block. `name` is the
    file name for error messages.

    `packed` and `columns` have the same meaning as in `decode_parquet`, and apply only to Parquet blocks. Avro records
    are always decoded with all columns. `bounds` contains the memory limits (default: the limits of this process).
    """
    if block.kind is BlockKind.PARQUET:
        return decode_parquet(block.content, name, columns, packed=packed, bounds=bounds)
    if block.kind is not BlockKind.AVRO:
        raise Unsupported(
            f"read {name}",
            f"it holds a block of kind {block.kind.name}",
            "compact the table with the engine that wrote it first",
        )
    schema = block.headers.get(Header.SCHEMA)
    if schema is None:
        raise NotATable(f"read {name}", "a data block in it has no schema", "restore the file from a copy")
    return _decode_records(block.content, schema, name, bounds)


@lru_cache(maxsize=64)
def _parsed(schema: str) -> Any:
    return fastavro.parse_schema(parse_json(schema))


@lru_cache(maxsize=64)
def _parsed_list(schema: str, bounds: Limits) -> tuple[Any, pa.Schema]:
    record = checked_schema(schema, "a log file", bounds)
    return fastavro.parse_schema({"type": "array", "items": record}), from_avro(schema)


def _encode_records(rows: pa.Table, schema: str) -> bytes:
    parsed = _parsed(schema)
    parts = [_TWO_INTS.pack(_VERSION, len(rows))]
    buffer = io.BytesIO()
    for record in rows.to_pylist(maps_as_pydicts="strict"):
        buffer.seek(0)
        # A shorter record would otherwise keep the end of the longer one before it.
        buffer.truncate()
        fastavro.schemaless_writer(buffer, parsed, record)
        parts += (_INT.pack(buffer.tell()), buffer.getvalue())
    return b"".join(parts)


def _decode_records(content: memoryview, schema: str, name: str, bounds: Limits | None) -> pa.Table:
    version, count = _TWO_INTS.unpack_from(content)
    if version != _VERSION:
        raise Unsupported(
            f"read {name}", f"an Avro block in it has version {version}", "compact the table with Apache Hudi 1.x first"
        )
    parsed, arrow = _parsed_list(schema, bounds or limits())
    records = fastavro.schemaless_reader(_as_array(content, count), parsed, None)
    return pa.Table.from_pylist(records, schema=arrow)


def _as_array(content: memoryview, count: int) -> io.BytesIO:
    """Convert the records of a block to one Avro array without record lengths, so that a single call can decode all
    records.
    """
    array = io.BytesIO()
    if count < 0:
        raise ValueError(f"a block claims {count} records")
    # An Avro array without items is a single zero, and has no count before it.
    if count:
        fastavro.schemaless_writer(array, "long", count)
        position = _TWO_INTS.size
        for _ in range(count):
            (length,) = _INT.unpack_from(content, position)
            if not 0 <= length <= len(content) - position - _INT.size:
                raise ValueError(f"a record claims {length} bytes, and its block has fewer")
            position += _INT.size + length
            array.write(content[position - length : position])
    array.write(b"\x00")
    array.seek(0)
    return array
