"""Random programs under a record index, against an oracle that knows completed writes alone: keys that concurrent bulk
inserts, or upserts, put into several partitions, concurrent updates and deletes, and writers that die.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from nbcc import Table
from nbcc.engine.config.record_index import INSERTS
from nbcc.engine.errors import Conflict, UnknownKey
from tests.builders.heartbeats import Died, dies
from tests.builders.tables import SCHEMA, make_table, table_of, with_deletes

from .hooked import during

Rows = dict[tuple[str, str], tuple[int, str | None]]
"""(partition, id) -> (ordering value, value, or None for a delete)."""

MOMENTS = (".inflight", ".nbcc/index", ".marker")
"""Others act, or the writer dies, before the first put of a path that contains one of these."""

PARTS, KEYS = "pqr", tuple(f"k{number}" for number in range(8))

CHOICES = {"upsert": 8, "bulk_insert": 6, "compact": 2, "resize": 1, "clean": 1, "archive": 1}


@dataclass
class Program:
    """A table, what has completed on it, and the source of its choices. `homes` has the partition of each inserted key.
    """

    table: Table
    chance: random.Random
    inserts: str = "updates_only"
    writes: list[tuple[str, Rows]] = field(default_factory=list)
    homes: dict[str, str] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def batch(self, name: str) -> pa.Table:
        """Rows whose partition is mostly the one of their key, and deletes of an upsert."""
        keys = self.chance.sample(KEYS, self.chance.randint(1, 3))
        values: list[tuple[str, str, int, str | None]] = []
        for key in keys:
            part = self.homes.get(key) if self.chance.random() < 0.9 else None
            value = self.chance.choice([None, *"abc"] if name == "upsert" else "abc")
            values.append((key, part or self.chance.choice(PARTS), self.chance.randint(1, 4), value))
        rows = table_of(SCHEMA, *values)
        return with_deletes(rows, "a") if name == "upsert" else rows

    def write(self, table: Table, name: str) -> None:
        rows = self.batch(name)
        known = dict(self.homes)
        moves = self.inserts == "moved" and name == "upsert"
        kept = rows if moves or name != "upsert" else rows.filter(pc.is_valid(rows["a"]))
        inserts = {row["id"]: row["part"] for row in kept.to_pylist()}
        places = {row["id"]: row["part"] for row in rows.to_pylist()}
        try:
            done = getattr(table, name)(rows)
        except UnknownKey:
            assert not moves, "an upsert is refused"
            lacking = [key for key in inserts if key not in known] if name == "upsert" else []
            elsewhere = [key for key, part in places.items() if self.homes.get(key, part) != part]
            assert lacking or elsewhere, f"{name} of known keys is refused: {places}"
            self.seen.add("refused insert" if lacking else "refused move")
            return
        except Conflict as conflict:
            if name != "bulk_insert":
                raise  # no update and no delete is refused
            if "is in two partitions" in str(conflict):
                self.seen.add("conflict" if self.homes != known else "needless conflict")
            return
        if moves:
            moved = {key for key, part in inserts.items() if self.homes.get(key, part) != part}
            self.seen |= {"insert by an upsert"} if inserts.keys() - known.keys() else set()
            self.seen |= {"move"} if moved - known.keys() else set()
            self.seen |= {"move of a known key"} if moved & known.keys() else set()
            self.homes = inserts | self.homes
        elif name == "bulk_insert":
            self.seen |= {"insert"} if inserts.keys() - known.keys() else set()
            self.homes |= inserts
        elif unknown := inserts.keys() - self.homes.keys():
            raise AssertionError(f"an upsert has inserted {unknown}")
        home = self.homes if moves else places
        found = {(home[row["id"]], row["id"]): (row["ts"], row["a"]) for row in rows.to_pylist()}
        self.writes = sorted([*self.writes, (done.completed or "", found)], key=lambda write: write[0])

    def state(self) -> Rows:
        """The record of each key that wins among the completed writes, if it is not a delete."""
        found: Rows = {}
        for _, rows in self.writes:
            for key, (ts, value) in rows.items():
                if key not in found or ts >= found[key][0]:
                    found[key] = ts, value
        return {key: row for key, row in found.items() if row[1] is not None}

    def check(self) -> None:
        rows = self.table.snapshot().to_pylist()
        ids = [row["id"] for row in rows]
        assert len({*ids}) == len(ids), f"a key is in two partitions: {sorted(ids)}"
        assert {(row["part"], row["id"]): (row["ts"], row["a"]) for row in rows} == self.state()

    def step(self, depth: int = 0) -> None:
        name = self.chance.choices([*CHOICES], [*CHOICES.values()])[0]
        table, happens = self.table, self.chance.random() if depth < 2 else 1.0
        if name in ("upsert", "bulk_insert") and happens < 0.5:
            moment = self.chance.choice(MOMENTS)
            mortal = happens < 0.1
            table = during(table, moment, dies if mortal else lambda: self.others(depth + 1))
            self.steps.append("  " * depth + f"{name}, and before its {moment} {'it dies' if mortal else 'others act'}")
        else:
            self.steps.append("  " * depth + name)
        try:
            if name in ("upsert", "bulk_insert"):
                self.write(table, name)
            else:
                self.serve(name)
        except Died:
            self.seen.add("death")

    def serve(self, name: str) -> None:
        numbers = {"resize": {"buckets": self.chance.randint(1, 3)}, "clean": {"retained": self.chance.randint(1, 3)},
                   "archive": {"retained": self.chance.randint(1, 3)}}  # fmt: skip
        try:
            getattr(self.table, name)(**numbers.get(name, {}))
        except Conflict as conflict:
            self.steps.append(f"{name} is refused: {conflict}")

    def others(self, depth: int) -> None:
        for _ in range(self.chance.randint(1, 2)):
            self.step(depth)


def play(folder: Path, seed: int, inserts: str = "updates_only") -> set[str]:
    chance = random.Random(seed)
    program = Program(make_table(folder, buckets=chance.randint(1, 3)), chance, inserts)
    assert program.table.index("RECORD_INDEX", inserts)
    try:
        for _ in range(8):
            program.step()
            program.check()
    except BaseException as error:
        error.add_note("\n".join(program.steps))
        raise
    return program.seen


def test_a_key_is_inserted_once_and_no_update_is_lost(tmp_path: Path) -> None:
    seen = {each for seed in range(40) for each in play(tmp_path / str(seed), seed)}
    assert seen == {"insert", "refused insert", "refused move", "conflict", "death"}


def test_a_key_has_one_partition_where_upserts_insert(tmp_path: Path) -> None:
    seen = {each for seed in range(40) for each in play(tmp_path / str(seed), seed, "moved")}
    assert seen == {"insert", "insert by an upsert", "move", "move of a known key", "refused move", "conflict", "death"}


@pytest.mark.nightly
@pytest.mark.parametrize("inserts", INSERTS)
def test_a_key_is_inserted_once_in_a_thousand_programs(inserts: str, tmp_path: Path) -> None:
    for seed in range(1000):
        play(tmp_path / str(seed), seed, inserts)
