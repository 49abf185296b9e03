"""Conditions on reads: `where=` returns the same rows as a filter of the whole answer, and reads less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc import Table
from nbcc.engine import Context, create_table, parquet
from nbcc.engine.data import ranged_file
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.errors import BadInput
from nbcc.engine.lock import InProcessLock
from nbcc.engine.names import RandomNames
from nbcc.engine.storage import ByteRange
from nbcc.simulator.control.storage import MemoryStorage
from tests.builders.tables import TickClock

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
EVENT_TIME = "EVENT_TIME_ORDERING"
NUMBERED: Iterator[int] = count()
LONG = "x" * 40


class RangedMemory(MemoryStorage):
    """A memory store that reads ranges, and adds up the bytes of the data files that are read."""

    data_bytes = 0

    def get(self, path: str) -> bytes:
        data = super().get(path)
        self._count(path, len(data))
        return data

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        data = super().get(path)
        parts = [data[start:end] for start, end in ranges]
        self._count(path, sum(map(len, parts)))
        return parts

    def _count(self, path: str, size: int) -> None:
        if not path.startswith(".hoodie/"):
            self.data_bytes += size

    def bytes_of(self, read: Any) -> int:
        """The bytes of data files that a read requests."""
        before = self.data_bytes
        read()
        return self.data_bytes - before

    @property
    def total(self) -> int:
        """The bytes of the base files."""
        return sum(len(data) for path, data in self.objects.items() if path.endswith(".parquet"))


def table_in_memory(mode: str = EVENT_TIME, schema: pa.Schema = SCHEMA, **given: Any) -> tuple[Table, RangedMemory]:
    storage, names = RangedMemory(), RandomNames()
    lock = InProcessLock(f"where-{next(NUMBERED)}")
    context = Context(storage, lock, TickClock(), names, InProcessJobs(storage, names))
    given = {"partition_by": "part", "buckets": 2, "options": {}, **given}
    config = table_config(
        "t", schema, record_key="id", ordering_fields="ts", merge_mode=mode,
        table_type="MERGE_ON_READ", concurrency_mode=None, **given,
    )  # fmt: skip
    return create_table(context, config), storage


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
@settings(deadline=None, max_examples=60)
def test_where_is_a_filter_of_the_whole_answer(mode: str, block: str, steps: list[Any], where: pc.Expression) -> None:
    table, _ = table_in_memory(mode, options={"hoodie.logfile.data.block.format": block})
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
