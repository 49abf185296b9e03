"""Rows in parquet and in Avro blocks, and the three tongues of a schema."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc.engine.errors import NotATable, Unsupported
from nbcc.engine.files.data_block import DataFormat, decode_data, encode_data
from nbcc.engine.files.log_block import Block, BlockKind, Header, read_blocks
from nbcc.engine.parquet import decode_parquet, encode_parquet
from nbcc.engine.schema import META_COLUMNS, avro_json, from_avro, from_spark, to_spark, with_meta, without_meta

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(max_size=30),
    pa.binary(): st.binary(max_size=30),
    pa.date32(): st.dates(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(UTC)),
    pa.timestamp("ms", "UTC"): st.datetimes(timezones=st.just(UTC)).map(
        lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    ),
    pa.timestamp("us"): st.datetimes(),
    pa.decimal128(10, 2): st.integers(-(10**10) + 1, 10**10 - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-2)),
    pa.decimal128(30, 5): st.integers(-(10**30) + 1, 10**30 - 1).map(lambda n: Decimal(f"{n}e-5")),
}


def types(depth: int = 2) -> st.SearchStrategy[pa.DataType]:
    plain = st.sampled_from(list(VALUES))
    if not depth:
        return plain
    inner = types(depth - 1)
    names = st.lists(st.sampled_from("xyz"), min_size=1, max_size=2, unique=True)
    structs = names.flatmap(lambda names: st.tuples(*(inner.map(partial(pa.field, name)) for name in names)))
    return st.one_of(
        plain,
        inner.map(lambda kind: pa.list_(pa.field("element", kind))),
        inner.map(lambda kind: pa.map_(pa.string(), pa.field("value", kind))),
        structs.map(lambda fields: pa.struct(list(fields))),
    )


def values(field: pa.Field) -> st.SearchStrategy[Any]:
    kind = field.type
    if pa.types.is_list(kind):
        found: st.SearchStrategy[Any] = st.lists(values(kind.value_field), max_size=3)
    elif pa.types.is_map(kind):
        found = st.dictionaries(st.text(max_size=3), values(kind.item_field), max_size=2)
    elif pa.types.is_struct(kind):
        found = st.fixed_dictionaries({inner.name: values(inner) for inner in kind})
    else:
        found = VALUES[kind]
    return st.none() | found if field.nullable else found


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    kinds = draw(st.lists(types(), min_size=1, max_size=3))
    schema = pa.schema([pa.field(f"c{n}", kind, draw(st.booleans())) for n, kind in enumerate(kinds)])
    row = {**dict.fromkeys(META_COLUMNS, st.text(max_size=5)), **{field.name: values(field) for field in schema}}
    rows = draw(st.lists(st.fixed_dictionaries(row), min_size=1, max_size=4))
    return pa.Table.from_pylist(rows, schema=with_meta(schema))


@given(tables(), st.sampled_from(["parquet", "avro"]))
def test_rows_come_back_from_blocks(rows: pa.Table, data_format: DataFormat) -> None:
    schema = avro_json(without_meta(rows.schema), "t", meta=True)
    (block,) = read_blocks(encode_data(rows, data_format, "20260101000000000", schema))
    assert block.kind is (BlockKind.PARQUET if data_format == "parquet" else BlockKind.AVRO)
    assert block.headers == {Header.INSTANT: "20260101000000000", Header.SCHEMA: schema}
    read = decode_data(block)
    assert read.column_names == rows.column_names
    assert read.to_pylist() == rows.to_pylist()
    if data_format == "avro":
        assert read.schema == rows.schema


@settings(max_examples=40)
@given(tables())
def test_schemas_come_back_from_avro(rows: pa.Table) -> None:
    schema = without_meta(rows.schema)
    assert from_avro(avro_json(schema, "t")) == schema
    assert from_avro(avro_json(schema, "t", meta=True)) == rows.schema


@settings(max_examples=40)
@given(tables())
def test_schemas_come_back_from_spark(rows: pa.Table) -> None:
    """Spark has one timestamp: milliseconds come back as microseconds."""
    schema = without_meta(rows.schema)
    there = from_spark(to_spark(schema))
    assert to_spark(there) == to_spark(schema)
    if "timestamp[ms" not in str(schema):
        assert there == schema


def test_avro_names_are_those_of_spark() -> None:
    schema = pa.schema([("id", pa.string()), ("d", pa.decimal128(10, 2)), ("s", pa.struct([("x", pa.int32())]))])
    record = json.loads(avro_json(schema, "trips"))
    assert (record["name"], record["namespace"]) == ("trips_record", "hoodie.trips")
    assert record["fields"][0] == {"name": "id", "type": ["null", "string"], "default": None}
    fixed = record["fields"][1]["type"][1]
    assert (fixed["namespace"], fixed["size"]) == ("hoodie.trips.trips_record.d", 5)
    assert record["fields"][2]["type"][1]["namespace"] == "hoodie.trips.trips_record"


@pytest.mark.parametrize(("precision", "size"), [(1, 1), (2, 1), (3, 2), (10, 5), (18, 8), (19, 9), (30, 13), (38, 16)])
def test_decimals_take_as_few_bytes_as_in_spark(precision: int, size: int) -> None:
    (field,) = json.loads(avro_json(pa.schema([("d", pa.decimal128(precision, 0))]), "t"))["fields"]
    assert field["type"][1]["size"] == size


def test_avro_of_others() -> None:
    """Java's marked strings, nulls last, and a named type used again by its name."""
    inner = {"type": "record", "name": "inner", "namespace": "n", "fields": [{"name": "x", "type": "int"}]}
    fields = [
        {"name": "a", "type": [{"type": "string", "avro.java.string": "String"}, "null"]},
        {"name": "b", "type": inner},
        {"name": "c", "type": ["null", "n.inner"]},
        {"name": "d", "type": {"type": "enum", "name": "e", "symbols": ["X"]}},
    ]
    kind = pa.struct([pa.field("x", pa.int32(), nullable=False)])
    expected = [pa.field("a", pa.string()), pa.field("b", kind, nullable=False), pa.field("c", kind),
                pa.field("d", pa.string(), nullable=False)]  # fmt: skip
    assert from_avro(json.dumps({"type": "record", "name": "r", "fields": fields})) == pa.schema(expected)


@pytest.mark.parametrize(
    "kind", [pa.uint32(), pa.int16(), pa.timestamp("ns"), pa.timestamp("us", "Asia/Tokyo")], ids=str
)
def test_types_that_readers_do_not_share_are_refused(kind: pa.DataType) -> None:
    with pytest.raises(Unsupported, match="store the column 'c'"):
        avro_json(pa.schema([("c", kind)]), "t")


def test_the_engine_imports_no_pyspark() -> None:
    program = "import sys, nbcc.engine.schema, nbcc.engine.definition.load; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_some_columns_of_a_base_file() -> None:
    data = encode_parquet(pa.table({"a": [1], "b": ["x"], "_hoodie_commit_time": ["1"]}))
    assert decode_parquet(data, "f", ["b", "missing"]).to_pydict() == {"b": ["x"]}
    assert decode_parquet(encode_parquet(pa.table({"a": pa.array([], pa.int64())})), "f").num_rows == 0


def test_columns_that_compression_does_not_shrink_are_left_as_they_are() -> None:
    count = 2_000
    hashes = [sha256(str(number).encode()).hexdigest() for number in range(count)]
    rows = pa.table(
        {
            "hash": hashes,
            "nested": [{"key": text} for text in hashes],
            "number": range(count),
            "empty": pa.nulls(count, pa.string()),
            "late": [None] * 1_500 + hashes[1_500:],
        }
    )
    data = encode_parquet(rows)
    assert decode_parquet(data, "f").equals(rows)
    assert _codecs(data) == {
        "hash": "UNCOMPRESSED",
        "nested.key": "UNCOMPRESSED",
        "number": "SNAPPY",
        "empty": "SNAPPY",
        "late": "SNAPPY",
    }
    assert set(_codecs(encode_parquet(rows.slice(0, 100))).values()) == {"SNAPPY"}


def _codecs(data: bytes) -> dict[str, str]:
    group = pq.read_metadata(pa.BufferReader(data)).row_group(0)
    leaves = [group.column(number) for number in range(group.num_columns)]
    return {leaf.path_in_schema: leaf.compression for leaf in leaves}


def test_what_is_no_parquet_says_so() -> None:
    with pytest.raises(NotATable, match=r"read p/f\.parquet.*not parquet"):
        decode_parquet(b"nonsense", "p/f.parquet")


@pytest.mark.parametrize("kind", [BlockKind.HFILE, BlockKind.CDC])
def test_blocks_of_other_kinds_are_refused(kind: BlockKind) -> None:
    with pytest.raises(Unsupported, match=f"block of kind {kind.name}"):
        decode_data(Block(kind, {}, memoryview(b"")))


def test_an_avro_block_without_schema_or_of_another_version_is_refused() -> None:
    with pytest.raises(NotATable, match="no schema"):
        decode_data(Block(BlockKind.AVRO, {}, memoryview(b"")))
    with pytest.raises(Unsupported, match="version 2"):
        decode_data(Block(BlockKind.AVRO, {Header.SCHEMA: "{}"}, memoryview(b"\0\0\0\2\0\0\0\0")))
