"""What cannot be done is refused in one sentence (asked, exists, remedy), and nothing of it is published."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import BadInput, NbccError, NotATable, Table, Unsupported
from tests.builders.tables import SCHEMA, batch, files, keys, make_table, state, tick

from .bad_creations import CREATIONS
from .bad_operations import OPERATIONS


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """One row, written by an instant requested at tick 1 and completed at tick 2."""
    made = make_table(tmp_path)
    made.upsert(batch(("k1", 1, "a")))
    return made


@pytest.mark.parametrize("case", OPERATIONS)
def test_an_operation_that_cannot_be_is_refused_and_publishes_nothing(case: str, table: Table) -> None:
    operation, refusal = OPERATIONS[case]
    before = files(table)
    with pytest.raises(NbccError) as caught:
        operation(table)
    assert (caught.type, str(caught.value)) == refusal
    assert files(table) == before
    assert state(table.snapshot()) == {("k1", 1, "a")}


@pytest.mark.parametrize("case", CREATIONS)
def test_a_table_that_cannot_be_is_not_made(case: str, tmp_path: Path) -> None:
    arguments, refusal = CREATIONS[case]
    with pytest.raises(NbccError) as caught:
        make_table(tmp_path / "t", **arguments)
    assert (caught.type, str(caught.value)) == refusal
    assert not (tmp_path / "t").exists()


def test_errors_say_what_was_asked_what_exists_and_what_to_do(table: Table) -> None:
    with pytest.raises(BadInput) as caught:
        table.as_of(tick(1))
    assert caught.value.asked == f"read the table as of {tick(1)}"
    assert caught.value.exists == f"that is when a deltacommit was requested, which completed at {tick(2)}"
    assert caught.value.remedy == f"use {tick(2)} to see it, or the completion time of an earlier instant not to"


def test_a_table_is_made_in_an_empty_place_only(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"it is not empty \(notes.txt"):
        Table.create(None, tmp_path, SCHEMA, record_key="id", ordering_fields="ts")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_table_is_not_made_twice(table: Table) -> None:
    before = files(table)
    with pytest.raises(BadInput, match="there is a table already: open it"):
        Table.create(None, table.context.storage.url, SCHEMA, record_key="id", ordering_fields="ts")
    assert files(table) == before


def test_a_path_without_table_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotATable, match=r"there is no \.hoodie/hoodie\.properties: create it, or check the path"):
        Table.open(None, tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


PROPERTIES = {
    "a newer table version": ("hoodie.table.version=9", "hoodie.table.version=10", "it has table version 10"),
    "an unknown merge mode": ("mode=EVENT_TIME_ORDERING", "mode=CUSTOM", "its records are merged by CUSTOM"),
    "an older layout": ("layout.version=2", "layout.version=1", "it has timeline layout 1"),
    "a feature of the future": ("features=completion-order", "features=time-machine", "know the features time-machine"),
}


@pytest.mark.parametrize("case", PROPERTIES)
def test_a_table_beyond_this_release_is_refused(case: str, table: Table, tmp_path: Path) -> None:
    found, put, exists = PROPERTIES[case]
    edit_properties(tmp_path, found, put)
    with pytest.raises(Unsupported, match=exists):
        Table.open(None, tmp_path)


def test_a_table_with_a_metadata_table_is_read_by_listing_and_not_written(table: Table, tmp_path: Path) -> None:
    edit_properties(tmp_path, "hoodie.table.format=", "hoodie.table.metadata.partitions=files\nhoodie.table.format=")
    with pytest.warns(UserWarning, match=r"has a metadata table \(files\)"):
        opened = Table.open(None, tmp_path)
    assert state(opened.snapshot()) == {("k1", 1, "a")}
    before = files(opened)
    with pytest.raises(Unsupported, match=r"its metadata table \(files\) is active and would hide our commits"):
        opened.upsert(batch(("k2", 1, "b")))
    assert files(opened) == before


def edit_properties(root: Path, found: str, put: str) -> None:
    path = root / ".hoodie" / "hoodie.properties"
    text = path.read_text()
    assert found in text
    path.write_text(text.replace(found, put))


def test_an_empty_batch_is_a_commit_without_files(table: Table) -> None:
    instant = table.upsert(batch())
    assert instant.completed == table.settled()
    assert state(table.snapshot()) == {("k1", 1, "a")}
    assert table.incremental(tick(2)).num_rows == 0
    assert table.delete(keys()).completed == table.settled()


def test_rows_of_one_key_are_combined_by_rank(table: Table) -> None:
    table.upsert(batch(("k1", 7, "new"), ("k1", 5, "old"), ("k2", 3, "same"), ("k2", 3, "same")))
    assert state(table.snapshot()) == {("k1", 7, "new"), ("k2", 3, "same")}


def test_as_of_the_request_of_a_pending_write_is_refused(table: Table) -> None:
    table.context.storage.put_if_absent(f".hoodie/timeline/{table.context.clock.take()}.deltacommit.requested", b"")
    with pytest.raises(BadInput, match=r"was requested that is not completed: use a time since its completion\.$"):
        table.as_of(tick(3))


def test_times_may_be_aware_datetimes_of_any_zone(table: Table) -> None:
    moment = datetime(2026, 1, 1, 2, 0, 0, 2_999, tzinfo=timezone(timedelta(hours=2)))
    assert state(table.as_of(moment)) == {("k1", 1, "a")}
    with pytest.raises(BadInput, match="the first commit completed"):
        table.as_of(datetime(2025, 1, 1, tzinfo=UTC))


FIVE: Any = 5  # of another type than the parameters, as a caller without a type checker may give it
NONE: Any = None

CALLS: dict[str, tuple[Callable[[Table], Any], str]] = {
    "columns": (lambda table: table.snapshot(columns=[FIVE]), r"take the columns \[5\], but 5 is of type int: give a"),
    "no columns": (lambda table: table.snapshot(columns=FIVE), "but 5 is of type int: give a list of names"),
    "sort_by": (lambda table: table.cluster(FIVE), "but 5 is of type int"),
    "partitions": (lambda table: table.delete_partition(NONE), "delete the partitions None, but None is of type None"),
    "reads": (lambda table: table.upsert(batch(("k", 2, "x")), reads="part=p"), r"give a list of names: \['part=p'\]"),
    "comment": (lambda table: table.savepoint(comment=FIVE), "comment=5, user='', but these are texts"),
}


@pytest.mark.parametrize("argument", CALLS)
def test_an_argument_of_another_type_is_refused(argument: str, tmp_path: Path) -> None:
    call, message = CALLS[argument]
    table = make_table(tmp_path / "t")
    table.upsert(batch(("k", 1, "x")))
    before = table.context.storage.list("")
    with pytest.raises(BadInput, match=message):
        call(table)
    assert table.context.storage.list("") == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"record_key": 5}, "record_key=5, but 5 is of type int"),
        ({"partition_by": ["part", 5]}, r"partition_by=\['part', 5\], but 5 is of type int"),
        ({"concurrency_mode": 5}, "concurrency_mode=5, but there is no such mode"),
    ],
)
def test_a_table_of_other_types_is_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        Table.create(None, tmp_path / "t", SCHEMA, **{"record_key": "id", "ordering_fields": "ts", **given})


def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    for place in (tmp_path / "plain", tmp_path / "plain" / "t"):
        with pytest.raises(BadInput, match=r"write below .*plain.*: name a folder that can be made"):
            Table.create(None, place, SCHEMA, record_key="id", ordering_fields="ts")
    with pytest.raises(BadInput, match=r"open zzz://x/y, but the store answered: .*give a path, or a URL"):
        Table.open(None, "zzz://x/y")


TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))
CASES = [(pa.field("a", pa.string(), nullable=False), None), (pa.field("a", TEXTS), [None])]


def columns_with(field: pa.Field) -> pa.Schema:
    return pa.schema([*(known for known in SCHEMA if known.name != field.name), field])


@pytest.mark.parametrize("log_format", ["parquet", "avro"])
@pytest.mark.parametrize(("field", "value"), CASES)
def test_a_null_where_none_may_be(field: pa.Field, value: Any, log_format: str, tmp_path: Path) -> None:
    options = {"hoodie.logfile.data.block.format": log_format}
    table = make_table(tmp_path, schema=columns_with(field), options=options)
    given = pa.string() if value is None else pa.list_(pa.string())
    rows = batch(("k1", 1, value), schema=columns_with(pa.field("a", given)))
    with pytest.raises(BadInput) as refused:
        table.upsert(rows)
    assert str(refused.value) == (
        "Asked to write a batch, but 1 row has a null in a required column (for example id='k1', "
        "part='p', ts=1): set a value, or create the table with a nullable column."
    )
    assert table.timeline() == ()


def test_a_delete_needs_its_key_only(tmp_path: Path) -> None:
    columns = columns_with(CASES[0][0])
    table = make_table(tmp_path, schema=columns)
    table.upsert(batch(("k1", 1, "x"), ("k2", 1, "y"), schema=columns))
    table.upsert(batch(("k1", 2, None)).append_column("_hoodie_is_deleted", [[True]]))
    table.compact()
    assert state(table.snapshot()) == {("k2", 1, "y")}
