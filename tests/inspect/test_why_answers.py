"""`nbcc why` answers what `snapshot` and `as_of` answer, for random histories of every mechanism. Of a damaged table,
it gives the answer of the whole table, or names the missing or cut file.
"""

from __future__ import annotations

import random
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine import Context, create_table
from nbcc.engine.actions import operations
from nbcc.engine.audit import Why, inspect, why
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.definition.load import open_table
from nbcc.engine.errors import BadInput, Cleaned, Damaged, NbccError
from nbcc.engine.lock import InProcessLock
from nbcc.engine.names import RandomNames
from nbcc.engine.schema import META_COLUMNS
from nbcc.engine.storage import Storage, open_storage
from nbcc.simulator.lockstep.control.storage import MemoryStorage
from tests.builders.by_day import NIGHTLY
from tests.builders.tables import TickClock
from tools.detection.tables import engine_table

TABLES = Path(__file__).parents[1] / "tables"
SCHEMA = pa.schema([("ts", pa.int64()), *((name, pa.string()) for name in ("id", "part", "a", "b"))])
KEYS = ("k", "l", "m")
NUMBERED: Iterator[int] = count()
Row = dict[str, Any]

FUNCTION = "tests.inspect.test_why_answers:longest"
EVENT: Row = {"ordering_fields": "ts", "merge_mode": "EVENT_TIME_ORDERING", "table_type": "MERGE_ON_READ"}
COMMIT: Row = EVENT | {"ordering_fields": None, "merge_mode": "COMMIT_TIME_ORDERING"}
PARTIAL: Row = {"options": {"nbcc.partial.update.mode": "SET_COLUMNS"}}
KINDS: dict[str, Row] = {
    "event time": EVENT,
    "commit time": COMMIT,
    "partial updates": EVENT | PARTIAL,
    "partial updates by commit time": COMMIT | PARTIAL,
    "merge function": COMMIT | {"options": {"nbcc.merge.function": FUNCTION}},
    "copy on write": EVENT | {"table_type": "COPY_ON_WRITE"},
    "decision log": EVENT | {"options": {"nbcc.decision": "log"}},
}
SERVICES = ("compact", "log_compact", "cluster", "clean", "archive", "savepoint", "restore")
PLANS = ("schedule_compaction", "run_compaction", "schedule_log_compaction", "run_log_compaction")


def longest(one: Row, other: Row) -> Row:
    """The greatest value of each column."""
    values = {name: [row[name] for row in (one, other) if row[name] is not None] for name in one}
    return {name: max(each, default=None) for name, each in values.items()}


@dataclass
class Drawn:
    """A table with a random history. `done` names the operations that it contains."""

    storage: MemoryStorage
    table: Table
    draw: random.Random
    kind: str
    versions: Iterator[int] = field(default_factory=count)
    done: set[str] = field(default_factory=set)

    def batch(self, keys: int = 3) -> pa.Table:
        chosen = self.draw.sample(KEYS, 1 + self.draw.randrange(keys))
        rows = [
            {"id": key, "part": self.draw.choice("pq"), "ts": self.draw.randrange(6), "a": f"a{next(self.versions)}",
             "b": f"b{next(self.versions)}"}
            for key in chosen
        ]  # fmt: skip
        return pa.Table.from_pylist(rows, SCHEMA)

    def step(self) -> None:
        name = self.draw.choices([*self.steps()], [*self.steps().values()])[0]
        batch = self.batch()
        if name == "upsert":
            self._upsert(batch)
        elif name == "delete":
            self.table.delete(
                batch.select([n for n in ("id", "part", "ts") if n != "ts" or self.table.config.ordering])
            )
        elif name in ("bulk_insert", "insert_overwrite"):
            getattr(self.table, name)(batch)
        elif name == "delete_partition":
            self.table.delete_partition([f"part={self.draw.choice('pq')}"])
        else:
            arguments: Row = {"cluster": {"sort_by": ["a"]}, "clean": {"retained": 2}, "archive": {"retained": 2}}
            done = getattr(self.table, name)(**arguments.get(name, {}))
            name = name if done else ""
        self.done.add(name)

    def steps(self) -> dict[str, int]:
        """The operations with their frequencies."""
        writes = {"upsert": 12, "delete": 4, "bulk_insert": 1, "insert_overwrite": 1, "delete_partition": 1}
        return writes | dict.fromkeys(SERVICES, 1) | dict.fromkeys(PLANS, 2)

    def _upsert(self, batch: pa.Table) -> None:
        columns = self.draw.choice((["a"], ["b"], None)) if "partial" in self.kind else None
        if columns is None:
            self.table.upsert(batch)
        else:
            self.table.upsert(batch.drop_columns([name for name in "ab" if name not in columns]), columns=columns)


def drawn(kind: str, seed: int) -> Drawn:
    storage, names = MemoryStorage(), RandomNames()
    lock = InProcessLock(f"why-{next(NUMBERED)}")
    context = Context(storage, lock, TickClock(), names, InProcessJobs(storage, names))
    arguments: Row = {"options": {}, **KINDS[kind]}
    config = table_config(
        "t", SCHEMA, record_key="id", partition_by="part", buckets=1, concurrency_mode=None, **arguments
    )
    found = Drawn(storage, create_table(context, config), random.Random(seed), kind)
    for _ in range(6 + found.draw.randrange(14)):
        with suppress(NbccError):  # a step that the table refuses, such as a bulk insert where a plan has logs
            found.step()
    return found


def answers(storage: Storage, time: str | None = None) -> dict[tuple[str, str], Row]:
    """Each key and partition with the row that the engine reads."""
    config = replace(open_table(storage), allowed_function=FUNCTION)
    nothing: Any = None
    context = Context(storage, nothing, nothing, nothing, InProcessJobs(storage, RandomNames()), config.rules)
    given = {} if time is None else {"time": time}
    rows = operations()["snapshot" if time is None else "as_of"].run(context, config, **given).to_pylist()
    return {(row["_hoodie_record_key"], row["_hoodie_partition_path"]): without_meta(row) for row in rows}


def without_meta(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in META_COLUMNS}


def explained(storage: Storage, key: str, time: str | None = None) -> dict[tuple[str, str], Row]:
    function = open_table(storage).merge_function
    found = why(storage, key, as_of=time, merge_function=function)
    check_lines(found)
    return {(key, group.partition): group.row for group in found.groups if group.row is not None}


def check_lines(found: Why) -> None:
    """The lines agree with the row: a row has sources, and no row has a delete, or nothing."""
    for group in found.groups:
        sources = [line for line in group.lines if line.status == "answers"]
        assert {line.record for line in sources} <= ({"row"} if group.row is not None else {"delete"}), found
        assert sources or group.row is None


def of(rows: dict[tuple[str, str], Row], key: str) -> dict[tuple[str, str], Row]:
    return {place: row for place, row in rows.items() if place[0] == key}


def times_of(storage: Storage) -> list[str]:
    return [i.completed for i in inspect(storage).instants if i.completed and i.action != "savepoint"]


def check_answers(storage: Storage, keys: Any, draw: random.Random) -> None:
    whole = answers(storage)
    for key in keys:
        assert explained(storage, key) == of(whole, key)
    for time in draw.sample(times := times_of(storage), min(2, len(times))):
        try:
            then = answers(storage, time)
        except (BadInput, Cleaned) as refused:
            with pytest.raises(type(refused)):
                explained(storage, keys[0], time)
            continue
        for key in keys:
            assert explained(storage, key, time) == of(then, key), f"as of {time}"


def test_the_answer_is_what_the_engine_reads() -> None:
    done: set[str] = set()
    for kind in KINDS:
        for seed in range(300 if NIGHTLY else 6):
            found = drawn(kind, seed)
            assert not inspect(found.storage).missing_or_cut, f"{kind} {seed}"
            check_answers(found.storage, found.draw.sample(KEYS, 2), found.draw)
            done |= found.done
    assert done >= {*found.steps()}, f"no history has { ({*found.steps()} - done) }"


def test_the_answer_of_interleaved_writers_and_services_is_what_the_engine_reads() -> None:
    for seed in range(400 if NIGHTLY else 8):
        storage = engine_table(seed)
        assert not inspect(storage).missing_or_cut, seed
        try:
            keys = sorted({key for key, _ in answers(storage)})[:2]
        except NbccError:
            continue
        check_answers(storage, [*keys, "none"], random.Random(seed))


def damaged(whole: MemoryStorage, path: str, cut: bool) -> MemoryStorage:
    copy = MemoryStorage()
    copy.objects = dict(whole.objects)
    if cut:
        copy.put(path, copy.objects[path][: len(copy.objects[path]) // 2])
    else:
        copy.delete(path)
    return copy


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_damaged_table_the_answer_is_right_or_the_file_is_named(kind: str) -> None:
    named = 0
    for seed in range(100 if NIGHTLY else 2):
        found = drawn(kind, seed)
        whole = answers(found.storage)
        for path in sorted(path for path in found.storage.objects if not path.startswith(".hoodie")):
            if path.endswith(".hoodie_partition_metadata"):
                continue
            cut = found.draw.random() < 0.5
            storage = damaged(found.storage, path, cut)
            for key in found.draw.sample(KEYS, 1):
                try:
                    assert explained(storage, key) == of(whole, key), f"{kind} {seed}: {path} cut={cut}"
                except Damaged as refused:
                    assert path in str(refused)  # noqa: PT017
                    named += 1
                    assert [fault.path for fault in inspect(storage).missing_or_cut] == [path]
    assert named


@pytest.mark.parametrize("name", ["hudi120_00_mor_event_b4_avro", "hudi120_05_cow_event_b2_parquet"])
def test_of_a_damaged_table_of_hudi_the_answer_is_right_or_the_file_is_named(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(TABLES / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    whole = answers(open_storage(tmp_path / name))
    keys = sorted({key for key, _ in whole})[:2]
    assert not inspect(open_storage(tmp_path / name)).missing_or_cut
    files = [path for path in (tmp_path / name).rglob("*") if ".log." in path.name or path.suffix == ".parquet"]
    named = 0
    for file in (path for path in files if ".hoodie" not in path.parts and not path.name.endswith(".crc")):
        shutil.move(file, tmp_path / "moved")
        storage = open_storage(tmp_path / name)
        relative = str(file.relative_to(tmp_path / name))
        for key in keys:
            try:
                assert explained(storage, key) == of(whole, key), relative
            except Damaged as refused:
                assert relative in str(refused)  # noqa: PT017
                assert relative in [fault.path for fault in inspect(storage).missing_or_cut]
                named += 1
        shutil.move(tmp_path / "moved", file)
    assert named
