"""One flipped bit in a file of a table: a reader returns the right rows or raises a typed error, and never ends."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbcc import Table
from nbcc.engine.checksums import KEYS, checksum_of, verified_footer
from nbcc.engine.errors import Damaged
from nbcc.engine.parquet import decode_parquet, encode_base_file, write_base_file
from nbcc.engine.timeline.state_checkpoint import FOLDER
from tests.builders.hudi import same
from tests.builders.tables import batch, keys, make_table, state

CHILD = Path(__file__).with_name("flip.py")
KINDS = {
    "base": "part=p/*.parquet",
    "log": "part=p/.*.log.1_*",
    "archive": ".hoodie/timeline/history/*.parquet",
    "state": f"{FOLDER}/*.parquet",
    "commit": ".hoodie/timeline/*.deltacommit",
    "plan": ".hoodie/timeline/*.compaction.requested",
}
"""Kind of file -> a pattern of its path."""


def written(folder: Path, form: str = "parquet") -> Table:
    """A table with base files, logs with rows and deletes, an archive and a state checkpoint."""
    table = make_table(folder, options={"hoodie.logfile.data.block.format": form})
    for number in range(4):
        table.upsert(batch(*((f"k{each}", number, f"v{each}" * 5) for each in range(20))))
        table.delete(keys((f"k{number}", 50)))
        if number < 3:
            table.compact()
    table.archive(retained=2)
    table.upsert(batch(("k9", 90, "newest")))
    table.run("checkpoint_state")
    return table


def flipped(folder: Path, pattern: str, *, ranged: bool) -> list[str]:
    """What a child process reads after flips of single bits in the newest file with the given pattern."""
    instant = re.compile(r"\d{17}")  # of a write token, the number of digits varies
    path = max(folder.glob(pattern), key=lambda each: instant.findall(each.name)[-1])
    command = [sys.executable, str(CHILD), str(folder), str(path), "ranged" if ranged else "whole"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"the child ended: {done.stderr[-500:]}"
    return done.stdout.split()


@pytest.mark.parametrize("form", ["parquet", "avro"])
@pytest.mark.parametrize(("kind", "ranged"), [("base", False), ("base", True), ("log", False), ("archive", False)])
def test_a_flipped_bit_is_a_typed_error_or_changes_nothing(kind: str, ranged: bool, form: str, tmp_path: Path) -> None:
    if form == "avro" and kind != "log":
        pytest.skip("the format of logs")
    written(tmp_path, form)
    found = flipped(tmp_path, KINDS[kind], ranged=ranged)
    assert set(found) <= {"same", "Damaged", "Missing", "NotATable", "Unsupported", "LimitExceeded"}
    assert found.count("Damaged") > len(found) / 2 or kind == "archive"


def test_a_flipped_bit_of_a_state_checkpoint_changes_nothing(tmp_path: Path) -> None:
    """Also if the digest in its name is put right."""
    written(tmp_path)
    assert set(flipped(tmp_path, KINDS["state"], ranged=False)) == {"same"}


@pytest.mark.parametrize("kind", ["commit", "plan"])
def test_a_flipped_bit_of_a_timeline_file_is_noticed(kind: str, tmp_path: Path) -> None:
    """Also where no reader needs the byte. A flip of the key in the header says that there is no checksum: the rest is
    right then.
    """
    table = written(tmp_path)
    table.upsert(batch(("k9", 91, "after the state checkpoint")))
    if kind == "plan":
        assert table.schedule_compaction()
    found = flipped(tmp_path, KINDS[kind], ranged=False)
    assert set(found) <= {"Damaged", "LimitExceeded", "same"}
    assert found.count("same") < len(found) / 20


def test_the_checksums_of_files_are_optional_and_ignored_by_others(tmp_path: Path) -> None:
    table = written(tmp_path)
    assert same(table), "hudi-rs reads the files"
    [base] = list(tmp_path.glob(KINDS["base"]))[-1:]
    plain = pq.read_table(base)
    assert {*KEYS} <= pq.read_metadata(base).metadata.keys()
    pq.write_table(plain, sink := pa.BufferOutputStream())
    data = sink.getvalue()
    assert KEYS[0] in pq.read_metadata(pa.BufferReader(data)).metadata, "pyarrow has copied them"
    assert verified_footer(data, data.size) is None
    assert decode_parquet(data, "a file without checksums").num_rows == plain.num_rows


NESTED: Any = {
    "n": pa.array(range(10)),
    "s": pa.array([{"a": 1, "b": [str(i)]} for i in range(10)]),
    "m": pa.array([[("k", i)] for i in range(10)], pa.map_(pa.string(), pa.int64())),
    "d": pa.array(["x", "y"] * 5).dictionary_encode(),
}


@pytest.mark.parametrize("rows", [0, 10])
def test_each_column_chunk_has_a_checksum(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbcc.engine.parquet.GROUP_ROWS", 4)
    table = pa.table(NESTED).slice(0, rows)
    whole = encode_base_file(table)
    with (tmp_path / "parts").open("w+b") as target:
        write_base_file([table, table.slice(0, min(rows, 5)), table.slice(0, 0)], target)
    for data in (whole, (tmp_path / "parts").read_bytes()):
        checksums, metadata = verified_footer(data, len(data)), pq.read_metadata(pa.BufferReader(data))
        assert checksums is not None
        assert len(checksums) == metadata.num_row_groups * metadata.num_columns
        assert decode_parquet(data, "f").num_rows == metadata.num_rows
    if rows:
        place = pq.read_metadata(pa.BufferReader(whole)).row_group(1).column(0).data_page_offset + 1
        broken = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        with pytest.raises(Damaged, match="the column n of its row group 1 differs from its checksum"):
            decode_parquet(broken, "f")
        assert decode_parquet(broken, "f", ["m"]).num_rows == rows, "other columns are read"


def test_a_log_of_another_write_is_not_taken_for_the_listed_one(tmp_path: Path) -> None:
    """Both have the same size."""
    table = make_table(tmp_path)
    for value in ("a", "b"):
        table.upsert(batch(("k", 1, value)))
    first, second = sorted(tmp_path.glob(KINDS["log"]), key=lambda path: path.name)
    assert first.stat().st_size == second.stat().st_size
    assert checksum_of(first.read_bytes()) != checksum_of(second.read_bytes())
    first.write_bytes(second.read_bytes())
    with pytest.raises(Damaged, match="its content differs from the checksum in its commit"):
        state(table.snapshot())
    with pytest.raises(Damaged, match="its content differs from the checksum in its commit"):
        table.compact()
