"""Delete blocks: typed orderings in and out, against fastavro, and fast."""

from __future__ import annotations

import io
import struct
import time
from datetime import UTC
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.errors import Unsupported
from nbcc.engine.files.delete_block import _BRANCHES, decode_deletes, encode_deletes, is_ordering_type
from nbcc.engine.files.log_block import Block, BlockKind, Header, read_blocks

INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
ORDERINGS = {
    pa.int64(): INT64,
    pa.int32(): INT32,
    pa.date32(): st.dates(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(UTC)),
    pa.float64(): st.floats(allow_nan=False),
    pa.float32(): st.floats(allow_nan=False, width=32),
    pa.string(): st.text(max_size=200),
    pa.binary(): st.binary(max_size=200),
    pa.bool_(): st.booleans(),
}


def only_block(data: bytes) -> Block:
    (block,) = read_blocks(data)
    return block


@pytest.mark.parametrize("kind", ORDERINGS, ids=str)
@given(data=st.data(), partition=st.sampled_from(["", "part=é", "a/b"]))
def test_deletes_come_back(kind: pa.DataType, data: st.DataObject, partition: str) -> None:
    given_deletes = data.draw(st.lists(st.tuples(st.text(max_size=80), ORDERINGS[kind]), min_size=1, max_size=5))
    keys = pa.array([key for key, _ in given_deletes], pa.string())
    orderings = pa.array([value for _, value in given_deletes], kind)
    block = only_block(encode_deletes(keys, partition, orderings, "20260101000000000", '{"é": 1}'))
    assert block.headers == {Header.INSTANT: "20260101000000000", Header.SCHEMA: '{"é": 1}'}
    (deletes,) = decode_deletes(block)
    assert deletes["key"].combine_chunks().equals(keys)
    assert deletes["ordering"].cast(kind).combine_chunks().equals(orderings)
    assert deletes["partition"].to_pylist() == [partition] * len(keys)
    assert deletes["position"].to_pylist() == list(range(len(keys)))


@pytest.mark.parametrize(
    ("days", "written"), [([1, -1], pa.int32()), ([1, 0], pa.date32())], ids=["ints", "dates with 1970-01-01"]
)
def test_dates_are_ints_unless_one_would_be_the_int_that_always_wins(days: list[int], written: pa.DataType) -> None:
    orderings = pa.array(days, pa.date32())
    (deletes,) = decode_deletes(only_block(encode_deletes(pa.array(["a", "b"]), "", orderings, "1", "{}")))
    assert deletes["ordering"].type == written
    assert deletes["ordering"].cast(pa.date32()).combine_chunks().equals(orderings)


def test_a_timestamp_is_the_long_that_hudi_writes() -> None:
    """The bytes of a delete block of Apache Hudi 1.2.0 with the ordering value 2020-01-01."""
    orderings = pa.array([1_577_836_800_000_000], pa.timestamp("us", "UTC"))
    block = only_block(encode_deletes(pa.array(["k"]), "p", orderings, "1", "{}"))
    assert bytes(block.content).hex() == "00000003000000110202026b020270068080d29f98c2cd0500"


def test_slices_of_arrays_are_written_as_they_look() -> None:
    keys, orderings = pa.array(["a", "b", "c", "d"]), pa.array([1, 2, 3, 4])
    (deletes,) = decode_deletes(only_block(encode_deletes(keys[1:3], "", orderings[1:3], "1", "{}")))
    assert deletes["key"].to_pylist() == ["b", "c"]
    assert deletes["ordering"].to_pylist() == [2, 3]


def test_deletes_that_always_win_are_the_int_zero() -> None:
    """As Spark's DELETE statement writes them for any ordering column."""
    (deletes,) = decode_deletes(only_block(encode_deletes(pa.array(["a", "b"]), "", None, "1", "{}")))
    assert deletes["ordering"].type == pa.int32()
    assert deletes["ordering"].to_pylist() == [0, 0]


def test_no_deletes_are_an_empty_list() -> None:
    block = only_block(encode_deletes(pa.array([], pa.string()), "", None, "1", "{}"))
    assert bytes(block.content) == bytes.fromhex("000000030000000100")
    assert decode_deletes(block) == []


def avro_block(records: list[dict[str, Any]], version: int = 3) -> Block:
    """A delete block by fastavro, row by row, as Java would write it."""
    namespace = "org.apache.hudi.avro.model"
    wrappers = [
        {"type": "record", "name": name, "fields": [{"name": "value", "type": kind}]} for name, kind, _ in _BRANCHES
    ]
    fields = [
        {"name": "recordKey", "type": ["null", "string"]},
        {"name": "partitionPath", "type": ["null", "string"]},
        {"name": "orderingVal", "type": ["null", *wrappers]},
    ]
    item = {"type": "record", "name": "HoodieDeleteRecord", "fields": fields}
    listed = {"name": "deleteRecordList", "type": {"type": "array", "items": item}}
    schema = {"type": "record", "name": "HoodieDeleteRecordList", "namespace": namespace, "fields": [listed]}
    content = io.BytesIO()
    fastavro.schemaless_writer(content, fastavro.parse_schema(schema), {"deleteRecordList": records})
    framed = struct.pack(">ii", version, len(content.getvalue())) + content.getvalue()
    return Block(BlockKind.DELETE, {Header.INSTANT: "1"}, memoryview(framed))


def wrapped(wrapper: str, value: Any) -> tuple[str, dict[str, Any]]:
    return f"org.apache.hudi.avro.model.{wrapper}", {"value": value}


def test_our_bytes_are_those_of_a_row_by_row_writer() -> None:
    keys, orderings = ["a", "ü" * 100, ""], [0, -1, 2**62]
    records = [{"recordKey": k, "partitionPath": "p", "orderingVal": wrapped("LongWrapper", o)}
               for k, o in zip(keys, orderings, strict=True)]  # fmt: skip
    ours = only_block(encode_deletes(pa.array(keys), "p", pa.array(orderings), "1", "{}"))
    assert bytes(ours.content) == bytes(avro_block(records).content)


def test_a_block_of_several_types_comes_apart_with_positions() -> None:
    """Java mixes them: an int 0, typed values and nulls in one block."""
    orderings = [wrapped("LongWrapper", 5), wrapped("IntWrapper", 0), None, wrapped("LongWrapper", 7)]
    records = [{"recordKey": f"k{n}", "partitionPath": None, "orderingVal": o} for n, o in enumerate(orderings)]
    tables = decode_deletes(avro_block(records))
    found = {
        str(table["ordering"].type): (table["position"].to_pylist(), table["ordering"].to_pylist()) for table in tables
    }
    assert found == {"int64": ([0, 3], [5, 7]), "int32": ([1], [0]), "null": ([2], [None])}
    assert all(partition == "" for table in tables for partition in table["partition"].to_pylist())


def test_old_versions_and_unknown_branches_are_refused() -> None:
    with pytest.raises(Unsupported, match="version 2"):
        decode_deletes(avro_block([], version=2))
    records = [{"recordKey": "k", "partitionPath": "", "orderingVal": None}]
    content = bytearray(avro_block(records).content)
    content[-2] = 12 << 1  # ArrayWrapper: several ordering columns
    with pytest.raises(Unsupported, match="unknown here"):
        decode_deletes(Block(BlockKind.DELETE, {}, memoryview(bytes(content))))


@pytest.mark.parametrize(
    "kind", [pa.decimal128(10, 2), pa.uint64(), pa.timestamp("ms", "UTC"), pa.list_(pa.int64())], ids=str
)
def test_types_without_a_shared_wrapper_are_refused(kind: pa.DataType) -> None:
    assert not is_ordering_type(kind)
    with pytest.raises(Unsupported, match="ordering value of type"):
        encode_deletes(pa.array(["k"]), "", pa.nulls(1, kind), "1", "{}")


def test_a_hundred_thousand_deletes_are_encoded_in_a_fraction_of_a_second() -> None:
    count = 100_000
    keys = pa.array([f"key-{n:09d}" for n in range(count)])
    orderings = pa.array(range(count), pa.int64())
    started = time.process_time()
    data = encode_deletes(keys, "part=1", orderings, "20260101000000000", "{}")
    assert time.process_time() - started < 0.3
    (deletes,) = decode_deletes(only_block(data))
    assert deletes["key"].combine_chunks().equals(keys)
