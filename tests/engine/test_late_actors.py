"""Late actors: a file after a rollback, and a compactor whose plan another has completed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.audit import gather
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.data.tasks import AnyCompaction, WrittenFile
from nbcc.engine.errors import Conflict, Missing
from nbcc.engine.file_names import LogName, marker
from nbcc.engine.names import bucket_file_id
from nbcc.engine.repair.orphans import orphan_files
from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant
from nbcc.engine.writes.commit_protocol import request
from nbcc.model import Protocol
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory
from tests.builders.tables import batch, make_table

from .free_tables import eager

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


def test_a_file_that_lands_after_the_rollback_is_an_orphan_that_no_read_sees(tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1)
    table.upsert(pa.table({"id": ["a"], "ts": [1]}, SCHEMA))
    requested, _ = request(table.context, "deltacommit")
    assert len(eager(table).rollback()) == 1

    late = str(LogName(bucket_file_id(0), requested, 1, "0-7-7"))
    table.context.storage.put(marker(requested, "", late), b"")
    table.context.storage.put(late, b"#HUDI#")  # torn, as its task was killed

    assert len(table.snapshot()) == 1
    assert table.compact() is None or len(table.snapshot()) == 1
    assert [orphan.path for orphan in orphan_files(gather(table.context.storage))] == [late]
    table.upsert(pa.table({"id": ["b"], "ts": [1]}, SCHEMA))
    assert len(table.snapshot()) == 2


@pytest.mark.parametrize("decision", ["lock", "log"])
def test_engine_and_model_agree_where_files_land_late(decision: str) -> None:
    protocol = Protocol.from_mapping({"decision": decision})
    world = specs.world("late_files")
    report = run(CheckOptions(factory("engine"), protocol=protocol, world=world, readers=()), examples=12, seed=5)
    assert report.disagreement is None, report.text


class Overtaken(InProcessJobs):
    """Jobs of the slower compactor: before its last task reads, another completes the plan and cleans."""

    table: Table
    faster: Instant | None = None
    kind = "base"

    def compact(self, tasks: Sequence[AnyCompaction]) -> list[WrittenFile]:
        files = super().compact(tasks[:-1])
        run = self.table.run_log_compaction if self.kind == "log" else self.table.run_compaction
        self.faster = run()
        for key in ("y", "z"):
            self.table.upsert(batch((key, 9, "z")))
            self.table.compact()
        assert self.table.clean(retained=1)
        return files + super().compact(tasks[-1:])


def slower(table: Table, kind: str = "base") -> tuple[Table, Overtaken]:
    jobs = Overtaken(table.context.storage, table.context.names)
    jobs.table, jobs.kind = table, kind
    return Table(replace(table.context, jobs=jobs), table.config), jobs


class Undone(InProcessJobs):
    """Jobs of a compactor: before they read, a restore undoes the plan and a write that the plan takes."""

    table: Table

    def compact(self, tasks: Sequence[AnyCompaction]) -> list[WrittenFile]:
        assert self.table.restore()
        return super().compact(tasks)


def test_a_compactor_whose_plan_a_restore_has_undone_is_refused_in_words(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    table.savepoint()
    table.upsert(batch(("b", 1, "x")))
    plan = table.schedule_compaction()
    jobs = Undone(table.context.storage, table.context.names)
    jobs.table = table
    with pytest.raises(Conflict, match="a restore has undone it"):
        Table(replace(table.context, jobs=jobs), table.config).run_compaction(plan)


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("kind", ["base", "log"])
def test_it_returns_the_instant_of_the_faster_one_and_leaves_no_file(kind: str, archived: bool, tmp_path: Path) -> None:
    """It was a bare NotFound."""
    table = make_table(tmp_path, buckets=2)
    for number in range(3):
        table.upsert(batch(*((f"k{n}", number, "x") for n in range(8))))
    plan = table.schedule_log_compaction() if kind == "log" else table.schedule_compaction()
    assert plan is not None
    other, jobs = slower(table, kind)
    done = other.run_log_compaction(plan) if kind == "log" else other.run_compaction(plan)
    assert jobs.faster is not None
    assert done == jobs.faster
    files = {path.name for path in (tmp_path / "part=p").iterdir() if plan.requested in path.name}
    listed = {stat.name for stat in table.context.commits.commit(done).stats}
    assert files <= listed, "a file that no commit lists"
    assert not list((tmp_path / ".hoodie/.temp").rglob("*.marker.CREATE"))
    if archived:
        table.archive(retained=1)
        assert (other.run_log_compaction(plan) if kind == "log" else other.run_compaction(plan)) == done


def test_a_file_that_is_missing_for_another_reason_is_an_error(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    plan = table.schedule_compaction()
    next((tmp_path / "part=p").glob(".*log*")).unlink()
    with pytest.raises(Missing):
        table.run_compaction(plan)
    assert [instant.requested for instant in table.timeline() if instant.completed is None] == [plan and plan.requested]
