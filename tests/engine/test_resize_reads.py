"""Each way to read a table, before, during and after a resize that a late log and a spanning writer meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from nbcc import Table
from nbcc.engine.data_source import NbccSource
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.state_checkpoint import checkpoint_paths
from tests.builders.state_checkpoints import answers, checkpoint, without_checkpoints
from tests.builders.tables import SCHEMA, make_table, state, table_of

from .hooked import during

FIRST = [f"k{number}" for number in range(12)]
LATE = [f"n{number}" for number in range(9)]
MOVED = [f"m{number}" for number in range(9)]


class History:
    """A history in which a file group of each kind has a row: `look` is called after each of its steps."""

    def __init__(self, folder: Path) -> None:
        self.table = make_table(folder / "t", buckets=2)
        self.done: list[Instant] = []
        self.keys: list[str] = []

    def play(self, look: Callable[[], object]) -> None:
        self._write("old", 1, *FIRST)
        look()
        spanning = during(self.table, ".log.", lambda: self._resized(look))
        self._write("moved", 3, "k1", "k2", *MOVED, table=spanning)
        look()
        self._write("after", 4, "k3", "k1")
        look()
        for again in (self.table.compact, partial(self.table.resize, 1), partial(self.table.resize, 4)):
            instant = again()
            assert instant is not None
            self.done.append(instant)
            look()

    def _resized(self, look: Callable[[], object]) -> None:
        def late() -> None:
            look()
            self._write("late", 2, "k1", *LATE)
            look()

        during(self.table, "-0001-0000-0000-000000000005-0_", late).resize(5)
        look()

    def _write(self, value: str, ts: int, *keys: str, table: Table | None = None) -> None:
        rows = table_of(SCHEMA, *((key, "p", ts, value) for key in keys))
        self.done.append((table or self.table).upsert(rows, batch_id=value))
        self.keys += keys


def by_streams(history: History) -> None:
    """A streaming query delivers each write once."""
    source = NbccSource({"path": history.table.context.storage.url})
    reader: Any = source.streamReader(source.schema())
    offset, found = reader.initialOffset(), list[str]()

    def look() -> None:
        nonlocal offset
        end = reader.latestOffset(offset, ReadAllAvailable())
        for part in reader.partitions(offset, end):
            found.extend(row["id"] for batch in reader.read(part) for row in batch.to_pylist())
        offset = end

    history.play(look)
    assert Counter(found) == Counter(history.keys)


def by_changes(history: History) -> None:
    """A copy that applies each window of the change log equals the table."""
    copy, after = dict[str, Any](), "0" * 17

    def look() -> None:
        nonlocal after
        until = max((each.completed or "" for each in history.table.timeline()), default=after)
        for row in history.table.changes(after, until).to_pylist() if until > after else ():
            assert (row["before"] and row["before"]["a"]) == copy.get((row["before"] or row["after"])["id"])
            copy[row["after"]["id"]] = row["after"]["a"]
        after = until
        assert copy == {key: value for key, _, value in state(history.table.snapshot())}

    history.play(look)
    assert copy["k1"] == "after"


def by_conditions(history: History) -> None:
    """A condition returns the rows of the snapshot that meet it: on the key, the partition and on the values of logs
    and base files, whose ranges the commits list.
    """

    def look() -> None:
        rows = history.table.snapshot().to_pylist()
        conditions: list[tuple[str, str, Any, Callable[[Any], bool]]] = [
            *(("id", "=", key, key.__eq__) for key in ("k1", *LATE, *MOVED)), ("ts", ">=", 3, lambda found: found >= 3),
            ("ts", "<", 2, lambda found: found < 2), ("a", "=", "late", lambda found: found == "late"),
            ("a", "=", "moved", lambda found: found == "moved"), ("part", "=", "p", lambda found: found == "p"),
        ]  # fmt: skip
        for column, operator, value, meets in conditions:
            found = history.table.snapshot(where=[(column, operator, value)])
            right = [row for row in rows if meets(row[column])]
            assert state(found) == state(pa.Table.from_pylist(right, found.schema))
        assert state(history.table.snapshot(partitions={"part=p"})) == state(history.table.snapshot())

    history.play(look)


def by_times(history: History) -> None:
    """A read as of a time returns what a snapshot returned then."""
    seen = dict[str, Any]()

    def look() -> None:
        newest = max((each.completed or "" for each in history.table.timeline()), default="")
        seen[newest] = state(history.table.snapshot())

    history.play(look)
    assert len(seen) > 6
    assert {time: state(history.table.as_of(time)) for time in seen} == seen


def by_state_checkpoints(history: History) -> None:
    """A process that begins at a state checkpoint reads what one reads that begins with all commits."""
    history.play(lambda: checkpoint(history.table))
    assert checkpoint_paths(history.table.context.storage)
    assert answers(history.table, history.done) == without_checkpoints(history.table, history.done)


def by_batch_ids(history: History) -> None:
    """A batch that is sent again is not written again, also in other file groups."""

    def look() -> None:
        rows = table_of(SCHEMA, *((key, "p", 1, "old") for key in FIRST))
        assert history.table.upsert(rows, batch_id="old") == history.done[0]

    history.play(look)


@pytest.mark.parametrize("read", [by_streams, by_changes, by_conditions, by_times, by_state_checkpoints, by_batch_ids])
def test_a_resize_changes_no_answer(read: Callable[[History], None], tmp_path: Path) -> None:
    read(History(tmp_path))
