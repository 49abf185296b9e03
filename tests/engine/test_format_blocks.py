"""Log blocks: golden vectors (docs/hudi-format.md), round trips, torn and foreign bytes."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.errors import NotATable, Unsupported
from nbcc.engine.files.delete_block import decode_deletes, encode_deletes
from nbcc.engine.files.log_block import MAGIC, Block, BlockKind, Header, encode_block, read_blocks
from tests.builders.blocks import rollback_block

DELETE_VECTOR = bytes.fromhex(
    "234855444923 0000000000000055 00000001 00000001 00000002"
    "00000000 00000011 3230323630313031303030303030303030"
    "00000002 00000002 7b7d"
    "0000000000000012 00000003 0000000a 02 02 02 6b 02 02 70 06 0e 00"
    "00000000 000000000000005b"
)
ROLLBACK_VECTOR = bytes.fromhex(
    "234855444923 000000000000005b 00000001 00000000 00000003"
    "00000000 00000011 3230323630313031303030303030303033"
    "00000001 00000011 3230323630313031303030303030303030"
    "00000003 00000001 30"
    "0000000000000000 00000000 0000000000000061"
)

KINDS = st.sampled_from([BlockKind.COMMAND, BlockKind.DELETE, BlockKind.AVRO, BlockKind.PARQUET])
HEADERS = st.dictionaries(st.sampled_from(Header), st.text(max_size=20), max_size=4)
CONTENT = st.binary(max_size=60) | st.just(MAGIC) | st.just(b"#HUDI#" * 3)
BLOCKS = st.lists(st.tuples(KINDS, HEADERS, CONTENT), max_size=4)

Written = tuple[BlockKind, Mapping[Header, str], bytes]


def as_written(block: Block) -> Written:
    return block.kind, block.headers, bytes(block.content)


def test_golden_delete_block() -> None:
    assert len(DELETE_VECTOR) == 99
    assert encode_deletes(pa.array(["k"]), "p", pa.array([7]), "20260101000000000", "{}") == DELETE_VECTOR
    (block,) = read_blocks(DELETE_VECTOR)
    assert (block.kind, block.instant) == (BlockKind.DELETE, "20260101000000000")
    (deletes,) = decode_deletes(block)
    assert deletes.to_pylist() == [{"key": "k", "partition": "p", "position": 0, "ordering": 7}]


def test_golden_rollback_block() -> None:
    assert len(ROLLBACK_VECTOR) == 105
    assert rollback_block("20260101000000003", "20260101000000000") == ROLLBACK_VECTOR
    (block,) = read_blocks(ROLLBACK_VECTOR)
    assert block.kind is BlockKind.COMMAND
    assert block.headers == {Header.INSTANT: "20260101000000003", Header.TARGET_INSTANT: "20260101000000000",
                             Header.COMMAND: "0"}  # fmt: skip


@given(BLOCKS)
def test_blocks_come_back(blocks: list[Written]) -> None:
    data = b"".join(encode_block(*block) for block in blocks)
    assert [as_written(block) for block in read_blocks(data)] == blocks


@given(BLOCKS.filter(bool), st.data())
def test_a_torn_tail_hides_only_the_block_it_tore(blocks: list[Written], data: st.DataObject) -> None:
    parts = [encode_block(*block) for block in blocks]
    cut = data.draw(st.integers(1, len(parts[-1]) - 1))
    whole = b"".join(parts[:-1])
    torn = whole + parts[-1][:-cut]
    if not torn.startswith(MAGIC):  # a file with fewer bytes than a magic is not a log file
        with pytest.raises(NotATable):
            list(read_blocks(torn))
        return
    read = [as_written(block) for block in read_blocks(torn) if block.kind is not BlockKind.CORRUPT]
    assert read[: len(blocks) - 1] == blocks[:-1]
    assert blocks[-1] not in read[len(blocks) - 1 :] or MAGIC in blocks[-1][2]


@given(BLOCKS.filter(bool), st.binary(min_size=1, max_size=40).filter(lambda junk: MAGIC not in junk + b"#HUDI"))
def test_garbage_between_blocks_is_one_corrupt_block(blocks: list[Written], junk: bytes) -> None:
    first, rest = encode_block(*blocks[0]), b"".join(encode_block(*block) for block in blocks[1:])
    read = list(read_blocks(first + junk + rest))
    assert as_written(read[0]) == blocks[0]
    assert read[1].kind is BlockKind.CORRUPT
    assert bytes(read[1].content) == junk
    assert [as_written(block) for block in read[2:]] == blocks[1:]


def test_a_block_whose_pointer_disagrees_is_corrupt() -> None:
    damaged = bytearray(ROLLBACK_VECTOR)
    damaged[-1] ^= 1
    read = list(read_blocks(bytes(damaged) + DELETE_VECTOR))
    assert [block.kind for block in read] == [BlockKind.CORRUPT, BlockKind.DELETE]


def test_an_empty_file_has_no_blocks() -> None:
    assert list(read_blocks(b"")) == []


def test_a_file_that_begins_otherwise_is_no_log_file() -> None:
    with pytest.raises(NotATable, match=r"read p/\.f_1\.log\.1_0-0-0.*magic"):
        list(read_blocks(b"PAR1", "p/.f_1.log.1_0-0-0"))


def test_an_unknown_header_is_refused() -> None:
    data = bytearray(encode_block(BlockKind.COMMAND, {Header.INSTANT: "1"}, b""))
    data[26:30] = struct.pack(">i", 42)
    with pytest.raises(Unsupported, match="unknown header 42"):
        list(read_blocks(bytes(data)))


def test_another_log_format_is_refused() -> None:
    data = bytearray(encode_block(BlockKind.COMMAND, {}, b""))
    data[14:18] = struct.pack(">i", 2)
    with pytest.raises(Unsupported, match="log format version 2"):
        list(read_blocks(bytes(data)))
