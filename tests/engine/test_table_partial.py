"""Partial updates: streams that set some columns each; no service ever changes what a key has, whenever it runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc import Table
from nbcc.engine import Context, create_table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.errors import BadInput, Unsupported
from nbcc.engine.lock import InProcessLock
from nbcc.engine.names import RandomNames
from nbcc.model.mechanisms.partial_updates import Rank, RankedPart, join, row_of, row_of_state, state_of
from nbcc.simulator.lockstep.control.storage import MemoryStorage
from tests.builders.tables import TickClock, make_table

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64()), *((name, pa.string()) for name in "abc")])
ON = {"nbcc.partial.update.mode": "SET_COLUMNS"}
NUMBERED: Iterator[int] = count()

Rows = dict[str, dict[str, Any]]


def table_in_memory(mode: str, block: str = "parquet") -> Table:
    storage, names = MemoryStorage(), RandomNames()
    context = Context(
        storage, InProcessLock(f"memory-{next(NUMBERED)}"), TickClock(), names, InProcessJobs(storage, names)
    )
    options = {**ON, "hoodie.logfile.data.block.format": block}
    config = table_config(
        "t", SCHEMA, record_key="id", ordering_fields="ts", partition_by=None, buckets=1, merge_mode=mode,
        table_type="MERGE_ON_READ", concurrency_mode=None, options=options,
    )  # fmt: skip
    return create_table(context, config)


def some(*rows: dict[str, Any]) -> pa.Table:
    names = [name for name in SCHEMA.names if any(name in row for row in rows)]
    return pa.Table.from_pylist(list(rows), pa.schema([SCHEMA.field(name) for name in names]))


def delete(table: Table, key: str, ts: int) -> None:
    table.delete(some({"id": key, "ts": ts}))


def rows_of(answer: pa.Table) -> Rows:
    """By key the columns that are set: none is ever set to null here."""
    return {row["id"]: {name: row[name] for name in "abc" if row[name] is not None} for row in answer.to_pylist()}


SETS = st.sets(st.sampled_from("abc"), min_size=1).map(lambda names: "".join(sorted(names)))
DELETES = st.sampled_from([False, False, False, True])
RECORDS = st.dictionaries(st.sampled_from("kkl"), st.tuples(st.integers(1, 3), DELETES), min_size=1)
WRITES = st.tuples(SETS, RECORDS)
SERVICES = st.sampled_from(["compact", "compact", "log_compact", "plan", "run", "log_plan", "log_run"])


@given(
    mode=st.sampled_from(["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]),
    steps=st.lists(st.one_of(WRITES, SERVICES), min_size=5, max_size=9),
)
@settings(deadline=None, max_examples=40)
def test_a_key_has_its_columns_under_every_order_of_operations(mode: str, steps: list[Any]) -> None:
    table, written = table_in_memory(mode), dict[str, list[RankedPart]]()
    states = dict[str, Rows]()
    for place, step in enumerate(steps):
        if isinstance(step, str):
            serve(table, step)
        else:
            write(table, step, place, written, mode == "EVENT_TIME_ORDERING")
        now = {key: row for key, parts in written.items() if (row := row_of(parts)) is not None}
        assert rows_of(table.snapshot()) == now, f"after {step}"
        if done := table.settled():
            states[done] = now
    for time, then in states.items():
        assert rows_of(table.as_of(time)) == then, f"as of {time}"


def serve(table: Table, service: str) -> None:
    {
        "compact": table.compact,
        "log_compact": table.log_compact,
        "plan": table.schedule_compaction,
        "run": table.run_compaction,
        "log_plan": table.schedule_log_compaction,
        "log_run": table.run_log_compaction,
    }[service]()


def write(table: Table, step: Any, place: int, written: dict[str, list[RankedPart]], event_time: bool) -> None:
    sets, records = step
    rows = []
    for key, (ordering, deletes) in records.items():
        values = None if deletes else {name: f"{name}{place}" for name in sets}
        rank: Rank = (ordering, place) if event_time else (place,)
        written.setdefault(key, []).append(RankedPart(rank, values))
        rows.append({"id": key, "ts": ordering, "_hoodie_is_deleted": deletes, **dict.fromkeys(sets), **(values or {})})
    kept = pa.schema([*(SCHEMA.field(n) for n in ("id", "ts", *sets)), ("_hoodie_is_deleted", pa.bool_())])
    table.upsert(pa.Table.from_pylist(rows, kept), columns=list(sets))


PARTS = st.lists(st.tuples(st.integers(1, 3), st.one_of(st.none(), st.sets(st.sampled_from("abc")))), max_size=6)


@given(given_parts=PARTS, order=st.randoms(use_true_random=False))
def test_states_join_to_the_definition_in_any_order(given_parts: list[Any], order: Any) -> None:
    parts = [
        RankedPart((o, place), None if s is None else dict.fromkeys(s, place))
        for place, (o, s) in enumerate(given_parts)
    ]
    states = [state_of(part) for part in parts] * 2
    order.shuffle(states)
    while len(states) > 1:
        at = order.randrange(len(states) - 1)
        states[at : at + 2] = [join(states[at], states[at + 1])]
    assert (row_of_state(states[0]) if states else None) == row_of(parts)


def test_streams_of_columns_become_one_row(tmp_path: Path) -> None:
    table = make_table(tmp_path, schema=SCHEMA, partition_by=None, options=ON)
    table.upsert(some({"id": "k", "ts": 2, "a": "a2"}), columns=["a"])
    table.upsert(some({"id": "k", "ts": 1, "b": "b1"}), columns=["b"])
    table.compact()
    table.upsert(some({"id": "k", "ts": 1, "c": "c1"}), columns=["c"])
    table.upsert(some({"id": "k", "ts": 1, "a": "late"}), columns=["a"])

    (row,) = table.snapshot().to_pylist()
    assert {name: row[name] for name in SCHEMA.names} == {"id": "k", "ts": 2, "a": "a2", "b": "b1", "c": "c1"}
    assert Table.open(None, tmp_path).config.partial_update


def test_a_delete_takes_the_columns_below_it_and_no_others() -> None:
    table = table_in_memory("EVENT_TIME_ORDERING", "avro")
    table.upsert(some({"id": "k", "ts": 1, "a": "a1"}), columns=["a"])
    delete(table, "k", 2)
    table.upsert(some({"id": "k", "ts": 3, "b": "b3"}), columns=["b"])
    assert rows_of(table.snapshot()) == {"k": {"b": "b3"}}
    table.compact()
    table.upsert(some({"id": "k", "ts": 1, "c": "late"}), columns=["c"])
    assert rows_of(table.snapshot()) == {"k": {"b": "b3"}}, "below the delete, which the compaction has kept"


@pytest.mark.parametrize("columns", ["b", "abc"])
def test_a_row_above_a_delete_of_the_same_ordering_value_stays(columns: str) -> None:
    table = table_in_memory("EVENT_TIME_ORDERING")
    table.upsert(some({"id": "k", "ts": 2, "a": "old"}), columns=["a"])
    delete(table, "k", 2)
    table.upsert(some({"id": "k", "ts": 2, **dict.fromkeys(columns, "new")}), columns=list(columns))
    for _ in range(2):
        table.compact()
        table.upsert(some({"id": "other", "ts": 1, "a": "x"}), columns=["a"])
        assert rows_of(table.snapshot())["k"] == dict.fromkeys(columns, "new")


def test_a_window_says_what_is_set_and_what_was_deleted() -> None:
    table = table_in_memory("EVENT_TIME_ORDERING")
    table.upsert(some({"id": "k", "ts": 1, "a": "a1", "b": "b1"}), columns=["a", "b"])
    start = table.settled()
    delete(table, "k", 2)
    table.upsert(some({"id": "k", "ts": 3, "c": "c3"}), columns=["c"])

    found = table.incremental(start or "").to_pylist()

    changes = [(row["ts"], row["_hoodie_is_deleted"], row["nbcc_set_columns"]) for row in found]
    assert changes == [(3, False, ["c"]), (2, True, None)]


def test_a_window_keeps_the_ordering_value_of_each_column() -> None:
    """Else a reader that merges it into its older rows takes b1 for as new as a3, and loses the b2 that was there."""
    table = table_in_memory("EVENT_TIME_ORDERING")
    table.upsert(some({"id": "k", "ts": 2, "b": "b2"}), columns=["b"])
    start = table.settled()
    table.upsert(some({"id": "k", "ts": 1, "b": "b1"}), columns=["b"])
    table.upsert(some({"id": "k", "ts": 3, "a": "a3"}), columns=["a"])

    found = table.incremental(start or "").to_pylist()

    assert [(row["ts"], row["nbcc_set_columns"], row["a"], row["b"]) for row in found] == [
        (1, ["b"], None, "b1"),
        (3, ["a"], "a3", None),
    ]


def test_what_cannot_be(tmp_path: Path) -> None:
    whole = make_table(tmp_path / "whole")
    with pytest.raises(BadInput, match="the table merges whole rows"):
        whole.upsert(some({"id": "k", "ts": 1}), columns=["a"])
    table = table_in_memory("EVENT_TIME_ORDERING")
    with pytest.raises(BadInput, match="did you mean 'a'"):
        table.upsert(some({"id": "k", "ts": 1}), columns=["aa"])
    with pytest.raises(BadInput, match="it lacks 'b'"):
        table.upsert(some({"id": "k", "ts": 1, "a": "x"}), columns=["a", "b"])
    with pytest.raises(Unsupported, match="COPY_ON_WRITE"):
        make_table(tmp_path / "cow", table_type="COPY_ON_WRITE", concurrency_mode=None, options=ON)
    assert table.settled() is None


def test_a_column_that_not_every_write_sets_may_be_null_inside_too(tmp_path: Path) -> None:
    wide = SCHEMA.append(pa.field("d", pa.struct([pa.field("x", pa.string(), nullable=False)])))
    with pytest.raises(BadInput, match="d must not be null, but a partial update may omit it: make"):
        make_table(tmp_path / "wide", schema=wide, partition_by=None, options=ON)
    table = make_table(tmp_path / "grown", schema=SCHEMA, partition_by=None, options=ON)
    with pytest.raises(BadInput, match="d must not be null, but a partial update may omit it: make"):
        table.alter_schema(wide)


def test_a_list_without_nulls_may_be_left_out(tmp_path: Path) -> None:
    wide = SCHEMA.append(pa.field("d", pa.list_(pa.field("element", pa.string(), nullable=False))))
    table = make_table(tmp_path, schema=wide, partition_by=None, options=ON)
    nullable = pa.schema([*(SCHEMA.field(name) for name in ("id", "ts")), ("d", pa.list_(pa.string()))])
    table.upsert(pa.Table.from_pylist([{"id": "k", "ts": 1, "d": ["x"]}], nullable), columns=["d"])
    table.upsert(some({"id": "k", "ts": 2, "a": "a2"}), columns=["a"])
    with pytest.raises(BadInput, match="1 row has a null in a required column"):
        table.upsert(pa.Table.from_pylist([{"id": "k", "ts": 3, "d": [None]}], nullable), columns=["d"])
    assert [(row["a"], row["d"]) for row in table.snapshot().to_pylist()] == [("a2", ["x"])]
