"""Resizes as a service: a pass resumes one that a killed process has left, and plans one by bytes per bucket."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc import Table
from nbcc.engine.config.maintenance import LEAST_RESIZE_BYTES, MaintenancePolicy
from nbcc.engine.errors import BadInput, Unsupported
from nbcc.engine.writes.mapping import pending_resize
from nbcc.simulator.cli.main import run
from tests.builders.tables import SCHEMA, make_table, state, table_of

ALONE = MaintenancePolicy(rollback=False, compaction="off", clean=False, archive=False, collect=False)

KILLED = """
import os, signal, sys
from nbcc import Table
from tests.engine.hooked import during

def die():
    os.kill(os.getpid(), signal.SIGKILL)

table = Table.open(None, sys.argv[1])
during(table, sys.argv[2], die).resize(5)
"""
"""A program whose process kills itself before the first put of a path that contains its second argument."""


def made(folder: Path, count: int = 12, size: int = 1, **changes: Any) -> Table:
    table = make_table(folder / "t", buckets=2, **changes)
    rows = ((f"k{number}", "p", 1, secrets.token_hex(size)) for number in range(count))
    table.upsert(table_of(SCHEMA, *rows))
    return table


@pytest.mark.parametrize("moment", [".clustering.inflight", ".parquet", ".replacecommit"])
def test_a_daemon_completes_the_resize_of_a_killed_process(
    moment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = made(tmp_path)
    before = state(table.snapshot())
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "t"), moment], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert pending_resize(table.context, table.context.active())
    assert table.compact() is None
    assert run(["serve", str(tmp_path / "t"), "--once", "--without", "resize"]) == 0
    assert "resize" not in capsys.readouterr().out
    assert run(["serve", str(tmp_path / "t"), "--once", "--dry-run"]) == 0
    assert "would run, 5 buckets (because 1 pending)" in capsys.readouterr().out
    assert pending_resize(table.context, table.context.active())
    assert run(["serve", str(tmp_path / "t"), "--once"]) == 0
    assert "ran, 5 buckets (because 1 pending)" in capsys.readouterr().out
    assert pending_resize(table.context, table.context.active()) is None
    assert state(table.snapshot()) == before
    assert len({piece.file_id for piece in table.file_slices()}) == 5


def test_a_pass_doubles_the_buckets_until_they_have_fewer_bytes(tmp_path: Path) -> None:
    table = made(tmp_path, count=10, size=LEAST_RESIZE_BYTES // 4)  # 5 MB in 2 buckets
    before = state(table.snapshot())
    policy = replace(ALONE, resize_bytes=LEAST_RESIZE_BYTES)
    assert [step.service for step in table.maintain(policy)] == ["state"], "its rows are in logs"
    table.compact()
    assert [step.service for step in table.maintain(ALONE)] == ["state"], "no limit is given"
    [planned, _] = table.maintain(replace(policy, resize="plan"))
    assert (planned.service, planned.did, planned.counts) == ("resize", "planned", {"buckets": 8})
    assert planned.because["bytes_per_bucket"] > LEAST_RESIZE_BYTES
    [ran, _] = table.maintain(policy)
    assert (ran.service, ran.did, dict(ran.because)) == ("resize", "ran", {"pending": 1})
    assert [step.service for step in table.maintain(policy)] == ["state"], "each bucket has fewer bytes now"
    assert len({piece.file_id for piece in table.file_slices()}) == 8
    assert state(table.snapshot()) == before


def test_a_limit_that_no_resize_can_meet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"the footers of base files count: give at least {LEAST_RESIZE_BYTES}"):
        MaintenancePolicy(resize_bytes=LEAST_RESIZE_BYTES - 1)
    table = made(tmp_path, options={"nbcc.decision": "log"})
    with pytest.raises(Unsupported, match="when a bucket has more than 1048576 bytes, but its nbcc"):
        table.maintain(replace(ALONE, resize_bytes=LEAST_RESIZE_BYTES))
    assert [step.service for step in table.maintain(ALONE)] == ["state"]


def test_a_clean_deletes_the_old_slices_of_groups_that_were_replaced_after_its_horizon(tmp_path: Path) -> None:
    """Such a clean is planned by the files of listed groups, among which the replaced ones are not any more."""
    table = made(tmp_path)
    table.compact()
    first = {path for path in files_of(table) if ".log." in path}
    table.upsert(table_of(SCHEMA, *((f"k{number}", "p", 2, "later") for number in range(12))))
    at = table.timeline()[-1]
    before, newest = state(table.snapshot()), files_of(table) - first
    table.resize(4)
    assert first
    assert first < files_of(table)
    assert table.clean(retained=1) is not None, "the horizon is the last write, before the resize"
    assert files_of(table) >= newest
    assert not files_of(table) & first, "a base file that was complete at the horizon has their rows"
    assert state(table.as_of(at)) == state(table.snapshot()) == before
    assert table.clean(retained=1) is None, "no file is planned to be deleted twice"
    table.upsert(table_of(SCHEMA, ("k1", "p", 3, "last")))
    assert table.clean(retained=1) is not None
    assert not files_of(table) & newest, "no read opens the replaced groups any more"


def files_of(table: Table) -> set[str]:
    """The data files of a table."""
    return {entry.path for entry in table.context.storage.list("part=p") if "partition_metadata" not in entry.path}
