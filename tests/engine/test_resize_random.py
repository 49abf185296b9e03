"""Random programs with resizes, against an oracle that knows completed writes alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.config.concurrency import OPTIMISTIC
from nbcc.engine.errors import Cleaned, Conflict
from tests.builders.tables import SCHEMA, make_table, table_of, with_deletes

from .hooked import during

Rows = dict[tuple[str, str], tuple[int, str | None]]
"""(partition, id) -> (ordering value, value, or None for a delete)."""

MOMENTS = (".inflight", ".parquet", ".log.")
"""Others act before the first put of a path that contains one of these."""

KINDS: dict[str, dict[str, Any]] = {
    "event time": {},
    "commit time": {"merge_mode": "COMMIT_TIME_ORDERING", "ordering_fields": None},
    "optimistic": {"concurrency_mode": OPTIMISTIC},
    "unpartitioned": {"partition_by": None},
    "two key columns": {"record_key": ["id", "part"], "partition_by": None},
    "avro": {"options": {"hoodie.logfile.data.block.format": "avro"}},
}


@dataclass
class Program:
    """A table, the writes that have completed on it, and the source of its choices."""

    table: Table
    chance: random.Random
    writes: list[tuple[str, Rows]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def rows(self) -> pa.Table:
        """A batch of rows and deletes, one of each key at most."""
        keys = self.chance.sample([(part, f"k{n}") for part in "pqr" for n in range(8)], self.chance.randint(1, 8))
        if self.table.config.record_key == ("id",) and not self.table.config.partition_by:
            keys = [("p", key) for key in sorted({key for _, key in keys})]
        values = ((key, part, self.chance.randint(1, 4), self.chance.choice([None, *"abcdefgh"])) for part, key in keys)
        return with_deletes(table_of(SCHEMA, *values), "a")

    def write(self, table: Table, method: str) -> None:
        rows = self.rows() if method == "upsert" else self.rows().filter(pa.compute.field("_hoodie_is_deleted") == False)  # noqa: E712, E501
        if method == "bulk_insert":
            rows = rows.drop_columns(["_hoodie_is_deleted"])
        try:
            done = getattr(table, method)(rows)
        except Conflict:
            if method == "upsert" and table.config.concurrency_mode != OPTIMISTIC:
                raise
            self.steps.append(f"{method} is refused")
            return
        found = {self.key(row["part"], row["id"]): (row["ts"], row["a"]) for row in rows.to_pylist()}
        self.writes.append((done.completed, found))
        self.writes.sort(key=lambda write: write[0])

    def key(self, part: str, key: str) -> tuple[str, str]:
        config = self.table.config
        return (part if config.partition_by or len(config.record_key) > 1 else "", key)

    # The oracle.

    def merged(self, after: str = "", until: str = "~") -> Rows:
        """The record of each key that wins among the writes that completed in (after, until]."""
        found: Rows = {}
        for completed, rows in self.writes:
            for key, (ts, value) in rows.items() if after < completed <= until else ():
                wins = key not in found or self.table.config.ordering is None or ts >= found[key][0]
                if wins:
                    found[key] = ts, value
        return found

    def state(self, until: str = "~") -> Rows:
        return {key: row for key, row in self.merged(until=until).items() if row[1] is not None}

    def read(self, rows: pa.Table) -> Rows:
        """The rows of an answer. Each key is there once."""
        deleted = rows["_hoodie_is_deleted"].to_pylist() if "_hoodie_is_deleted" in rows.column_names else []
        found = rows.to_pylist()
        keys = [self.key(row["part"], row["id"]) for row in found]
        assert len({*keys}) == len(keys), f"a key is shown twice: {sorted(keys)}"
        gone = deleted or [False] * len(found)
        return {
            key: (row["ts"], None if is_gone else row["a"]) for key, row, is_gone in zip(keys, found, gone, strict=True)
        }

    def check(self) -> None:
        fresh = Table(replace(self.table.context, own_commits=None), self.table.config)
        for table in (self.table, fresh):
            assert self.read(table.snapshot()) == self.state()
        times = [completed for completed, _ in self.writes] + [
            i.completed for i in self.table.context.active().completed if i.completed and i.action != "savepoint"
        ]
        if not times:
            return
        first, last = sorted(self.chance.choices(times, k=2))
        self._answers(lambda: self.read(fresh.as_of(first)), lambda: self.state(first))
        self._answers(lambda: self._window(fresh, first, last), lambda: self._expected(first, last))
        part, key = self.chance.choice("pqr"), f"k{self.chance.randrange(8)}"
        found = self.read(fresh.snapshot(where=[("id", "=", key), ("part", "=", part)]))
        state = {k: row for k, row in self.state().items() if k == self.key(part, key)}
        if self.key(part, key)[0]:
            assert found == state
        self._answers(lambda: self._changes(fresh, first, last), lambda: self._difference(first, last))

    def _answers(self, answer: Callable[[], Any], right: Callable[[], Any]) -> None:
        try:
            found = answer()
        except Cleaned:
            return
        assert found == right()

    def _window(self, table: Table, after: str, until: str) -> Any:
        found = self.read(table.incremental(after, until))
        return {key: (ts if self.table.config.ordering else None, value) for key, (ts, value) in found.items()}

    def _expected(self, after: str, until: str) -> Any:
        found = self.merged(after, until)
        return {key: (ts if self.table.config.ordering else None, value) for key, (ts, value) in found.items()}

    def _changes(self, table: Table, after: str, until: str) -> Any:
        found = table.changes(after, until).to_pylist()
        return sorted((row["op"], *self._values(row["before"]), *self._values(row["after"])) for row in found)

    def _values(self, row: dict[str, Any] | None) -> tuple[Any, ...]:
        return ("", "", 0, "") if row is None else (*self.key(row["part"], row["id"]), row["ts"], row["a"])

    def _difference(self, after: str, until: str) -> Any:
        before, now = self.state(after), self.state(until)
        nothing = ("", "", 0, "")
        found = []
        for key in before.keys() | now.keys():
            old = (*key, *before[key]) if key in before else nothing
            new = (*key, *now[key]) if key in now else nothing
            if old != new:
                found.append(("i" if old is nothing else "d" if new is nothing else "u", *old, *new))
        return sorted(found)

    # The program.

    def step(self, table: Table, depth: int) -> None:
        name = self.chance.choices([*CHOICES], [*CHOICES.values()])[0]
        moment = self.chance.choice(MOMENTS) if depth < 2 and self.chance.random() < 0.5 else ""
        self.steps.append("  " * depth + name + (f", and before its {moment}:" if moment else ""))
        if moment and name != "archive":  # an archiver puts files under the lock, where the others would wait
            table = during(table, moment, lambda: self.others(depth + 1))
        if name in ("upsert", "bulk_insert"):
            self.write(table, name)
            return
        try:
            _run(table, name, self.chance)
        except Conflict as conflict:
            self.steps.append(f"{name} is refused: {conflict}")

    def others(self, depth: int) -> None:
        for _ in range(self.chance.randint(1, 2)):
            self.step(self.table, depth)


CHOICES = {
    "upsert": 8, "bulk_insert": 1, "resize": 5, "schedule_resize": 2, "resume": 3, "cancel_resize": 1, "compact": 3,
    "schedule_compaction": 2, "run_compaction": 2, "log_compact": 2, "clean": 2, "archive": 2, "checkpoint_state": 1,
}  # fmt: skip


def _run(table: Table, name: str, chance: random.Random) -> None:
    if name in ("resize", "schedule_resize"):
        table.run(name, buckets=chance.randint(1, 6))
    elif name == "resume":
        table.resize()
    elif name == "clean":
        table.clean(retained=chance.randint(1, 4))
    elif name == "archive":
        table.archive(retained=chance.randint(1, 3))
    else:
        table.run(name)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_no_row_is_lost_or_shown_twice(kind: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{kind} {seed}")
    program = Program(make_table(tmp_path / "t", **{"buckets": chance.randint(1, 4)} | KINDS[kind]), chance)
    try:
        for _ in range(15):
            program.step(program.table, 0)
            program.check()
    except BaseException as error:
        error.add_note("\n".join(program.steps))
        raise
