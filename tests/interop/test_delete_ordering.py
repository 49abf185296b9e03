"""Older deletes of nbcc, read by Apache Hudi 1.2.0: the type of the ordering column decides whether they lose."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.simulator.lockstep.peers.process import PeerRefused, peer
from tests.builders.pending import make_versioned_table
from tests.builders.tables import table_of

LOSES, WINS = ["k", "l"], ["l"]
TIME = pa.timestamp("us", "UTC")
INT, BIGINT, TEXT = (pa.int32(), 1, 2), (pa.int64(), 0, 2), (pa.string(), "1", "2")
ZERO = (pa.int32(), 0, 2)
DATE = (pa.date32(), date(2026, 1, 1), date(2026, 1, 2))
FIRST_DAY = (pa.date32(), date(1970, 1, 1), date(2026, 1, 2))
TIMESTAMP = (TIME, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))


def deleted_late(folder: Path, ordering: tuple[pa.DataType, Any, Any], *, compacts: bool, keeps: bool) -> Table:
    """A table with the rows k and l, and a delete of k with an older ordering value.

    `compacts`: the rows are in a base file. `keeps`: the delete is in the log of a compaction of partial updates.
    """
    kind, old, new = ordering
    schema = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", kind), ("value", pa.string())])
    options = {"nbcc.partial.update.mode": "SET_COLUMNS"} if keeps else {}
    table = make_versioned_table(folder, "9", schema=schema, options=options)
    table.upsert(table_of(schema, ("k", "p", new, "x"), ("l", "p", new, "x")))
    if compacts:
        table.compact()
    table.delete(table_of(schema.remove(3), ("k", "p", old)))
    if keeps:
        table.compact()
    assert sorted(table.snapshot()["id"].to_pylist()) == LOSES, "the engine's own snapshot"
    return table


def shown(folder: Path) -> list[str]:
    """The record keys of Hudi's snapshot, or the class of the error that ends it."""
    process = peer("hudi")
    process.ask("open", str(folder))
    try:
        return [row[0] for row in process.ask("read", str(folder), kind="snapshot", columns=["id"])]
    except PeerRefused as refused:
        return ["ClassCastException" if "java.lang.ClassCastException" in str(refused) else str(refused)]
    finally:
        process.ask("forget", str(folder))


STATES = pytest.mark.parametrize(
    ("compacts", "keeps"), [(False, False), (True, False), (False, True)], ids=["logs", "base", "kept"]
)


@STATES
@pytest.mark.parametrize("ordering", [INT, BIGINT, TEXT, DATE, TIMESTAMP], ids=lambda case: str(case[0]))
def test_an_older_delete_loses(
    ordering: tuple[pa.DataType, Any, Any], compacts: bool, keeps: bool, tmp_path: Path
) -> None:
    """nbcc writes timestamps as longs and dates as ints, because Hudi does not compare rows with their own wrappers."""
    deleted_late(tmp_path, ordering, compacts=compacts, keeps=keeps)
    assert shown(tmp_path) == LOSES


@STATES
def test_an_older_delete_wins_if_its_ordering_value_is_the_int_zero(
    compacts: bool, keeps: bool, tmp_path: Path
) -> None:
    deleted_late(tmp_path, ZERO, compacts=compacts, keeps=keeps)
    assert shown(tmp_path) == WINS


@STATES
def test_the_first_day_of_unix_time_is_compared_with_no_row(compacts: bool, keeps: bool, tmp_path: Path) -> None:
    deleted_late(tmp_path, FIRST_DAY, compacts=compacts, keeps=keeps)
    assert shown(tmp_path) == (["ClassCastException"] if compacts or keeps else WINS)
