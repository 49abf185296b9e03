"""Small files that expand without end: a typed error, long before the memory is gone."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbcc.engine.errors import BadInput, Damaged, LimitExceeded, NbccError
from nbcc.engine.files.data_block import decode_data
from nbcc.engine.files.delete_block import decode_deletes
from nbcc.engine.files.log_block import Block, BlockKind, Header, encode_block, read_blocks
from nbcc.engine.limits import Limits, limits, set_limits
from nbcc.engine.parquet import FEW_VALUES, decode_parquet
from nbcc.engine.schema.avro_check import checked_schema
from nbcc.engine.timeline import CommitMetadata, encode_commit
from nbcc.engine.timeline.container import decode_record, encode_record
from nbcc.engine.timeline.fast_commit_parser import skim_commit
from nbcc.simulator.cli.main import run as command
from tests.builders.tables import batch, make_table

NULLS = {"type": "array", "items": "null"}


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = limits()
    yield
    set_limits(before)


def number(value: int) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", value)
    return out.getvalue()


def container(schema: Any, block: bytes, codec: bytes = b"null") -> bytes:
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    pairs = ((b"avro.schema", text), (b"avro.codec", codec))
    header = b"".join(number(len(part)) + part for pair in pairs for part in pair)
    mark = b"m" * 16
    return b"Obj\x01" + number(2) + header + number(0) + mark + number(1) + number(len(block)) + block + mark


def nested(depth: int) -> bytes:
    return b'{"type":"array","items":' * depth + b'"int"' + b"}" * depth


RECORD = {"type": "record", "name": "r"}
HOSTILE = {
    "a null array": container(NULLS, number(1 << 40) + number(0)),
    "a null array in a record": container(RECORD | {"fields": [{"name": "a", "type": NULLS}]}, number(1 << 33)),
    "a null field": container(RECORD | {"fields": [{"name": "a", "type": "null"}]}, b""),
    "an array of empty records": container({"type": "array", "items": RECORD | {"fields": []}}, number(1 << 40)),
    "a fixed type without bytes": container({"type": "array", "items": {"type": "fixed", "name": "f", "size": 0}}, b""),
    "a recursive schema": container(RECORD | {"fields": [{"name": "a", "type": ["null", "r"]}]}, number(1) * 100_000),
    "a recursive schema in a namespace": container(
        RECORD | {"namespace": "n", "fields": [{"name": "a", "type": "n.r"}]}, b""
    ),
    "a schema nested deep": container(nested(3000), number(0)),
    "a schema nested deeper": container(b"[" * 200_000, number(0)),
    "an endless number": b"Obj\x01" + b"\xff" * 3_000_000,
    "a header of many entries": b"Obj\x01" + number(1 << 50) + b"\0" * 100,
    "another codec": container(RECORD | {"fields": [{"name": "a", "type": "int"}]}, b"x", b"xz"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_containers_are_a_typed_error(what: str) -> None:
    with pytest.raises(NbccError, match=r"timeline file 1_2\.commit"):
        decode_record(HOSTILE[what], "1_2.commit")
    with pytest.raises((ValueError, KeyError, IndexError, NbccError)):
        skim_commit(HOSTILE[what])


def test_a_packed_record_is_unpacked_up_to_the_limit() -> None:
    schema = RECORD | {"fields": [{"name": "a", "type": "bytes"}]}
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(number(1 << 27) + bytes(1 << 27)) + packer.flush()
    assert len(packed) < 1 << 18
    with pytest.raises(LimitExceeded, match=r"more than 67108864 bytes.*raise metadata_bytes"):
        decode_record(container(schema, packed, b"deflate"), "1_2.commit")
    set_limits(Limits(metadata_bytes=1 << 28))
    assert len(decode_record(container(schema, packed, b"deflate"), "1_2.commit")["a"]) == 1 << 27
    plain = container(schema, number(1000) + bytes(1000))
    set_limits(Limits(metadata_bytes=1000))
    with pytest.raises(LimitExceeded):
        decode_record(plain, "1_2.commit")


def test_genuine_records_stay_within_the_limits_of_a_schema() -> None:
    data = encode_commit(CommitMetadata((), "UPSERT", extra={"schema": "{}"}))
    assert decode_record(data, "a commit")["operationType"] == "UPSERT"
    assert encode_record("clean_plan", {"policy": ""})
    shared = {"type": "record", "name": "s", "fields": [{"name": "x", "type": "int"}]}
    twice = RECORD | {"fields": [{"name": "a", "type": shared}, {"name": "b", "type": ["null", "s"]}]}
    assert checked_schema(json.dumps(twice), "a file") == twice
    with pytest.raises(LimitExceeded, match="more than 3 types"):
        checked_schema(json.dumps(twice), "a file", Limits(schema_types=3))
    with pytest.raises(LimitExceeded, match="deeper than 2 levels"):
        checked_schema(nested(5), "a file", Limits(schema_depth=2))


def test_types_that_double_at_each_level_are_counted_where_they_are_used() -> None:
    kind: Any = {"type": "record", "name": "r0", "fields": [{"name": "x", "type": "int"}]}
    for level in range(1, 40):
        fields = [{"name": "x", "type": kind}, {"name": "y", "type": f"r{level - 1}"}]
        kind = {"type": "record", "name": f"r{level}", "fields": fields}
    with pytest.raises(LimitExceeded, match="schema_types"):
        checked_schema(json.dumps(kind), "a file")


def block(kind: BlockKind, schema: Any, content: bytes) -> Block:
    headers = {Header.INSTANT: "1", Header.SCHEMA: json.dumps(schema)}
    (found,) = read_blocks(encode_block(kind, headers, content))
    return found


COLUMN = RECORD | {"fields": [{"name": "id", "type": "string"}]}
LENGTH = struct.Struct(">i")
BLOCKS = {
    "a negative count": (COLUMN, struct.pack(">ii", 3, -5)),
    "a count without records": (COLUMN, struct.pack(">ii", 3, 2**31 - 1)),
    "lengths that stand still": (COLUMN, struct.pack(">ii", 3, 2**31 - 1) + LENGTH.pack(-4) * 10),
    "a null array": (
        RECORD | {"fields": [{"name": "id", "type": NULLS}]},
        struct.pack(">ii", 3, 1) + LENGTH.pack(len(number(1 << 34) + number(0))) + number(1 << 34) + number(0),
    ),
}


@pytest.mark.parametrize("what", BLOCKS)
def test_hostile_avro_blocks_end(what: str) -> None:
    schema, content = BLOCKS[what]
    with pytest.raises((ValueError, struct.error, EOFError, NbccError)):
        decode_data(block(BlockKind.AVRO, schema, content), "p/.f_1.log.1_0-0-0")


def test_hostile_delete_blocks_end() -> None:
    content = struct.pack(">ii", 3, 20) + number(1 << 40) + b"\0" * 20
    for each in (content, b"", b"\0\0\0\3"):
        with pytest.raises(Damaged, match="read p/f"):
            decode_deletes(block(BlockKind.DELETE, {}, each), "p/f")


def test_hostile_block_headers_end() -> None:
    data = bytearray(encode_block(BlockKind.AVRO, {Header.INSTANT: "1", Header.SCHEMA: "{}"}, b""))
    data[22:26] = LENGTH.pack(2**31 - 1)
    with pytest.raises(NbccError, match="read p/f"):
        list(read_blocks(bytes(data), "p/f"))
    data[22:26], data[30:34] = LENGTH.pack(2), LENGTH.pack(-1)
    with pytest.raises(Damaged, match="header that cannot be decoded"):
        list(read_blocks(bytes(data), "p/f"))


def packed_parquet(rows: int, text: str) -> bytes:
    """A dictionary of one value, and which row has it in a few bytes."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    sink = io.BytesIO()
    table = pa.table({"id": values, **dict.fromkeys(FEW_VALUES, values), "n": [1] * rows})
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def test_parquet_is_unpacked_up_to_the_limit() -> None:
    data = packed_parquet(200_000, "x" * 1000)
    assert len(data) < 200_000
    bounds = Limits(decoded_bytes=100 << 20)
    before = pa.total_allocated_bytes()
    for packed in (True, False):
        with pytest.raises(LimitExceeded, match=r"read p/f.*raise decoded_bytes"):
            decode_parquet(data, "p/f", packed=packed, bounds=bounds)
    assert pa.total_allocated_bytes() - before < 10 << 20
    assert decode_parquet(data, "p/f", ["n"], bounds=bounds).num_rows == 200_000


@pytest.mark.parametrize("packed", [True, False])
def test_what_is_within_the_limit_is_read_as_ever(packed: bool) -> None:
    """The bound of the footer is too high here, so that the column goes through a dictionary."""
    values = ["a" * 40, "b", None, ""] * 5000
    rows = pa.table(
        {
            "id": pa.array(values),
            **dict.fromkeys(FEW_VALUES, pa.array(values)),
            "raw": pa.array([b"1", b"2"] * 10_000),
            "many": pa.array([["q" * 30, None], []] * 10_000, pa.list_(pa.string())),
        }
    )
    sink = io.BytesIO()
    pq.write_table(rows, sink, store_schema=False)
    easy = decode_parquet(sink.getvalue(), "f", packed=packed)
    hard = decode_parquet(sink.getvalue(), "f", packed=packed, bounds=Limits(decoded_bytes=3 << 20, decoded_ratio=1))
    assert hard.schema.equals(easy.schema)
    assert hard.equals(easy)


def test_lists_of_long_texts_are_counted_batch_by_batch() -> None:
    value = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 1000]))
    lists = pa.ListArray.from_arrays(pa.array(range(0, 100_001, 10), pa.int32()), value)
    sink = io.BytesIO()
    pq.write_table(pa.table({"many": lists}), sink, compression="zstd", store_schema=False)
    with pytest.raises(LimitExceeded, match="read f"):
        decode_parquet(sink.getvalue(), "f", bounds=Limits(decoded_bytes=10 << 20, decoded_ratio=1))


def test_a_limit_is_a_whole_number() -> None:
    for value in (0, -1, 1.5, "1", True):
        with pytest.raises(BadInput, match="whole number from 1 on"):
            Limits(metadata_bytes=value)  # type: ignore[arg-type]


def test_the_command_sets_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    assert command(["--limit", "metadata_bytes=10", "why", str(tmp_path), "a"]) == 2
    assert "raise metadata_bytes (nbcc.set_limits, or --limit metadata_bytes=N" in capsys.readouterr().err
    assert command(["--limit", "metadata_bytes=67108864", "why", str(tmp_path), "a"]) == 0
    for wrong in ("metadata_bytes", "metadata_bytes=", "metadata_bytes=0", "memory=1", "metadata_bytes=1g"):
        assert command(["--limit", wrong, "inspect", str(tmp_path)]) == 2
        assert "limit" in capsys.readouterr().err


def test_tasks_carry_the_limits_of_the_process_that_planned_them(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(*((f"k{n}", 1, "x" * 50) for n in range(200))))
    set_limits(Limits(decoded_bytes=1000, decoded_ratio=1))
    with pytest.raises(LimitExceeded):
        table.snapshot()
    set_limits(Limits())
    assert len(table.snapshot()) == 200
