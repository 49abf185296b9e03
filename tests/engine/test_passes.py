"""A file group whose rows exceed the memory of a task: merged in several passes, with the same result, or refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.engine.data import passes
from nbcc.engine.errors import LimitExceeded
from nbcc.engine.limits import Limits, set_limits
from nbcc.engine.storage import open_storage
from nbcc.engine.table import open_table
from nbcc.engine.wiring import context_of

ROWS = 3000
SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("value", pa.string()), ("other", pa.string())])
SMALL = Limits(task_bytes=400_000)
PARTIAL = {"nbcc.partial.update.mode": "SET_COLUMNS"}


@pytest.fixture(autouse=True)
def usual_limits() -> Iterator[None]:
    yield
    set_limits(Limits())


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The parts of the keys that passes have merged or begun to merge."""
    seen: list[tuple[int, int]] = []
    inner = passes._layers_of

    def layers_of(storage: Any, task: Any, part: Any) -> Any:
        seen.append(tuple(part))
        return inner(storage, task, part)

    monkeypatch.setattr(passes, "_layers_of", layers_of)
    return seen


def batch(first: int, last: int, ts: int, value: str) -> pa.Table:
    numbers = range(first, last)
    return pa.table(
        [[f"k{n}" for n in numbers], [ts] * len(numbers), [f"{value} {n}" for n in numbers], [None] * len(numbers)],
        schema=SCHEMA,
    )


def large_group(folder: Path, **options: Any) -> Table:
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
    return sorted(rows.select(names).to_pylist(), key=lambda row: str(row["_hoodie_record_key"]))


@pytest.mark.parametrize("options", [{}, {"options": PARTIAL}, {"merge_mode": "COMMIT_TIME_ORDERING"}])
def test_passes_change_no_result(tmp_path: Path, counted: list[tuple[int, int]], options: dict[str, Any]) -> None:
    table = large_group(tmp_path / "t", **options)
    if "options" in options:
        table.upsert(batch(0, ROWS, 4, "third").select(["id", "ts", "value"]), columns=["value"])
    expected = content(table.snapshot())
    set_limits(SMALL)
    assert content(table.snapshot()) == expected
    assert len(counted) > 1
    counted.clear()
    table.compact()
    assert len(counted) > 1
    assert content(table.snapshot()) == content(table.read_optimized()) == expected
    set_limits(Limits())
    assert content(table.snapshot()) == expected
    table.upsert(batch(0, 600, 2, "late"))  # the deletes of 0 to 499 are kept, and win
    late = {row["id"] for row in table.snapshot().to_pylist() if row["value"].startswith("late")}
    assert not late & {f"k{n}" for n in range(500)} or options


def test_a_compaction_in_passes_lists_what_one_pass_lists(tmp_path: Path) -> None:
    commits = []
    for name, bounds in (("whole", Limits()), ("passes", SMALL)):
        table = large_group(tmp_path / name)
        set_limits(bounds)
        done = table.compact()
        set_limits(Limits())
        assert done is not None
        stats = table.context.commits.commit(done).stats
        commits.append([(stat.writes, stat.deletes) for stat in stats])
    assert commits[0] == commits[1]


def test_part_of_the_keys_that_is_still_too_large_is_halved(tmp_path: Path, counted: list[tuple[int, int]],
                                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    table = large_group(tmp_path / "t")
    expected = content(table.snapshot())
    monkeypatch.setattr(passes, "EXPANSION", 2)
    set_limits(SMALL)
    assert content(table.snapshot()) == expected
    assert len({parts for parts, _ in counted}) > 1


FIGURES = r"the first \d+ bytes of them need about \d+, and task_bytes is 400000: raise task_bytes"
UNBOUNDED: dict[str, Callable[[Table], Any]] = {
    "log_compact": Table.log_compact,
    "cluster": lambda table: table.cluster(["value"]),
    "incremental": lambda table: table.incremental("0" * 17),
    "changes": lambda table: table.changes(table.timeline()[0]),
}


@pytest.mark.parametrize("operation", UNBOUNDED)
def test_what_passes_cannot_bound_is_refused_with_figures(tmp_path: Path, operation: str) -> None:
    table = large_group(tmp_path / "t")
    table.upsert(batch(0, ROWS, 5, "last"))
    set_limits(SMALL)
    with pytest.raises(LimitExceeded, match=FIGURES):
        UNBOUNDED[operation](table)


def test_passes_end_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = large_group(tmp_path / "t")
    set_limits(SMALL)
    monkeypatch.setattr(passes.slice_passes, "__defaults__", (1,))
    said = r"the rows of the file group 00000000-\S+ in passes over 1/1 of its keys"
    with pytest.raises(LimitExceeded, match=f"{said}, but {FIGURES}"):
        table.snapshot()


def test_a_copy_on_write_group_is_refused_with_figures(tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1,
                         table_type="COPY_ON_WRITE", concurrency_mode="SINGLE_WRITER")  # fmt: skip
    table.upsert(batch(0, ROWS, 1, "first"))
    set_limits(SMALL)
    with pytest.raises(LimitExceeded, match="the rows of the file group 00000000"):
        table.upsert(batch(0, 1, 2, "second"))
    assert len(table.timeline()) == 1


def test_a_storage_that_cannot_read_parts_is_read_whole(tmp_path: Path, counted: list[tuple[int, int]]) -> None:
    from .hooked import Hooked

    table = large_group(tmp_path / "t")
    expected = content(table.snapshot())
    other = open_table(context_of(None, Hooked(open_storage(tmp_path / "t"))))
    set_limits(SMALL)
    assert content(other.snapshot()) == expected
    other.compact()
    assert content(other.snapshot()) == expected
    assert len(counted) > 1


def test_an_object_store_is_read_and_put_in_parts(bucket: Any, counted: list[tuple[int, int]]) -> None:
    table = Table.create(None, "s3://lake/t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1,
                         storage_options=bucket.options)  # fmt: skip
    table.upsert(batch(0, ROWS, 1, "first"))
    table.compact()
    table.upsert(batch(300, 1500, 2, "second"))
    expected = content(table.snapshot())
    set_limits(SMALL)
    assert content(table.snapshot()) == expected
    table.compact()
    assert content(table.snapshot()) == expected
    assert len(counted) > 1
