"""Columns that are added, dropped, widened and reordered: old files under the new schema, old times under the old."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc.engine import Table
from nbcc.engine.data.columns import conform
from nbcc.engine.errors import BadInput, LockTimeout, NbccError, Unsupported
from nbcc.engine.lock import Lock
from nbcc.engine.schema.evolution import WIDER, check_evolution
from tests.builders.tables import SCHEMA, batch, context, make_table

START = pa.schema([*SCHEMA, ("n", pa.int32()), ("f", pa.float32())])
CHANGED = pa.schema([("b", pa.string()), *[SCHEMA.field(i) for i in (3, 0, 1, 2)], ("n", pa.int64())])
"""`b` is new, `f` is gone, `n` has grown, the order is another."""


def rows(schema: pa.Schema, *values: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([{"part": "p", **value} for value in values], schema)


@pytest.fixture(params=["parquet", "avro"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    options = {"hoodie.logfile.data.block.format": request.param}
    made = make_table(tmp_path / "t", schema=START, options=options)
    made.upsert(rows(START, {"id": "k1", "ts": 1, "a": "x", "n": 7, "f": 0.5}))
    made.compact()
    made.upsert(rows(START, {"id": "k2", "ts": 1, "a": "y", "n": 8, "f": 1.5}))
    return made


def seen(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.drop_columns(
        [n for n in table.column_names if n.startswith("_hoodie")]
    ).to_pylist()
    return sorted(found, key=lambda row: row["id"])


OLD = [{"id": "k1", "a": "x", "n": 7, "f": 0.5}, {"id": "k2", "a": "y", "n": 8, "f": 1.5}]
NOW = [
    {"id": "k1", "a": "x", "n": 7, "b": None},
    {"id": "k2", "a": "y", "n": 8, "b": None},
    {"id": "k3", "a": "z", "n": 1 << 40, "b": "new"},
]


def cut(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in ("part", "ts")} for row in found]


def test_old_files_are_read_under_the_new_columns_and_old_times_under_the_old(table: Table) -> None:
    before = table.settled()
    assert before is not None
    done = table.alter_schema(CHANGED)
    assert done is not None
    assert done.action == "deltacommit"
    assert table.alter_schema(CHANGED) is None
    table.upsert(rows(CHANGED, {"id": "k3", "ts": 1, "a": "z", "n": 1 << 40, "b": "new"}))
    for _ in range(2):  # once from logs, once from base files
        snapshot = table.snapshot()
        assert [name for name in snapshot.column_names if not name.startswith("_hoodie")] == CHANGED.names
        assert cut(seen(snapshot)) == NOW
        assert cut(seen(table.as_of(before))) == OLD
        assert table.as_of(before).schema.field("n").type == pa.int32()
        window = table.incremental(before)
        assert cut([{n: v for n, v in row.items() if n != "_hoodie_is_deleted"} for row in seen(window)]) == NOW[2:]
        assert "f" in table.incremental("000", before).column_names
        table.compact()
    assert cut(seen(Table.open(None, table.context.storage.url).snapshot())) == NOW


def test_a_service_with_the_old_columns_loses_no_new_column(table: Table) -> None:
    stale = Table(table.context, table.config)
    table.alter_schema(CHANGED)
    table.upsert(rows(CHANGED, {"id": "k3", "ts": 1, "a": "z", "n": 1 << 40, "b": "new"}))
    stale.compact()
    assert cut(seen(table.snapshot())) == NOW


def test_a_writer_and_a_reader_with_the_old_columns(table: Table) -> None:
    stale = Table(table.context, table.config)
    table.alter_schema(CHANGED)
    stale.upsert(rows(START, {"id": "k3", "ts": 1, "a": "z", "n": 9, "f": 2.5}))
    assert cut(seen(table.snapshot()))[-1] == {"id": "k3", "a": "z", "n": 9, "b": None}
    table.upsert(rows(CHANGED, {"id": "k3", "ts": 2, "a": "z", "n": 1 << 40, "b": "new"}))
    with pytest.raises(Unsupported, match="open the table again"):
        stale.snapshot()


REFUSED = {
    "a key that changes": (START.set(0, pa.field("id", pa.int64())), "'id' is a key, partition or ordering column"),
    "an ordering column that grows": (START.set(2, pa.field("ts", pa.float64())), "'ts' is a key"),
    "a partition that goes": (START.remove(1), "and would be gone"),
    "a type that loses fractions": (START.set(5, pa.field("f", pa.int64())), "'f' is float, and not every value"),
    "a type that is another": (START.set(4, pa.field("n", pa.string())), "not every value of that is one of string"),
    "a new column that must not be null": (START.append(pa.field("b", pa.string(), nullable=False)), "is new and must"),
    "a column that must not be null any more": (START.set(3, pa.field("a", pa.string(), False)), "may be null in the"),
    "a name of Hudi's": (START.append(pa.field("_hoodie_x", pa.string())), "_hoodie_ is for"),
    "no schema at all": (7, "its schema is a int"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_older_rows_could_not_follow_is_refused_and_nothing_changes(case: str, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", schema=START)
    table.upsert(rows(START, {"id": "k1", "ts": 1, "a": "x"}))
    before = {e.path: table.context.storage.get(e.path) for e in table.context.storage.list("")}
    new, message = REFUSED[case]
    with pytest.raises(NbccError, match=message) as refused:
        table.alter_schema(new)
    assert str(refused.value).startswith("Asked to change the columns of the table")
    assert {e.path: table.context.storage.get(e.path) for e in table.context.storage.list("")} == before


def test_a_name_that_was_dropped_does_not_come_back(table: Table) -> None:
    table.alter_schema(CHANGED)
    with pytest.raises(BadInput, match="had a column 'f' before"):
        table.alter_schema(CHANGED.append(pa.field("f", pa.string())))


class KeptOut:
    """The table's lock, which is not to be had at the `turn`-th time."""

    def __init__(self, inner: Lock, turn: int) -> None:
        self.inner, self.left = inner, turn

    def acquire(self) -> None:
        self.left -= 1
        if not self.left:
            raise LockTimeout("lock the table", "another thread has held its lock", "wait for that operation")
        self.inner.acquire()

    def release(self) -> None:
        self.inner.release()


@pytest.mark.parametrize("turn", [2, 3], ids=["before the request", "before the commit"])
def test_an_interrupted_change_is_completed_by_a_repetition(turn: int, table: Table) -> None:
    columns = SCHEMA.append(pa.field("later", pa.string()))
    lock = KeptOut(table.context.lock, turn)
    with pytest.raises(LockTimeout):
        Table(replace(table.context, lock=lock), table.config).alter_schema(columns)
    done = table.alter_schema(columns)
    assert done is not None
    assert "later" in table.context.commits.commit(done).extra["schema"]
    assert table.alter_schema(columns) is None


def test_copy_on_write_tables_keep_their_columns(tmp_path: Path) -> None:
    made = make_table(tmp_path / "t", table_type="COPY_ON_WRITE", concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL")
    with pytest.raises(Unsupported, match="COPY_ON_WRITE"):
        made.alter_schema(SCHEMA.append(pa.field("b", pa.string())))


KINDS = [pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.bool_()]
FIXED = ("id",)
VALUES = {
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(max_size=3),
    pa.bool_(): st.booleans(),
}


@st.composite
def schemas(draw: st.DrawFn) -> pa.Schema:
    names = draw(st.permutations(["c1", "c2", "c3"]))[: draw(st.integers(0, 3))]
    fields = [pa.field(name, draw(st.sampled_from(KINDS)), draw(st.booleans())) for name in names]
    return pa.schema([pa.field("id", pa.string(), nullable=False), *fields])


@settings(max_examples=200)
@given(st.lists(schemas(), min_size=2, max_size=4), st.data())
def test_an_accepted_schema_reads_every_old_row_without_loss(chain: list[pa.Schema], data: st.DataObject) -> None:
    """Along any chain of accepted changes a value survives, or its column was dropped and never comes back."""
    versions = [chain[0]]
    row: dict[str, Any] = {"id": "k"}
    for field in chain[0]:
        if field.name != "id":
            row[field.name] = data.draw(st.none() | VALUES[field.type] if field.nullable else VALUES[field.type])
    stored = pa.Table.from_pylist([row], chain[0])
    for new in chain[1:]:
        try:
            check_evolution(versions, new, FIXED)
        except BadInput:
            continue
        versions.append(new)
        read = conform(stored, new)
        read.validate(full=True)
        kept = set(new.names) & set(chain[0].names)
        assert {name: read[name][0].as_py() for name in kept} == {name: stored[name][0].as_py() for name in kept}
        assert all(read[name][0].as_py() is None for name in new.names if name not in chain[0].names)
        assert all(any(name not in version.names for version in versions) is False for name in kept)


def test_what_grows_holds_every_value() -> None:
    ends = {pa.int32(): [-(2**31), 2**31 - 1], pa.float32(): [1.5, 3.4028234663852886e38]}
    for old, new in WIDER:
        values = pa.array(ends[old], old)
        assert values.cast(new).cast(old).equals(values)


CHANGES = {
    "added": START.append(pa.field("b", pa.string())),
    "dropped": START.remove(5),
    "widened": START.set(4, pa.field("n", pa.int64())),
    "reordered": pa.schema([START.field(i) for i in (3, 0, 1, 2, 4, 5)]),
}


@pytest.mark.parametrize("compacted", ["never", "before", "after"])
@pytest.mark.parametrize("change", CHANGES)
def test_hudi_rs_reads_what_has_changed(change: str, compacted: str, tmp_path: Path) -> None:
    hudi = pytest.importorskip("hudi")
    new, table = CHANGES[change], make_table(tmp_path / "t", schema=START)
    table.upsert(rows(START, {"id": "k1", "ts": 1, "a": "x", "n": 7, "f": 0.5}))
    if compacted == "before":
        table.compact()
    table.alter_schema(new)
    large = 1 << 40 if change == "widened" else 8
    table.upsert(rows(new, {"id": "k2", "ts": 1, "a": "y", "n": large, "f": 1.5, "b": "new"}))
    if compacted == "after":
        table.compact()
    found = pa.Table.from_batches(hudi.HudiTableBuilder.from_base_uri(str(tmp_path / "t")).build().read())
    assert seen(found) == seen(table.snapshot())
    assert [name for name in found.column_names if not name.startswith("_hoodie")] == new.names


def test_spark_reads_what_has_changed(spark: Any, tmp_path: Path) -> None:
    """Spark's own reader of base files, and Arrow tasks."""
    columns = "id string, ts long, n int, f float"
    table = Table.create(spark, str(tmp_path / "t"), columns, record_key="id", ordering_fields="ts", buckets=2)
    table.upsert(spark.createDataFrame([(f"k{n}", 1, n, 0.5) for n in range(6)], columns))
    table.compact()
    table.alter_schema("b string, id string, n bigint, ts long")
    rewritten = spark.createDataFrame([("new", "k0", 1 << 40, 2)], "b string, id string, n bigint, ts long")
    table.upsert(rewritten)
    found = table.snapshot().select("b", "id", "n", "ts").orderBy("id").collect()
    assert [tuple(row) for row in found] == [("new", "k0", 1 << 40, 2), *((None, f"k{n}", n, 1) for n in range(1, 6))]


def test_the_batch_and_context_samples_are_of_this_table(tmp_path: Path) -> None:
    """A batch of the old columns leaves the new one null in a table that was opened after the change."""
    table = make_table(tmp_path / "t")
    table.alter_schema(SCHEMA.append(pa.field("b", pa.string())))
    assert context(tmp_path / "t").storage.url == table.context.storage.url
    table.upsert(batch(("k1", 1, "x")))
    assert table.snapshot(columns=["id", "b"]).to_pylist() == [{"id": "k1", "b": None}]


def test_a_new_struct_may_have_columns_that_must_not_be_null(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "x")))
    wide = table.config.schema.append(pa.field("b", pa.struct([pa.field("x", pa.string(), nullable=False)])))
    table.alter_schema(wide)
    table.upsert(pa.Table.from_pylist([{"id": "k2", "part": "p", "ts": 1, "a": "x", "b": {"x": "y"}}], wide))
    expected = [("k1", None), ("k2", {"x": "y"})]
    assert [(row["id"], row["b"]) for row in table.snapshot().to_pylist()] == expected
    table.compact()
    assert [(row["id"], row["b"]) for row in table.snapshot().to_pylist()] == expected
