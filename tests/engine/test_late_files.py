"""Late files: readers ignore a file that a dead writer's task puts after the rollback, and `orphans` finds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.audit import gather
from nbcc.engine.file_names import LogName, marker
from nbcc.engine.names import bucket_file_id
from nbcc.engine.repair.orphans import orphan_files
from nbcc.engine.table import Table
from nbcc.engine.writes.commit_protocol import request
from nbcc.model import Protocol
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


def test_a_file_that_lands_after_the_rollback_is_an_orphan_that_no_read_sees(tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1)
    table.upsert(pa.table({"id": ["a"], "ts": [1]}, SCHEMA))
    requested, _ = request(table.context, "deltacommit")
    eager = Table(replace(table.context, rules=replace(table.context.rules, failed_writes="eager")), table.config)
    assert len(eager.rollback()) == 1

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
