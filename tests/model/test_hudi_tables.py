"""The setting hudi-rs-0.5.0 against what Apache Hudi 1.2.0 and hudi-rs 0.5.0 really returned.

The tables were written by Hudi under overlapping writers and compactions. Their compactions were Hudi's, which drop
tombstones, so that this one choice is set as well.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hudi import HudiQueryType, HudiReadOptions, HudiTable

from nbcc.model import Protocol, Query, Record
from nbcc.model.answers import NoAnswer, answer
from nbcc.model.assembly import rules_of
from nbcc.model.kernel.merge import Merger
from nbcc.model.kernel.planning import plan
from nbcc.model.kernel.table import Compaction, Plan, Table, Write, table_of
from nbcc.simulator import specs

TABLES = Path(__file__).parents[1] / "tables"
MOR = sorted(path.stem for path in TABLES.glob("*_mor_*.json"))
HUDI = specs.protocol("hudi-rs-0.5.0").replace(tombstones="drop")
MERGED = HUDI.replace(window_merge="logs")  # the window's own logs, as promised
SPARK = specs.protocol("hudi-1.2.0")
Key = tuple[str, str]
Row = tuple[str, str, int, str]


class RecordedTable:
    """A table as its JSON records it: the timeline, who wrote what, and what the readers answered."""

    def __init__(self, name: str) -> None:
        self.json: Any = json.loads((TABLES / f"{name}.json").read_text(encoding="utf-8"))
        self.merger = Merger("event" in name, False, logs_first=True)
        self.buckets = int(self.json["options"]["hoodie.bucket.index.num.buckets"])
        rows = [row for step in self.json["steps"] for part in step if isinstance(part, list) for row in part]
        self.partitions = sorted({row[1] for row in rows})
        self.groups = len(self.partitions) * self.buckets
        self.data: dict[int, dict[tuple[int, int], dict[Key, Record]]] = {}
        self.table = self._replayed()

    def _replayed(self) -> Table:
        instants = sorted(self.json["timeline"], key=lambda name: name[:17])
        published: list[Write | Compaction] = []
        plans: list[Plan] = []
        taken = 0
        for step in self.json["steps"]:
            if step[0] == "w.commit" or step[0] == "compact.run" or taken == len(instants):
                continue
            name = instants[taken]
            if (step[0] == "compact.plan") == ("deltacommit" in name):
                continue  # there was nothing to plan
            taken += 1
            requested = int(name[:17])
            completed = int(name[18:35]) if "_" in name else None
            if step[0] == "compact.plan":
                done = [w for w in published if (w.completed or 0) < requested]
                before = [c for c in published if isinstance(c, Compaction)]
                parts = plan(rules_of(HUDI), table_of((*done, *before), tuple(plans)), self.groups, requested)
                plans.append(Plan(requested, "hudi", True, parts))
                if completed:
                    published.append(Compaction(requested, completed, "hudi"))
            else:
                published.append(self._write(step, requested, completed))
        assert taken == len(instants)
        return table_of(tuple(published), tuple(plans))

    def _write(self, step: Any, requested: int, completed: int | None) -> Write:
        files: dict[tuple[int, int], dict[Key, Record]] = {}
        for key, part, ordering, _, _, deleted in next(part for part in step[1:] if isinstance(part, list)):
            group = self.partitions.index(part) * self.buckets + bucket_hash(key) % self.buckets
            files.setdefault((group, 1), {})[part, key] = Record(ordering, None, deleted)
        self.data[requested] = files
        return Write(requested, completed, "hudi", 1, tuple(sorted(files)))

    def rows(self, query: Query, protocol: Protocol = HUDI) -> list[Row]:
        """What the model answers."""
        found = answer(rules_of(protocol), self.table, self.groups, query, 0, self.data, self.merger)
        return rows_of_records(dict(found), lambda row: not row.deleted)

    def completed(self) -> list[int]:
        """The completion times."""
        done = (instant.completed for instant in self.table.writes)
        return sorted(time for time in (*done, *self.table.completed) if time)


def rows_of_records(found: dict[Any, Any], keep: Callable[[Record], bool]) -> list[Row]:
    """Rows in the readers' words."""
    return sorted((k, part, r.ordering, str(r.requested)) for (part, k), r in found.items() if keep(r))


def bucket_hash(key: str) -> int:
    """How the bucket index spreads these keys, which are plain ASCII: the hash of a list that holds the text."""
    found = 0
    for character in key:
        found = (31 * found + ord(character)) & 0xFFFFFFFF
    return (31 + found) & 0x7FFFFFFF


def rows_of(rows: list[dict[str, Any]]) -> list[Row]:
    return sorted((row["id"], row["part"], row["ts"], row["_hoodie_commit_time"]) for row in rows)


@pytest.mark.parametrize("name", MOR)
def test_snapshots_are_what_hudi_and_hudi_rs_returned(name: str) -> None:
    written = RecordedTable(name)

    for reader in ("spark", "hudi_rs"):
        assert written.rows(Query("snapshot")) == rows_of(written.json["snapshot"][reader])


@pytest.mark.parametrize("name", MOR)
def test_as_of_reads_are_what_hudi_rs_returned(name: str) -> None:
    written = RecordedTable(name)
    for point in written.json["as_of"]:
        time = int(point["completion"])
        assert written.rows(Query("as_of", until=time)) == rows_of(point["at_completion"]["hudi_rs"]), time


@pytest.mark.parametrize("name", MOR)
def test_windows_are_what_hudi_rs_returns(name: str, tmp_path: Path) -> None:
    """Every window between two completions, read by hudi-rs itself; the stored ones are among them."""
    zipfile.ZipFile(TABLES / f"{name}.zip").extractall(tmp_path)
    table = HudiTable(str(next(tmp_path.rglob(".hoodie")).parent))
    written = RecordedTable(name)
    times = [0, *written.completed()]
    for until in times:
        for after in (time for time in times if time < until):
            options = HudiReadOptions().with_query_type(HudiQueryType.Incremental)
            batches = table.read(options.with_start_timestamp(str(after)).with_end_timestamp(str(until)))
            rows = rows_of([row for batch in batches for row in pyarrow.record_batch(batch).to_pylist()])
            assert written.rows(Query("incremental", after, until)) == rows, (after, until)
    for window in written.json["incremental"]:
        query = Query("incremental", int(window["start"]), int(window["end"]))
        assert written.rows(query) == rows_of(window["hudi_rs"])


@pytest.mark.parametrize("name", MOR)
def test_reads_are_what_hudi_on_spark_returned(name: str) -> None:
    written = RecordedTable(name)

    assert written.rows(Query("snapshot"), SPARK) == rows_of(written.json["snapshot"]["spark"])
    for window in written.json["incremental"]:
        query = Query("incremental", int(window["start"]), int(window["end"]))
        assert written.rows(query, SPARK) == rows_of(window["spark"])
    for point in written.json["as_of"]:
        answered = point["at_completion"]["spark"]
        try:
            rows = written.rows(Query("as_of", until=int(point["completion"])), SPARK)
        except NoAnswer:
            assert answered is None or isinstance(answered, str), answered
        else:
            assert rows == rows_of(answered)


def test_how_often_hudi_rs_loses_a_late_log() -> None:
    """The windows of one instant each that hudi-rs answered otherwise than the model's definition."""
    windows = [(written, w) for written in map(RecordedTable, MOR) for w in written.json["incremental"]]
    lost = [
        int(w["end"])
        for written, w in windows
        if written.rows(Query("incremental", int(w["start"]), int(w["end"])), MERGED) != rows_of(w["hudi_rs"])
    ]

    assert (len(windows), len(lost)) == (93, 8)
