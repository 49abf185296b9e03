"""Encodes and decodes delete blocks (version 3), which contain the keys and ordering values of deleted records
(docs/hudi-format.md).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import Damaged, Unsupported
from . import avro_columns
from .log_block import Block, BlockKind, Header, compacted_header, encode_block

_VERSION: Final = 3
_HEAD: Final = struct.Struct(">ii")
_ALWAYS_BRANCH: Final = 2

# (branch of the union, wrapper, its value's Avro type, Arrow type). The file contains only the position in the union.
_BRANCHES: Final[tuple[tuple[str, Any, pa.DataType], ...]] = (
    ("BooleanWrapper", "boolean", pa.bool_()),
    ("IntWrapper", "int", pa.int32()),
    ("LongWrapper", "long", pa.int64()),
    ("FloatWrapper", "float", pa.float32()),
    ("DoubleWrapper", "double", pa.float64()),
    ("BytesWrapper", "bytes", pa.binary()),
    ("StringWrapper", "string", pa.string()),
    ("DateWrapper", {"type": "int", "logicalType": "date"}, pa.date32()),
    (
        "DecimalWrapper",
        {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15},
        pa.decimal128(30, 15),
    ),
    ("TimeMicrosWrapper", {"type": "long", "logicalType": "time-micros"}, pa.time64("us")),
    ("TimestampMicrosWrapper", {"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC")),
)


def _integers(values: pa.Array) -> pa.Array:
    width = pa.int32() if values.type.bit_width == 32 else pa.int64()
    return avro_columns.longs(values.cast(width).cast(pa.int64()).to_numpy())


def _floats(values: pa.Array) -> pa.Array:
    return avro_columns.fixed_width(values.to_numpy())


def _booleans(values: pa.Array) -> pa.Array:
    return avro_columns.fixed_width(values.cast(pa.uint8()).to_numpy())


_ENCODERS: Final[dict[pa.DataType, Callable[[pa.Array], pa.Array]]] = {
    pa.bool_(): _booleans,
    pa.int32(): _integers,
    pa.int64(): _integers,
    pa.float32(): _floats,
    pa.float64(): _floats,
    pa.binary(): avro_columns.texts,
    pa.string(): avro_columns.texts,
    pa.date32(): _integers,
    pa.timestamp("us", "UTC"): _integers,
}


def is_ordering_type(kind: pa.DataType) -> bool:
    """Return whether all Hudi readers can decode deletes with ordering values of the type `kind`."""
    return kind in _ENCODERS


def encode_deletes(
    keys: pa.Array,
    partition: str,
    orderings: pa.Array | None,
    instant: str,
    schema: str,
    *,
    compacted: Sequence[str] = (),
) -> bytes:
    """Encode the deletes of one file group as one delete block.

    `orderings` contains the ordering values in the exact type of the ordering column, without nulls. Timestamps are
    written as longs and dates as ints, as Hudi's own writer does (see `_in_hudis_types`). A delete block uses only one
    branch of the Avro union of ordering types, because hudi-rs rejects blocks with several branches. If
    `orderings` is None, the deletes win over all earlier records; Hudi stores an int 0 for this case. `schema` is the
    Avro schema (JSON) of the records in the log. `compacted` has the same meaning as in `encode_data`. Raises
    `Unsupported` if Hudi cannot store ordering values of this type in deletes.
    """
    content = _encode_list(keys, partition, _in_hudis_types(orderings))
    headers = {Header.INSTANT: instant, Header.SCHEMA: schema, **compacted_header(compacted)}
    return encode_block(BlockKind.DELETE, headers, _HEAD.pack(_VERSION, len(content)) + content)


def _in_hudis_types(orderings: pa.Array | None) -> pa.Array | None:
    """Return timestamps as longs and dates as ints; other ordering values unchanged."""
    # Hudi 1.2.0 does not compare a row with a delete in the wrapper of dates or timestamps: an older delete wins over
    # the row in a log. An int 0 always wins, so a block with 1970-01-01 has dates.
    if orderings is None or not pa.types.is_temporal(orderings.type) or not is_ordering_type(orderings.type):
        return orderings
    numbers = orderings.cast(pa.int32() if pa.types.is_date(orderings.type) else pa.int64())
    return orderings if pa.types.is_date(orderings.type) and pc.any(pc.equal(numbers, 0)).as_py() else numbers


def _encode_list(keys: pa.Array, partition: str, orderings: pa.Array | None) -> bytes:
    if not len(keys):
        return b"\x00"
    records = pc.binary_join_element_wise(
        b"\x02",  # the union branch (not null) precedes each nullable field
        avro_columns.texts(keys),
        b"\x02" + avro_columns.texts(pa.array([partition]))[0].as_py() + _branch_byte(orderings),
        _ordering_values(orderings),
        b"",
    )
    count = avro_columns.longs(np.array([len(keys)], np.int64))[0].as_py()
    return bytes(count) + _joined(records) + b"\x00"


def _joined(records: pa.Array) -> bytes:
    _, offsets, data = records.buffers()
    ends = np.frombuffer(offsets, np.int32)
    first, last = ends[records.offset], ends[records.offset + len(records)]
    return bytes(memoryview(data)[first:last])


def _branch_byte(orderings: pa.Array | None) -> bytes:
    branch = _ALWAYS_BRANCH if orderings is None else _branch_of(orderings.type)
    return bytes([branch << 1])


def _branch_of(kind: pa.DataType) -> int:
    for branch, (_, _, arrow) in enumerate(_BRANCHES, start=1):
        if kind.equals(arrow) and is_ordering_type(kind):
            return branch
    raise Unsupported(
        f"write a delete with an ordering value of type {kind}",
        "Hudi's delete blocks have no wrapper for it that all readers share",
        "use a bigint, int, double, string, date or timestamp as ordering column",
    )


def _ordering_values(orderings: pa.Array | None) -> pa.Array | bytes:
    if orderings is None:
        return b"\x00"
    assert not orderings.null_count, "the ordering value of a delete is never null"
    return _ENCODERS[orderings.type](orderings)


def _union() -> list[Any]:
    wrappers = [
        {"type": "record", "name": name, "fields": [{"name": "value", "type": kind}]} for name, kind, _ in _BRANCHES
    ]
    return ["null", *wrappers]


def _list_schema() -> Any:
    fields = [
        {"name": "recordKey", "type": ["null", "string"]},
        {"name": "partitionPath", "type": ["null", "string"]},
        {"name": "orderingVal", "type": _union()},
    ]
    return fastavro.parse_schema({"type": "array", "items": {"type": "record", "name": "Delete", "fields": fields}})


_LIST_SCHEMA: Final = _list_schema()


def decode_deletes(block: Block, name: str = "log file") -> list[pa.Table]:
    """Return the deletes of a delete block, as one table for each type of ordering value. Deletes without an ordering
    value form a table whose ordering column has the type null.

    Each returned table has the columns key, partition, position (in the block) and ordering. If the ordering column is
    not an int column, the int 0 denotes a delete that wins over all earlier records. `name` is the file name for error
    messages.
    """
    if len(block.content) < _HEAD.size:
        raise Damaged(f"read {name}", "a delete block in it is too short", "restore the file from a copy")
    version, length = _HEAD.unpack_from(block.content)
    if version != _VERSION:
        raise Unsupported(
            f"read {name}",
            f"a delete block in it has version {version}",
            "compact the table with Apache Hudi 1.x first",
        )
    content = io.BytesIO(block.content[_HEAD.size : _HEAD.size + length])
    try:
        records = fastavro.schemaless_reader(content, _LIST_SCHEMA, None, return_record_name=True)
    except EOFError as short:
        exists = f"a delete block in it ends before its records do ({short})"
        raise Damaged(f"read {name}", exists, "restore the file from a copy") from None
    except IndexError as unknown:
        raise Unsupported(
            f"read {name}",
            f"a delete block in it has ordering values of a kind unknown here ({unknown})",
            "use a table with one ordering column",
        ) from None
    return _by_type(cast(list[dict[str, Any]], records))


def _by_type(records: list[dict[str, Any]]) -> list[pa.Table]:
    wrappers = [None if record["orderingVal"] is None else record["orderingVal"][0] for record in records]
    tables = []
    for wanted in dict.fromkeys(wrappers):
        chosen = [at for at, wrapper in enumerate(wrappers) if wrapper == wanted]
        kind = pa.null() if wanted is None else _ARROW[wanted]
        values = [None if wanted is None else records[at]["orderingVal"][1]["value"] for at in chosen]
        tables.append(
            pa.table(
                {
                    "key": pa.array([records[at]["recordKey"] for at in chosen], pa.string()),
                    "partition": pa.array([records[at]["partitionPath"] or "" for at in chosen], pa.string()),
                    "position": pa.array(chosen, pa.int64()),
                    "ordering": pa.array(values, kind),
                }
            )
        )
    return tables


_ARROW: Final = {name: arrow for name, _, arrow in _BRANCHES}
