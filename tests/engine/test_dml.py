"""Update, delete and merge by conditions: what a DuckDB user would expect of the rows, and what each mode promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc import BadInput, Conflict, Table
from nbcc.engine.config.concurrency import NON_BLOCKING, OPTIMISTIC
from tests.builders.tables import SCHEMA, batch, make_table, state, table_of

field = pc.field


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = make_table(tmp_path / "t")
    made.upsert(batch(("k1", 1, "a"), ("k2", 2, "b"), ("k3", 3, "c")))
    return made


def test_update_sets_the_rows_that_match(table: Table) -> None:
    assert table.update({"a": "new"}, where=[("ts", ">=", 2)]) is not None
    assert state(table.snapshot()) == {("k1", 1, "a"), ("k2", 2, "new"), ("k3", 3, "new")}
    table.update({"ts": field("ts") + 10})
    assert state(table.snapshot()) == {("k1", 11, "a"), ("k2", 12, "new"), ("k3", 13, "new")}
    assert table.update({"a": "x"}, where=field("id") == "absent") is None
    assert len(table.timeline()) == 3


def test_delete_by_a_condition(table: Table) -> None:
    table.delete(where=field("ts") > 1)
    assert state(table.snapshot()) == {("k1", 1, "a")}
    with pytest.raises(BadInput, match="neither keys nor a condition is given"):
        table.delete()
    with pytest.raises(BadInput, match="both keys and a condition are given"):
        table.delete(batch(("k1", 1, "a")), where=field("ts") > 1)


def test_delete_in_a_table_without_rows(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    assert table.delete(where=field("ts") > 1).completed
    assert table.update({"a": "x"}) is None
    assert table.merge(batch(("k", 1, "a"))).when_matched_update().execute() is None
    assert table.merge(batch(("k", 1, "a"))).when_not_matched_insert().execute() is not None
    assert state(table.snapshot()) == {("k", 1, "a")}


def test_merge_takes_the_first_clause_that_applies(table: Table) -> None:
    source = batch(("k1", 9, "x"), ("k2", 9, "delete"), ("k3", 9, "z"), ("k4", 4, "in"), ("k5", 5, "out"))
    merged = (
        table.merge(source)
        .when_matched_delete(condition=field("source.a") == "delete")
        .when_matched_update({"a": field("source.a"), "ts": field("target.ts") + 1}, field("target.ts") > 2)
        .when_not_matched_insert(condition=field("source.a") == "in")
    )
    assert merged.execute() is not None
    assert state(table.snapshot()) == {("k1", 1, "a"), ("k3", 4, "z"), ("k4", 4, "in")}


rows = st.lists(
    st.tuples(st.sampled_from(["k1", "k2", "k3"]), st.integers(1, 3), st.sampled_from("ab")),
    unique_by=lambda row: row[0],
)  # fmt: skip


@given(there=rows, source=rows, deletes=st.booleans())
@settings(max_examples=25)
def test_merge_is_that_of_its_definition(
    tmp_path_factory: pytest.TempPathFactory, there: list[Any], source: list[Any], deletes: bool
) -> None:
    table = make_table(tmp_path_factory.mktemp("t"), merge_mode="COMMIT_TIME_ORDERING")
    if there:
        table.upsert(batch(*there))
    merge = table.merge(batch(*source)).when_matched_delete(field("source.ts") == 3) if deletes else table.merge(
        batch(*source))  # fmt: skip
    merge.when_matched_update().when_not_matched_insert().execute()
    expected = {key: (key, ts, a) for key, ts, a in there}
    for key, ts, a in source:
        if deletes and ts == 3 and key in expected:
            del expected[key]
        else:
            expected[key] = (key, ts, a)
    assert state(table.snapshot()) == set(expected.values())


def test_merge_on_another_column_than_the_key(table: Table) -> None:
    source = pa.table({"a": ["a", "c", "q"], "to": ["A", "C", "Q"]})
    table.merge(source, on="a").when_matched_update({"a": field("source.to")}).execute()
    assert state(table.snapshot()) == {("k1", 1, "A"), ("k2", 2, "b"), ("k3", 3, "C")}
    twice = pa.table({"a": ["b", "b"], "to": ["1", "2"]})
    with pytest.raises(BadInput, match="a row of the table matches several rows of the source"):
        table.merge(twice, on="a").when_matched_update({"a": field("source.to")}).execute()


@pytest.mark.parametrize(
    ("verb", "reason"),
    [
        (lambda t: t.update({"id": "x"}), "it is part of the key or the partition"),
        (lambda t: t.update({"b": "x"}), "the table's columns are id, part, ts, a"),
        (lambda t: t.update({"ts": "x"}), "'x' does not fit into int64"),
        (lambda t: t.update({"ts": field("nothing")}), "No match for FieldRef"),
        (lambda t: t.merge(batch(), on="b"), "name columns of both"),
        (lambda t: t.merge(batch(("k1", 1, "a"))).execute(), "no clause says what to do"),
        (lambda t: t.merge([1]), "give a Spark DataFrame, an Arrow table or batch"),
    ],
)
def test_what_no_verb_can_do(table: Table, verb: Any, reason: str) -> None:
    before = table.timeline()
    with pytest.raises(BadInput, match=reason):
        verb(table)
    assert table.timeline() == before


VERBS: dict[str, Any] = {
    "update": lambda t: t.update({"a": "mine"}, where=field("id") == "k1"),
    "delete": lambda t: t.delete(where=field("id") == "k1"),
    "merge": lambda t: t.merge(batch(("k1", 1, "mine"))).when_matched_update({"a": field("source.a")}).execute(),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("mode", [OPTIMISTIC, NON_BLOCKING])
def test_a_write_after_the_state_that_was_read(
    verb: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer commits between the read of the verb and its write: OCC refuses the verb, NBCC loses an update."""
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", concurrency_mode=mode)
    table.upsert(batch(("k1", 1, "old")))
    other = Table.open(None, tmp_path / "t")
    from nbcc.engine.writes import data_write
    from nbcc.engine.writes.unlocked_request import begin_write

    late = [("k1", 1, "theirs")]

    def others_come_first(*arguments: Any, **more: Any) -> Any:
        if late:
            other.upsert(batch(late.pop()))
        return begin_write(*arguments, **more)

    monkeypatch.setattr(data_write, "begin_write", others_come_first)
    if mode == OPTIMISTIC:
        with pytest.raises(Conflict):
            VERBS[verb](table)
        assert state(Table.open(None, tmp_path / "t").snapshot()) == {("k1", 1, "theirs")}
    else:
        VERBS[verb](table)
        lost = set() if verb == "delete" else {("k1", 1, "mine")}
        assert state(Table.open(None, tmp_path / "t").snapshot()) == lost


def test_a_partial_update_writes_its_columns_alone(tmp_path: Path) -> None:
    schema = SCHEMA.append(pa.field("b", pa.string()))
    table = make_table(tmp_path / "t", schema=schema, options={"nbcc.partial.update.mode": "SET_COLUMNS"})
    table.upsert(table_of(schema, ("k1", "p", 1, "a", "b")))
    table.update({"a": "new"})
    assert table.incremental(table.timeline()[0]).to_pylist()[0]["b"] is None
    (row,) = table.snapshot().to_pylist()
    assert (row["a"], row["b"]) == ("new", "b")


class Stream:
    """What offers Arrow's C interface, as DataFrames of polars and relations of DuckDB do."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self._rows.__arrow_c_stream__(schema)


def test_batches_and_readers_of_arrow_go_in_and_come_out(tmp_path: Path) -> None:
    source = batch(("k1", 1, "a"), ("k2", 2, "b"))
    table = Table.create(None, tmp_path / "t", source, record_key="id", ordering_fields="ts", partition_by="part")
    table.upsert(source.to_batches()[0])
    table.upsert(pa.RecordBatchReader.from_batches(SCHEMA, source.to_batches()))
    table.upsert(Stream(source))
    assert len(table.timeline()) == 3
    found = pa.Table.from_batches(list(table.batches(columns=SCHEMA.names, where=[("ts", ">", 1)])))
    assert found.to_pylist() == [{"id": "k2", "part": found["part"][0].as_py(), "ts": 2, "a": "b"}]


class PolarsFrame(Stream):
    """What a DataFrame of polars is: its strings are views, and its schema is one of polars."""

    schema = "Schema({'id': String})"

    def __init__(self, rows: pa.Table) -> None:
        views = [field.with_type(pa.string_view()) if field.type == pa.string() else field for field in rows.schema]
        super().__init__(rows.cast(pa.schema(views)))


def test_frames_of_polars_give_a_schema_and_are_merged(tmp_path: Path) -> None:
    frame = PolarsFrame(batch(("k1", 1, "a"), ("k2", 2, "b")))
    table = Table.create(None, tmp_path / "t", frame, record_key="id", ordering_fields="ts")
    assert table.config.schema.field("id").type == pa.string()
    table.upsert(frame)
    merge = table.merge(PolarsFrame(batch(("k1", 5, "x"), ("k3", 5, "y"))))
    merge.when_matched_update().when_not_matched_insert().execute()
    assert state(table.snapshot()) == {("k1", 5, "x"), ("k2", 2, "b"), ("k3", 5, "y")}


def test_a_frame_of_pandas_gives_a_schema_without_its_index(tmp_path: Path) -> None:
    frame = batch(("k1", 1, "a")).to_pandas().set_index("id", drop=False)
    table = Table.create(None, tmp_path / "t", frame, record_key="id", ordering_fields="ts", partition_by="part")
    assert table.schema == SCHEMA


def test_the_table_describes_itself(table: Table) -> None:
    table.delete(where=field("id") == "k1")
    table.compact()
    assert (table.count(), table.count(where=[("ts", "=", 3)])) == (2, 1)
    assert table.schema == SCHEMA
    newest, *_ = history = table.history()
    assert [each[3:6] for each in history[1:]] == [("DELETE", 0, 1), ("UPSERT", 3, 0)]
    assert newest.operation == "COMPACT"
    assert [entry.completed for entry in table.history(limit=1)] == [newest.completed]
    detail = table.detail()
    assert (detail["name"], detail["key"], detail["files"]) == ("t", "id", 2)  # a base file and its tombstones


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(["k1", "k2", "k3"]), st.integers(1, 4)),
        st.tuples(st.sampled_from(["erase", "compact", "log_compact"]), st.just(""), st.integers(1, 4)),
    ),
    min_size=2, max_size=9,
)  # fmt: skip


@given(history=steps, merge_mode=st.sampled_from(["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]))
@settings(max_examples=30)
def test_what_a_delete_by_condition_has_erased_no_later_read_shows(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, str, int]], merge_mode: str
) -> None:
    """After an acknowledged delete no later state has a matching row of a write that had completed before it."""
    table = make_table(tmp_path_factory.mktemp("t"), merge_mode=merge_mode)
    erased: list[tuple[int, str]] = []
    for verb, key, number in history:
        if verb == "write":
            table.upsert(batch((key, number, "x")))
        elif verb == "erase":
            done = table.delete(where=field("ts") >= number)
            erased.append((number, done.completed or ""))
        else:
            table.run(verb)
        completions = {i.requested: i.completed or "" for i in table.timeline()}
        for row in table.snapshot().to_pylist():
            written = completions[row["_hoodie_commit_time"]]
            assert not [done for least, done in erased if row["ts"] >= least and written < done]
