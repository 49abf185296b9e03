"""Conditions on reads: `where=` returns the same rows as a filter of the whole answer, and reads less."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc import Table
from nbcc.engine import parquet
from nbcc.engine.data import ranged_file

from .where_tables import EVENT_TIME, table_in_memory

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int32(), nullable=False),
        pa.field("part", pa.string()),
        pa.field("ts", pa.int64(), nullable=False),
        pa.field("n", pa.int32()),
        pa.field("f", pa.float64()),
        pa.field("s", pa.string()),
    ]
)
WIDER = SCHEMA.set(3, pa.field("n", pa.float64())).append(pa.field("late", pa.int32()))
LONG = "x" * 40


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of two rows, and files that are read in ranges even if they are small."""
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2)
    monkeypatch.setattr(ranged_file, "WHOLE_BYTES", 0)
    monkeypatch.setattr(ranged_file, "TAIL_BYTES", 1 << 9)


def row(key: int, ts: int, part: str | None = "a", **values: Any) -> dict[str, Any]:
    return {"id": key, "part": part, "ts": ts, **values}


def rows(*listed: dict[str, Any], schema: pa.Schema = SCHEMA) -> pa.Table:
    return pa.Table.from_pylist(list(listed), schema)


KEYS = st.integers(0, 5)
PARTS = st.sampled_from(["a", "b", None])
VALUES = {
    "n": st.none() | st.integers(-3, 9),
    "f": st.sampled_from([None, float("nan"), -1.0, 0.0, 2.5]),
    "s": st.sampled_from([None, "", "a", "b", LONG + "a", LONG + "z", "\U0010ffff" * 40]),
}
ROWS = st.builds(row, KEYS, st.integers(1, 4), PARTS, **VALUES)
STEPS = st.one_of(
    st.lists(ROWS, min_size=1, max_size=6, unique_by=lambda each: (each["part"], each["id"])),
    st.tuples(st.just("delete"), st.builds(row, KEYS, st.integers(1, 4), PARTS)),
    st.sampled_from(["compact", "compact", "cluster", "log_compact", "alter"]),
)


def comparisons(column: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[pc.Expression]:
    named, value = pc.field(column), values.filter(lambda each: each is not None)
    return st.one_of(
        value.map(lambda each: named == each),
        value.map(lambda each: named != each),
        value.map(lambda each: named < each),
        value.map(lambda each: named >= each),
        st.lists(value, max_size=2).map(lambda each: named.isin(pa.array(each, SCHEMA.field(column).type))),
        st.just(named.is_null(nan_is_null=column == "f")),
        st.just(named.is_valid()),
    )


ATOMS = st.one_of(
    *(comparisons(name, VALUES[name]) for name in VALUES),
    comparisons("id", KEYS),
    comparisons("part", PARTS),
    comparisons("ts", st.integers(1, 4)),
    comparisons("n", st.integers(-3, 9)).map(lambda inner: ~inner),
)
WHERE = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: two[0] & two[1]),
        st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
        inner.map(lambda each: ~each),
    ),
    max_leaves=3,
)


def serve(table: Table, step: Any) -> None:
    if step == "alter":
        table.alter_schema(WIDER)
    elif step == "cluster":
        table.cluster(["n", "id"])
    elif isinstance(step, str):
        getattr(table, step)()
    elif isinstance(step, tuple):
        table.delete(rows(step[1]).select(["id", "part", "ts"]))
    else:
        table.upsert(rows(*step, schema=table.config.schema))


def sorted_rows(answer: pa.Table) -> list[str]:
    return sorted(map(repr, answer.to_pylist()))


def changes_where(answer: pa.Table, where: pc.Expression, schema: pa.Schema) -> pa.Table:
    """The changes whose row before or after matches: each side filtered on its own."""
    kept: set[int] = set()
    for side in ("before", "after"):
        there = [(place, each) for place, each in enumerate(answer[side].to_pylist()) if each is not None]
        one = pa.Table.from_pylist([each for _, each in there], schema)
        one = one.append_column("place", pa.array([place for place, _ in there], pa.int64()))
        kept |= set(one.filter(where)["place"].to_pylist())
    return answer.take(pa.array(sorted(kept), pa.int64()))


@given(
    mode=st.sampled_from([EVENT_TIME, "COMMIT_TIME_ORDERING"]),
    block=st.sampled_from(["parquet", "avro"]),
    steps=st.lists(STEPS, min_size=2, max_size=7),
    where=WHERE,
)
@settings(deadline=None, max_examples=25)
def test_where_is_a_filter_of_the_whole_answer(mode: str, block: str, steps: list[Any], where: pc.Expression) -> None:
    options = {"hoodie.logfile.data.block.format": block}
    table, _ = table_in_memory(SCHEMA, merge_mode=mode, partition_by="part", buckets=2, options=options)
    times = []
    for step in steps:
        serve(table, step)
        times.append(table.settled())
    for time in {time for time in times if time is not None}:
        assert sorted_rows(table.as_of(time, where=where)) == sorted_rows(table.as_of(time).filter(where))
        window = table.incremental(time)
        assert sorted_rows(table.incremental(time, where=where)) == sorted_rows(window.filter(where))
        expected = changes_where(table.changes(time), where, table.config.schema)
        assert sorted_rows(table.changes(time, where=where)) == sorted_rows(expected)
    assert sorted_rows(table.snapshot(where=where)) == sorted_rows(table.snapshot().filter(where))
    assert sorted_rows(table.read_optimized(where=where)) == sorted_rows(table.read_optimized().filter(where))
    two = table.snapshot(["s", "id"], where=where)
    assert sorted_rows(two) == sorted_rows(table.snapshot().filter(where).select(["s", "id"]))
