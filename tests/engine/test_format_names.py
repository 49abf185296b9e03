"""Names of data files, markers and instants: what is written is read back, what is foreign is ignored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.file_names import (
    BaseName,
    LogName,
    marked_file,
    marker,
    parse_base,
    parse_log,
    partition_metadata,
    split_path,
)
from nbcc.engine.names import RandomNames, bucket_file_id, bucket_of

FILE_ID = st.tuples(st.uuids(), st.integers(0, 9)).map(lambda parts: f"{parts[0]}-{parts[1]}")
TOKEN = st.tuples(*[st.integers(0, 2**31 - 1)] * 3).map(lambda parts: "-".join(map(str, parts)))
INSTANT = st.integers(2026 * 10**13, 2027 * 10**13).map(str)


@given(FILE_ID, TOKEN, INSTANT)
def test_base_names_come_back(file_id: str, token: str, instant: str) -> None:
    name = BaseName(file_id, token, instant)
    assert parse_base(str(name)) == name
    assert parse_log(str(name)) is None


@given(FILE_ID, INSTANT, st.integers(1, 10_000), st.none() | TOKEN)
def test_log_names_come_back(file_id: str, instant: str, version: int, token: str | None) -> None:
    name = LogName(file_id, instant, version, token)
    assert parse_log(str(name)) == name
    assert parse_base(str(name)) is None


def test_genuine_names() -> None:
    base = parse_base("6e1d5cc4-c487-487d-abbe-fe9b30b1c0cc-0_2-986-2794_20251220210108078.parquet")
    assert base == BaseName("6e1d5cc4-c487-487d-abbe-fe9b30b1c0cc-0", "2-986-2794", "20251220210108078")
    log = parse_log(".6e1d5cc4-c487-487d-abbe-fe9b30b1c0cc-0_20251220210127080.log.1_0-1072-3078")
    assert log == LogName("6e1d5cc4-c487-487d-abbe-fe9b30b1c0cc-0", "20251220210127080", 1, "0-1072-3078")
    changes = parse_log(".6e1d5cc4-0_20251220210127080.log.1_0-1072-3078.cdc")
    assert changes is not None
    assert changes.cdc


@pytest.mark.parametrize(
    "name", [".hoodie_partition_metadata", "part-0000.parquet", ".x.crc", "a_0-0-0_1.orc", "_SUCCESS", ""]
)
def test_other_files_are_no_data_files(name: str) -> None:
    assert parse_base(name) is None
    assert parse_log(name) is None


@pytest.mark.parametrize("partition", ["", "part=a", "a/b"])
def test_a_marker_leads_to_its_file(partition: str) -> None:
    path = marker("20260101000000000", partition, "f_0-0-0_20260101000000000.parquet")
    found = marked_file("20260101000000000", path)
    assert found is not None
    assert split_path(found) == (partition, "f_0-0-0_20260101000000000.parquet")
    assert marked_file("20260101000000001", path) is None


def test_partition_metadata_counts_levels() -> None:
    assert partition_metadata("", "1")[1].splitlines()[2] == b"partitionDepth=0"
    path, content = partition_metadata("a/b", "1")
    assert path == "a/b/.hoodie_partition_metadata"
    assert b"partitionDepth=2\n" in content
    assert b"commitTime=1\n" in content


def test_fixed_file_ids_hold_their_bucket() -> None:
    assert bucket_file_id(7) == "00000007-0000-0000-0000-000000000000-0"
    assert bucket_of(bucket_file_id(12345)) == 12345
    assert bucket_of("6e1d5cc4-c487-487d-abbe-fe9b30b1c0cc-0") is None


def test_tokens_differ_and_fit_java() -> None:
    tokens = {RandomNames().write_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(int(part) < 2**31 for token in tokens for part in token.split("-"))
