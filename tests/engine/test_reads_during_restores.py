"""Reads in whose midst a restore is planned and run: the state before it, or after it, or a typed error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from nbcc import Table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.errors import BadInput, Cleaned
from nbcc.engine.storage import Entry
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.heartbeats import Died
from tests.builders.tables import batch, make_table, state

from .hooked import Hooked, during


def written(folder: Path) -> tuple[Table, list[str]]:
    """A write with a savepoint, two writes after it; when they completed."""
    table = make_table(folder)
    times = []
    for number in (1, 2, 3):
        times.append(table.upsert(batch((f"k{number}", 1, str(number)))).completed or "")
        if number == 1:
            table.savepoint()
    return table, times


@dataclass
class CrashesLater(Hooked):
    """A storage whose actor dies once it has deleted two times: the files of an instant, and its states."""

    deleted: int = 0

    def delete_all(self, paths: Sequence[str]) -> None:
        if self.deleted == 2:
            raise Died
        self.deleted += 1
        self.inner.delete_all(paths)


@dataclass
class Lists(Hooked):
    """A storage whose listing number `late` of the timeline begins before a restore is planned, and shows nothing of
    what the restore takes off meanwhile, nor its plan."""

    late: int = 0
    listed: int = 0

    def list(self, prefix: str) -> list[Entry]:
        before = self.inner.list(prefix)
        self.listed += prefix.rstrip("/") == FOLDER
        if self.listed != self.late or self.meanwhile is None:
            return before
        happens, self.meanwhile = self.meanwhile, None
        happens()
        after = {entry.path for entry in self.inner.list(prefix)}
        return [entry for entry in before if entry.path in after]


def actor(table: Table, storage: Hooked) -> Table:
    context = table.context
    return Table(replace(context, storage=storage, jobs=InProcessJobs(storage, context.names)), table.config)


def restored_by_half(table: Table) -> None:
    with pytest.raises(Died):
        actor(table, CrashesLater(table.context.storage)).restore()


def test_a_snapshot_that_misses_what_it_has_seen_lists_once_more(tmp_path: Path) -> None:
    table, (pinned, *_) = written(tmp_path)
    pinned_state = state(table.as_of(pinned))
    reader = actor(table, Lists(table.context.storage, meanwhile=lambda: restored_by_half(table), late=2))

    assert state(reader.snapshot()) == pinned_state == state(table.snapshot())


def test_an_as_of_read_that_misses_what_it_has_seen_lists_once_more(tmp_path: Path) -> None:
    table, (_, _, last) = written(tmp_path)
    reader = actor(table, Lists(table.context.storage, meanwhile=lambda: restored_by_half(table), late=2))

    with pytest.raises(Cleaned, match="has undone what completed after"):
        reader.as_of(last)


@pytest.mark.parametrize("read", ["snapshot", "incremental", "changes"])
def test_a_read_whose_commit_is_taken_away_says_which_restore_did_it(tmp_path: Path, read: str) -> None:
    table, (*_, last) = written(tmp_path)
    given = () if read == "snapshot" else ("0",)

    with pytest.raises(Cleaned, match=f"the restore .* has undone the instant .*{last[:8]}"):
        getattr(during(table, f"_{last}.deltacommit", table.restore, on="get"), read)(*given)


def test_a_read_whose_pending_plan_is_taken_away_says_so_too(tmp_path: Path) -> None:
    table, _ = written(tmp_path)
    assert table.run("schedule_compaction") is not None

    with pytest.raises(Cleaned, match="read again, at a newer time"):
        during(table, "compaction.requested", table.restore, on="get").snapshot()


def test_a_consumer_behind_a_restore_gets_an_error(tmp_path: Path) -> None:
    table, (pinned, second, _) = written(tmp_path)
    planned = table.run("schedule_restore")

    with pytest.raises(Cleaned, match=f"{planned.requested} has undone what completed after {pinned}"):
        table.incremental(second)
    assert state(table.incremental(pinned)) == set()
    assert state(table.incremental(planned.requested)) == set()
    with pytest.raises(BadInput):
        table.incremental("99991231235959999", "0")
