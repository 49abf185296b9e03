"""The setting hudi-rs-0.5.0 against what Apache Hudi 1.2.0 and hudi-rs 0.5.0 really returned.

The tables were written by Hudi under overlapping writers and compactions. Their compactions were Hudi's, which drop
tombstones, so that this one choice is set as well.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Query, Record
from nbcc.model.answers import answer
from nbcc.model.planning import plan
from nbcc.model.record import Rule
from nbcc.model.slicing import writes_by_slice
from nbcc.model.table import Compaction, Plan, Table, Write, table_of
from nbcc.simulator import specs

TABLES = Path(__file__).parents[1] / "tables"
MOR = sorted(path.stem for path in TABLES.glob("*_mor_*.json"))
HUDI = replace(specs.protocol("hudi-rs-0.5.0"), tombstones="drop")
Key = tuple[str, str]


class Told:
    """A table as its JSON tells of it: the timeline, who wrote what, and what the readers answered."""

    def __init__(self, name: str) -> None:
        self.json: Any = json.loads((TABLES / f"{name}.json").read_text(encoding="utf-8"))
        self.rule = Rule("event" in name, False, "logs_first")
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
                parts = plan(table_of((*done, *before), tuple(plans), ()), self.groups, requested, HUDI)
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

    def rows(self, query: Query, data: Any = None) -> list[tuple[str, str, int, str]]:
        """What the model answers, in the readers' words."""
        given = self.data if data is None else data
        found: dict[Any, Any] = {}
        found.update(answer(self.table, self.groups, query, 0, given, protocol=HUDI, rule=self.rule))
        return sorted(
            (k, part, row.ordering, str(row.requested)) for (part, k), row in found.items() if not row.deleted
        )

    def without_late_logs(self, after: int, until: int) -> list[tuple[str, str, int, str]]:
        """The window without the logs of writes that were requested before their slice begins: with its base file, or
        with its earliest log by completion."""
        done = {p.requested: c for p, c in zip(self.table.plans, self.table.completed, strict=True) if c}
        plans = tuple(p for p in self.table.plans if p.requested in done)
        table = Table(self.table.writes, plans, tuple(done.values()))
        in_time: dict[int, dict[tuple[int, int], dict[Key, Record]]] = {}
        for group in range(self.groups):
            for barrier, writes in writes_by_slice(table, group, HUDI).items():
                begin = barrier if barrier is not None else writes[0].requested if writes else 0
                for write in (w for w in writes if w.requested >= begin):
                    in_time.setdefault(write.requested, {})[group, 1] = self.data[write.requested][group, 1]
        return self.rows(Query("incremental", after, until), in_time)


def bucket_hash(key: str) -> int:
    """How the bucket index spreads these keys, which are plain ASCII: the hash of a list that holds the text."""
    found = 0
    for character in key:
        found = (31 * found + ord(character)) & 0xFFFFFFFF
    return (31 + found) & 0x7FFFFFFF


def said(rows: list[dict[str, Any]]) -> list[tuple[str, str, int, str]]:
    return sorted((row["id"], row["part"], row["ts"], row["_hoodie_commit_time"]) for row in rows)


@pytest.mark.parametrize("name", MOR)
def test_snapshots_are_what_hudi_and_hudi_rs_returned(name: str) -> None:
    told = Told(name)

    for reader in ("spark", "hudi_rs"):
        assert told.rows(Query("snapshot")) == said(told.json["snapshot"][reader])


@pytest.mark.parametrize("name", MOR)
def test_as_of_reads_are_what_hudi_rs_returned(name: str) -> None:
    told = Told(name)
    for point in told.json["as_of"]:
        time = int(point["completion"])
        assert told.rows(Query("as_of", until=time)) == said(point["at_completion"]["hudi_rs"]), time


def test_incremental_windows_are_what_hudi_rs_returned_but_for_its_loss_of_late_logs() -> None:
    """hudi-rs 0.5.0 leaves a log out of a window of one instant if its write was requested before its slice begins."""
    same, lost = 0, 0
    for told in map(Told, MOR):
        for window in told.json["incremental"]:
            after, until = int(window["start"]), int(window["end"])
            assert told.without_late_logs(after, until) == said(window["hudi_rs"])
            complete = told.rows(Query("incremental", after, until)) == said(window["hudi_rs"])
            same, lost = same + complete, lost + (not complete)
    assert (same, lost) == (85, 8)
