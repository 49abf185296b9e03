"""Clustering where buckets fix the file ids: a compaction that sorts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from nbcc import BadInput
from nbcc.engine.actions import schedule_compaction
from nbcc.engine.timeline import load_plan
from tests.builders.hudi import same
from tests.builders.tables import SCHEMA, batch, make_table, state

from .hooked import during


def test_rows_are_sorted_and_none_is_lost_during_a_write(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(*((f"k{n}", 1, f"{(n * 7) % 10}") for n in range(10))))
    interrupted = during(table, ".parquet", lambda: table.upsert(batch(("k0", 2, "meanwhile"))))
    done = interrupted.cluster(["a", "id"])
    assert done is not None
    assert done.action == "commit"
    assert load_plan(table.context.storage, done.requested).sort_by == ("a", "id")
    assert [row["a"] for row in table.read_optimized().to_pylist()] == [f"{n}" for n in range(10)]
    assert state(table.snapshot()) == {("k0", 2, "meanwhile"), *((f"k{n}", 1, f"{(n * 7) % 10}") for n in range(1, 10))}
    assert same(table)
    assert table.compact() is not None
    assert table.cluster(["a"]) is None


def test_a_column_that_is_none_is_refused_before_anything_is_planned(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "a")))
    with pytest.raises(BadInput, match="read the columns b"):
        table.cluster(["b"])
    assert len(table.timeline()) == 1


def test_a_column_without_an_order_is_refused_before_anything_is_planned(tmp_path: Path) -> None:
    columns = pa.schema([*SCHEMA, ("tags", pa.list_(pa.string()))])
    table = make_table(tmp_path, schema=columns)
    table.upsert(batch(("k1", 1, "a"), schema=columns))
    with pytest.raises(BadInput, match=r"column 'tags', but values of type list<.*> have no order: sort by other"):
        table.cluster(["a", "tags"])
    assert len(table.timeline()) == 1


@pytest.mark.parametrize("gone", ["a", "tags"])
def test_a_plan_that_sorts_by_what_cannot_be_sorted_by_can_be_run(gone: str, tmp_path: Path) -> None:
    columns = pa.schema([*SCHEMA, ("tags", pa.list_(pa.string()))])
    table = make_table(tmp_path, schema=columns)
    table.upsert(batch(("k2", 1, "a"), ("k1", 1, "a"), schema=columns))
    schedule_compaction.schedule(table.context, table.config, (gone, "id"))
    if gone == "a":
        table.alter_schema(pa.schema([field for field in columns if field.name != gone]))
    assert table.run_compaction() is not None
    assert [row["id"] for row in table.read_optimized().to_pylist()] == ["k1", "k2"]


def test_columns_are_a_list_of_some_names(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(batch(("a", 1, "x")))
    before = table.timeline()
    with pytest.raises(BadInput, match="no column is named to sort by"):
        table.cluster([])
    with pytest.raises(BadInput, match=r"give a list of names: \['id'\]"):
        table.cluster("id")
    with pytest.raises(BadInput, match=r"give a list of names: \['id'\]"):
        table.snapshot(columns="id")
    assert table.timeline() == before
