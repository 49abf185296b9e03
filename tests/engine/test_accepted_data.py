"""What pandas and Arrow produce by default is accepted where no information is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import BadInput, Table, Unsupported

SCHEMA = pa.schema(
    [("id", pa.string()), ("ts", pa.int64()), ("small", pa.int32()), ("share", pa.float64()), ("raw", pa.binary()),
     ("day", pa.date32()), ("at", pa.timestamp("us", "UTC"))]
)  # fmt: skip
ROW = {"id": "a", "ts": 1, "small": 7, "share": 0.5, "raw": b"x", "day": datetime(2026, 1, 2).date(),
       "at": datetime(2026, 1, 2, 3, tzinfo=UTC)}  # fmt: skip


def made(folder: Path, schema: pa.Schema = SCHEMA, **more: Any) -> Table:
    return Table.create(None, folder / "t", schema, record_key="id", ordering_fields="ts", buckets=1, **more)


def batch(**types: pa.DataType) -> pa.Table:
    return pa.Table.from_pylist([ROW], SCHEMA).cast(
        pa.schema([field.with_type(types.get(field.name, field.type)) for field in SCHEMA])
    )


def stored(table: Table, names: list[str] = SCHEMA.names) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.snapshot().select(names).to_pylist()
    return found


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("id", pa.large_string()),
        ("id", pa.string_view()),
        ("id", pa.dictionary(pa.int32(), pa.string())),
        ("ts", pa.int32()),
        ("ts", pa.int16()),
        ("ts", pa.int8()),
        ("ts", pa.uint32()),
        ("small", pa.int8()),
        ("small", pa.int16()),
        ("small", pa.int64()),
        ("share", pa.float32()),
        ("raw", pa.large_binary()),
        ("day", pa.date64()),
        ("at", pa.timestamp("ns", "UTC")),
        ("at", pa.timestamp("ms", "Asia/Tokyo")),
    ],
    ids=str,
)
def test_a_type_from_which_a_cast_loses_nothing(tmp_path: Path, column: str, kind: pa.DataType) -> None:
    table = made(tmp_path)
    table.upsert(batch(**{column: kind}))
    assert stored(table) == [ROW]


@pytest.mark.parametrize("column", ["id", "ts", "raw", "day"])
def test_a_column_of_such_a_type_is_created(tmp_path: Path, column: str) -> None:
    kinds = {"id": pa.large_string(), "ts": pa.int16(), "raw": pa.large_binary(), "day": pa.date64()}
    table = made(tmp_path, batch(**{column: kinds[column]}).schema)
    table.upsert(batch(**{column: kinds[column]}))
    assert table.config.schema.field(column).type in (SCHEMA.field(column).type, pa.int32())
    assert stored(table) == [ROW]


@pytest.mark.parametrize(
    ("column", "rows", "says"),
    [
        ("small", pa.array([1 << 40]), "a value of 'small' does not fit into int32"),
        ("at", pa.array([1], pa.timestamp("ns", "UTC")), "a value of 'at' does not fit into timestamp"),
        ("ts", pa.array([1.0]), "'ts' is double, the table's is int64"),
        ("share", pa.array(["1"]), "'share' is string, the table's is double"),
        ("at", pa.array([1], pa.timestamp("us")), "or open the table with session_time_zone"),
    ],
)
def test_a_value_that_would_change_is_refused(tmp_path: Path, column: str, rows: pa.Array, says: str) -> None:
    table, given = made(tmp_path), pa.Table.from_pylist([ROW], SCHEMA)
    given = given.set_column(given.column_names.index(column), column, rows)
    with pytest.raises(BadInput, match=says):
        table.upsert(given)
    assert table.timeline() == ()


def test_a_snapshot_is_written_back_without_hudis_columns(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.upsert(batch())
    rows = table.snapshot()
    assert rows.column_names[0] == "_hoodie_commit_time"
    later = rows.set_column(rows.column_names.index("ts"), "ts", pa.array([2]))
    table.upsert(later)
    assert stored(table) == [{**ROW, "ts": 2}]
    table.delete(table.snapshot())
    assert stored(table) == []


def test_timestamps_without_a_zone_are_times_in_the_named_one(tmp_path: Path) -> None:
    kinds = {"at": pa.timestamp("ns")}
    with pytest.raises(Unsupported, match="session_time_zone"):
        made(tmp_path, batch(**kinds).schema)
    table = made(tmp_path, batch(**kinds).schema, session_time_zone="Asia/Tokyo")
    table.upsert(batch(**kinds))
    there = datetime(2026, 1, 1, 18, tzinfo=UTC)
    assert stored(table) == [{**ROW, "at": there}]
    again = Table.open(None, tmp_path / "t", session_time_zone="UTC")
    again.upsert(batch(**kinds))
    assert stored(again) == [ROW]
    with pytest.raises(BadInput, match="'Asia/Tokio', but there is no such time zone"):
        Table.open(None, tmp_path / "t", session_time_zone="Asia/Tokio")


def test_a_pandas_frame_is_a_batch(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("fare", pa.float64())])
    table = made(tmp_path, schema)
    frame = pandas.DataFrame({"id": ["a", "b"], "ts": [1, 2], "fare": [0.5, None]})
    table.upsert(frame)
    assert stored(table, schema.names) == frame.replace({float("nan"): None}).to_dict("records")
    table.delete(frame[frame["ts"] == 2].set_index("id"))
    assert [row["id"] for row in stored(table, schema.names)] == ["a"]
    with pytest.raises(BadInput, match="pyarrow cannot convert the pandas DataFrame"):
        table.upsert(pandas.DataFrame({"id": ["a", 1], "ts": [1, 2], "fare": [0.5, None]}))


@pytest.mark.parametrize("digits", [(5, 0), (10, 2), (38, 10)])
def test_a_decimal_ordering_column_is_refused_without_recommending_decimal(
    tmp_path: Path, digits: tuple[int, int]
) -> None:
    schema = SCHEMA.set(1, pa.field("ts", pa.decimal128(*digits)))
    with pytest.raises(BadInput) as raised:
        made(tmp_path, schema)
    assert "decimal" not in str(raised.value).partition(": use ")[2]
