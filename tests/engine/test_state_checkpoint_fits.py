"""State checkpoints that do not fit the timeline are ignored and named, and services put checkpoints that are due."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc import MaintenancePolicy, Table
from nbcc.engine import open_table
from nbcc.engine.actions import archive
from nbcc.engine.actions.maintain import serve_writer
from nbcc.engine.audit import gather
from nbcc.engine.repair import retime, retiming
from nbcc.engine.timeline.state_checkpoint import (
    FOLDER,
    KEPT,
    WRITES_BETWEEN,
    StateCheckpoint,
    checkpoint_paths,
    newest_checkpoint,
    put_checkpoint,
)
from nbcc.engine.timeline.timeline import FOLDER as TIMELINE
from tests.builders.state_checkpoints import COPIES, answer, answers, checkpoint, cold, used, without_checkpoints
from tests.builders.tables import TickClock, batch, context, make_table, state, tick

from .hooked import during


class Later(TickClock):
    """A clock that begins at `tick(after)`, and can leap forward."""

    def __init__(self, after: int) -> None:
        self.now = after

    def leap(self, milliseconds: int) -> None:
        self.now += milliseconds


IGNORED = r"the state checkpoint \d{17} of .* is ignored, because "


def put_as(table: Table, found: StateCheckpoint) -> None:
    """Replace all checkpoints of a table by one."""
    storage = table.context.storage
    storage.delete_all(checkpoint_paths(storage))
    put_checkpoint(storage, found)


def newest(table: Table) -> StateCheckpoint:
    found = newest_checkpoint(table.context.storage)
    assert found is not None
    return found


def remove_newest_write(table: Table) -> None:
    [*_, last] = (instant for instant in table.timeline() if instant.writes)
    for state_of in ("completed", "inflight", "requested"):
        table.context.storage.delete(f"{TIMELINE}/{replace(last, state=state_of).file_name}")


def remove_and_write(table: Table) -> None:
    remove_newest_write(table)
    table.upsert(batch(("k5", 5, "after the removal")))


def checkpoint_of_another_table(table: Table) -> None:
    other = make_table(Path(table.context.storage.url.removeprefix("file://")).parent / "other")
    for number in range(4):
        other.upsert(batch(("k1", number, "other")))
    checkpoint(other)
    put_as(table, newest(other))


def checkpoint_of_a_copy(table: Table) -> None:
    folder = Path(table.context.storage.url.removeprefix("file://"))
    copy = shutil.copytree(folder, folder.parent / "copy")
    went_on = open_table(context(copy, Later(50)))
    went_on.upsert(batch(("k1", 9, "only in the copy")))
    checkpoint(went_on)
    put_as(table, newest(went_on))


MISFITS: dict[str, tuple[Callable[[Table], None], str]] = {
    "removed": (remove_newest_write, "no instant has completed at its time or later; the newest completed at"),
    "removed before": (remove_and_write, "it summarises the deltacommit .* is not on the timeline"),
    "another table": (checkpoint_of_another_table, "it summarises the deltacommit .* is not on the timeline"),
    "copy": (checkpoint_of_a_copy, "no instant has completed at its time or later"),
    "future": (lambda t: put_as(t, replace(newest(t), time="9" * 17)), "no instant has completed at its time or later"),
    "no rows": (lambda t: put_as(t, replace(newest(t), rows=())), "it omits the deltacommit"),
    "a write less": (lambda t: put_as(t, replace(newest(t), rows=newest(t).rows[1:])), "it omits the deltacommit"),
    "archive": (lambda t: put_as(t, replace(newest(t), archived=newest(t).time)), "the archive ends before"),
}


@pytest.mark.parametrize("name", list(MISFITS))
def test_a_checkpoint_that_does_not_fit_is_ignored_named_and_replaced(name: str, tmp_path: Path) -> None:
    change, because = MISFITS[name]
    table = make_table(tmp_path / "t", clock=Later(20))
    for number in range(3):
        table.upsert(batch((f"k{number}", number, "a")))
    checkpoint(table)
    change(table)
    times = [instant for instant in table.timeline() if instant.writes]
    expected = without_checkpoints(table, times)
    with pytest.warns(UserWarning, match=IGNORED + because):
        assert answer(table, Table.snapshot) == expected[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert answers(table, times) == expected
        table.upsert(batch(("k9", 9, "acknowledged")))
        assert ("k9", 9, "acknowledged") in state(cold(table).snapshot())
        made = checkpoint(cold(table))
    assert [path.rpartition("/")[2][:17] for path in checkpoint_paths(table.context.storage)] == [made]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ("k9", 9, "acknowledged") in state(cold(table).snapshot())


def test_a_timeline_from_a_backup_is_read_without_newer_checkpoints(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(batch(("k1", 1, "a")))
    shutil.copytree(tmp_path / "t" / TIMELINE, tmp_path / "backup")
    table.upsert(batch(("k2", 1, "b")))
    checkpoint(table)
    shutil.rmtree(tmp_path / "t" / TIMELINE)
    shutil.copytree(tmp_path / "backup", tmp_path / "t" / TIMELINE)
    with pytest.warns(UserWarning, match=IGNORED):
        assert answer(table, Table.snapshot) == {("k1", 1, "a")}


def test_instants_that_were_archived_after_the_checkpoint_do_not_make_it_unfit(tmp_path: Path) -> None:
    table = make_table(tmp_path, **COPIES)
    for number in range(6):
        table.upsert(batch((f"k{number}", number, "x")))
    table.archive(retained=3)
    checkpoint(table)
    for number in range(6):
        table.upsert(batch((f"k{number}", number, "y")))
    archive.run(cold(table).context, table.config, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert any(FOLDER in call for call in used(table))
        assert len(cold(table).snapshot()) == 6


# Services.


def test_a_correction_of_times_deletes_the_checkpoints(tmp_path: Path) -> None:
    """A checkpoint lists the time that is corrected."""
    clock = Later(0)
    table = make_table(tmp_path, clock=clock)
    table.upsert(batch(("k", 1, "a")))
    late = during(table, ".log.", lambda: clock.leap(3_600_000)).upsert(batch(("k", 2, "b")))
    checkpoint(table)
    storage = table.context.storage
    change = retiming(gather(storage), late.requested, tick(90))
    assert change.checkpoints == tuple(checkpoint_paths(storage))
    retime(storage, change)
    assert checkpoint_paths(storage) == []
    assert state(cold(table).snapshot()) == {("k", 2, "b")}


def maintained(folder: Path, commits: int) -> Table:
    table = make_table(folder)
    policy = MaintenancePolicy(compact_commits=5, clean_retained=3, archive_least=5, archive_most=10, collect=False)
    for number in range(commits):
        table.upsert(batch((f"k{number % 7}", number, "x")))
        if number % 5 == 4:
            table.maintain(policy)
    return table


def test_a_maintained_table_has_checkpoints_and_a_first_snapshot_reads_few_objects(tmp_path: Path) -> None:
    short, long = (maintained(tmp_path / f"{commits}", commits) for commits in (60, 300))
    assert len(checkpoint_paths(long.context.storage)) == KEPT
    read = used(long)
    assert any(FOLDER in call for call in read)
    assert len(read) <= len(used(short)) <= 25
    times = [instant for instant in long.timeline() if instant.writes][-3:]
    assert answers(long, times) == without_checkpoints(long, times)


def test_maintenance_says_when_a_checkpoint_is_due(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for number in range(WRITES_BETWEEN):
        table.upsert(batch(("k", number, "x")))
    policy = MaintenancePolicy(compaction="off", clean=False, archive=False)
    planned = [step for step in table.maintain(policy, dry_run=True) if step.service == "checkpoint"]
    assert [(step.did, step.because) for step in planned] == [("would put", {"commits": WRITES_BETWEEN})]
    assert checkpoint_paths(table.context.storage) == []
    assert [step.did for step in table.maintain(policy) if step.service == "checkpoint"] == ["put"]
    assert [step.did for step in table.maintain(policy) if step.service == "checkpoint"] == []
    table.context.storage.delete_all(checkpoint_paths(table.context.storage))
    serve_writer(table.context, table.config, policy)
    assert len(checkpoint_paths(table.context.storage)) == 1, "also by a writer's services"
