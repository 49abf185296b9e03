"""A file group whose rows exceed the memory of a task: merged in parts of its keys, or refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbcc.engine import Table, parquet
from nbcc.engine.data import passes, ranged_file, spill
from nbcc.engine.data.fetch import decoding
from nbcc.engine.data.layers import Layer
from nbcc.engine.data.memory import COPIES
from nbcc.engine.data.spill import joined
from nbcc.engine.errors import BadInput, LimitExceeded
from nbcc.engine.limits import Limits, set_limits
from nbcc.engine.storage import open_storage
from nbcc.engine.table import open_table
from nbcc.engine.wiring import context_of

from .hooked import Hooked

ROWS = 3000
SCHEMA = pa.schema(
    [("id", pa.string()), ("ts", pa.int64()), ("value", pa.string()), ("other", pa.string()), ("size", pa.float64())]
)
SMALL = Limits(task_bytes=400_000)
PARTIAL = {"nbcc.partial.update.mode": "SET_COLUMNS"}
MODES: dict[str, dict[str, Any]] = {
    "event time": {},
    "commit time": {"merge_mode": "COMMIT_TIME_ORDERING"},
    "partial": {"options": PARTIAL},
}


@pytest.fixture(autouse=True)
def usual_limits() -> Iterator[None]:
    yield
    set_limits(Limits())


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Base files have several row groups, and are read in ranges."""
    monkeypatch.setattr(parquet, "GROUP_ROWS", 500)
    monkeypatch.setattr(ranged_file, "TAIL_BYTES", 1 << 10)
    monkeypatch.setattr(ranged_file, "WHOLE_BYTES", 1 << 12)


@pytest.fixture
def merges(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of the rows of each merge under a limit."""
    sizes: list[int] = []

    def counted(layers: Any) -> Any:
        sizes.append(sum(layer.rows.nbytes + layer.deletes.nbytes for layer in layers))
        return joined(layers)

    monkeypatch.setattr(passes, "joined", counted)
    return sizes


def batch(first: int, last: int, ts: int, value: str) -> pa.Table:
    numbers = range(first, last)
    columns = [
        [f"k{n}" for n in numbers], [ts] * len(numbers), [f"{value} {n}" for n in numbers], [None] * len(numbers),
        [float(n) for n in numbers],
    ]  # fmt: skip
    return pa.table(columns, schema=SCHEMA)


def large_group(folder: Path | str, **options: Any) -> Table:
    """One file group with a base file, tombstones, and logs of rows and deletes."""
    table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=1, **options)
    table.upsert(batch(0, ROWS, 1, "first"))
    table.delete(batch(0, 500, 3, "").select(["id", "ts"]))
    table.compact()
    table.upsert(batch(300, 1500, 2, "second"))  # below the deletes of 300 to 499
    table.delete(batch(1000, 1200, 2, "").select(["id", "ts"]))
    return table


def content(rows: pa.Table) -> list[dict[str, Any]]:
    names = [name for name in rows.column_names if name != "_hoodie_file_name"]
    return sorted(rows.select(names).to_pylist(), key=lambda row: str(row["id"]))


@pytest.mark.parametrize("mode", MODES)
def test_parts_change_no_result(tmp_path: Path, merges: list[int], mode: str) -> None:
    table = large_group(tmp_path / "t", **MODES[mode])
    if mode == "partial":
        table.upsert(batch(0, 700, 4, "third").select(["id", "ts", "value"]), columns=["value"])
    expected = content(table.snapshot())
    set_limits(SMALL)
    assert content(table.snapshot()) == expected
    assert len(merges) > 1
    merges.clear()
    table.compact()
    assert len(merges) > 1
    assert content(table.snapshot()) == content(table.read_optimized()) == expected
    set_limits(Limits())
    assert content(table.snapshot()) == expected
    table.upsert(batch(0, 600, 2, "late"))  # by event time the deletes of 0 to 499 are kept, and win
    late = {row["id"] for row in table.snapshot().to_pylist() if row["value"].startswith("late")}
    assert bool(late & {f"k{n}" for n in range(500)}) == (mode == "commit time")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", [[("id", "<", "k12")], [("value", ">", "second 2")], [("ts", ">", 7)]])
def test_parts_of_a_read_with_a_condition(tmp_path: Path, mode: str, where: list[Any]) -> None:
    table = large_group(tmp_path / "t", **MODES[mode])
    expected = [content(read(["id", "size"], where=where)) for read in (table.snapshot, table.read_optimized)]
    set_limits(SMALL)
    found = [content(read(["id", "size"], where=where)) for read in (table.snapshot, table.read_optimized)]
    assert found == expected


def test_a_compaction_in_parts_lists_what_a_whole_one_lists(tmp_path: Path) -> None:
    commits = []
    for name, bounds in (("whole", Limits()), ("parts", SMALL)):
        table = large_group(tmp_path / name)
        set_limits(bounds)
        done = table.compact()
        set_limits(Limits())
        assert done is not None
        stats = table.context.commits.commit(done).stats
        commits.append([(stat.writes, stat.deletes, stat.log_blocks) for stat in stats])
    assert commits[0] == commits[1]


def test_a_part_that_is_still_too_large_is_split_again(
    tmp_path: Path, merges: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = large_group(tmp_path / "t")
    expected = content(table.snapshot())
    monkeypatch.setattr(passes, "MOST_PARTS", 2)
    set_limits(SMALL)
    assert content(table.snapshot()) == expected
    assert max(merges[1:]) * COPIES > SMALL.task_bytes, "half of the rows are one part"


def test_no_merge_holds_more_than_a_task_may(tmp_path: Path, merges: list[int]) -> None:
    table = large_group(tmp_path / "t")
    set_limits(SMALL)
    table.compact()
    _first, *parts = merges  # the rows that were read before the split
    assert max(parts) * COPIES <= SMALL.task_bytes < sum(parts) * COPIES


def test_a_file_in_parts_has_statistics(tmp_path: Path) -> None:
    table = large_group(tmp_path / "t")
    set_limits(SMALL)
    done = table.compact()
    assert done is not None
    (path,) = (tmp_path / "t").glob(f"*_{done.requested}.parquet")
    footer = pq.read_metadata(path)
    known = {footer.row_group(0).column(n).path_in_schema for n in range(footer.num_columns)
             if footer.row_group(0).column(n).is_stats_set}  # fmt: skip
    assert {"id", "ts", "value"} <= known
    assert "size" not in known
    assert parquet.NO_NAN in footer.metadata


FIGURES = r"the first \d+ bytes of them need about \d+, and task_bytes is 400000: raise task_bytes"
UNBOUNDED: dict[str, Callable[[Table], Any]] = {
    "log_compact": Table.log_compact,
    "cluster": lambda table: table.cluster(["value"]),
    "incremental": lambda table: table.incremental("0" * 17),
    "changes": lambda table: table.changes(table.timeline()[0]),
}


@pytest.mark.parametrize("operation", UNBOUNDED)
def test_what_needs_all_rows_at_once_is_refused_with_figures(tmp_path: Path, operation: str) -> None:
    table = large_group(tmp_path / "t")
    table.upsert(batch(0, ROWS, 5, "last"))
    set_limits(SMALL)
    with pytest.raises(LimitExceeded, match=FIGURES):
        UNBOUNDED[operation](table)


def test_equal_hashes_are_refused_with_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = large_group(tmp_path / "t")
    set_limits(SMALL)
    monkeypatch.setattr(passes, "LEVELS", 0)
    with pytest.raises(LimitExceeded, match=f"a part of the keys of the file group 00000000-.* {FIGURES}"):
        table.snapshot()


def test_a_copy_on_write_group_is_refused_with_figures(tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1,
                         table_type="COPY_ON_WRITE", concurrency_mode="SINGLE_WRITER")  # fmt: skip
    table.upsert(batch(0, ROWS, 1, "first"))
    set_limits(SMALL)
    with pytest.raises(LimitExceeded, match="the rows of the file group 00000000"):
        table.upsert(batch(0, 1, 2, "second"))
    assert len(table.timeline()) == 1


def test_a_storage_that_cannot_read_parts_is_read_whole(tmp_path: Path, merges: list[int]) -> None:
    table = large_group(tmp_path / "t")
    expected = content(table.snapshot())
    other = open_table(context_of(None, Hooked(open_storage(tmp_path / "t"))))
    set_limits(SMALL)
    assert content(other.snapshot()) == expected
    other.compact()
    assert content(other.snapshot()) == expected
    assert len(merges) > 1


def test_an_object_store_is_read_and_put_in_parts(bucket: Any, merges: list[int]) -> None:
    table = large_group("s3://lake/t", storage_options=bucket.options)
    expected = content(table.snapshot())
    set_limits(SMALL)
    assert content(table.snapshot()) == expected
    table.compact()
    assert content(table.snapshot()) == expected
    assert len(merges) > 1


def test_a_read_of_the_data_source_takes_the_bound_as_an_option(tmp_path: Path) -> None:
    from nbcc.engine.data_source.options import read_options
    from nbcc.engine.data_source.read import plan

    large_group(tmp_path / "t")
    path = str(tmp_path / "t")
    (task,) = plan(read_options({"path": path, "task.bytes": "400000"})).tasks
    assert task.shape.limits == SMALL
    (unbounded,) = plan(read_options({"path": path})).tasks
    assert unbounded.shape.limits == Limits()
    with pytest.raises(BadInput, match="task_bytes=much"):
        read_options({"path": path, "task.bytes": "much"})


def test_a_lack_of_memory_is_not_a_damaged_file() -> None:
    with pytest.raises(MemoryError), decoding("p/f.parquet"):
        raise pa.ArrowMemoryError("malloc of size 64 failed")


def test_a_split_retains_no_rows(tmp_path: Path) -> None:
    table = batch(0, ROWS, 1, "x").rename_columns(["_hoodie_record_key", *SCHEMA.names[1:]])
    with (tmp_path / "spill").open("w+b") as file:
        split = spill.Spill(file, 4, 0)
        before = pa.total_allocated_bytes()
        for _ in range(10):
            copy = pa.concat_tables([table, table]).combine_chunks()
            split.add([Layer(copy, copy.schema.empty_table())])
            del copy
        assert pa.total_allocated_bytes() - before < table.nbytes
