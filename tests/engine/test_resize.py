"""Resizes: what is refused, what survives a death of the runner, and what the files of a resized table are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from nbcc import Table
from nbcc.engine.actions.run_resize import ROUNDS
from nbcc.engine.config.properties import encode_properties
from nbcc.engine.config.table_config import RESIZED
from nbcc.engine.definition.load import PROPERTIES, load_properties, open_table
from nbcc.engine.errors import BadInput, Conflict, Unsupported
from nbcc.engine.lock import InProcessLock
from nbcc.engine.writes.mapping import pending_resize
from nbcc.simulator.audit.validate import validate
from nbcc.simulator.cli.main import nbcc
from tests.builders.heartbeats import Died
from tests.builders.tables import SCHEMA, make_table, state, table_of, with_value

from .hooked import Hooked, _with, during

ROWS = [(f"k{number}", "p", 1, "old") for number in range(12)]


def rows(*keys: str, value: str = "new", ts: int = 2, part: str = "p") -> pa.Table:
    return table_of(SCHEMA, *((key, part, ts, value) for key in keys))


def made(folder: Path, buckets: int = 2, **changes: Any) -> Table:
    table = make_table(folder / "t", buckets=buckets, **changes)
    table.upsert(table_of(SCHEMA, *ROWS))
    return table


def groups(table: Table) -> set[str]:
    return {piece.file_id for piece in table.file_slices()}


def test_file_ids_state_the_generation_and_every_group_has_a_base_file(tmp_path: Path) -> None:
    table = made(tmp_path)
    before = state(table.snapshot())
    done = table.resize(5)
    assert done is not None
    assert done.action == "replacecommit"
    assert groups(table) == {f"{n:08d}-0001-0000-0000-000000000005-0" for n in range(5)}
    assert all(piece.base for piece in table.file_slices())
    assert state(table.snapshot()) == before
    assert table.resize(5) is None, "the table has this number already"
    assert state(table.as_of(table.timeline()[0])) == before
    assert len(groups(table)) == 5
    assert validate(table.context.storage).diagnostics == (), "nbcc validate finds no fault"


def test_a_log_that_completes_late_is_copied(tmp_path: Path) -> None:
    """In a partition that the plan does not know, too: there each new file group gets a base file as well."""
    table = made(tmp_path)
    late = lambda: [table.upsert(rows("k1", "n1")), table.upsert(rows("n2", part="q"))]  # noqa: E731
    during(table, ".parquet", late).resize(4)
    assert with_value(table, "new") == {"k1", "n1", "n2"}
    assert len(groups(table)) == 4
    assert sum(piece.partition == "part=q" for piece in table.file_slices()) == 4
    assert validate(table.context.storage).diagnostics == ()


def test_a_resize_completes_although_a_write_completes_in_every_round(tmp_path: Path) -> None:
    """After so many rounds it copies under the lock, where the next writer waits."""
    table = made(tmp_path)
    written = [0]

    class Busy(Hooked):
        def _reached(self, verb: str, path: str) -> None:
            super()._reached(verb, path)
            lock = table.context.lock
            assert isinstance(lock, InProcessLock)
            if verb == "put" and "-0001-" in path and path.startswith("part=") and lock.try_acquire():
                lock.release()
                written[0] += 1
                table.upsert(rows(f"n{written[0]}", ts=written[0]))

    busy = Table(_with(table.context, Busy(table.context.storage)), table.config)
    busy.resize(3)
    assert written[0] >= ROUNDS
    assert with_value(table, "new") == {f"n{number + 1}" for number in range(written[0])}


def test_a_late_delete_is_copied(tmp_path: Path) -> None:
    table = made(tmp_path)
    delete = lambda: table.delete(table_of(SCHEMA.remove(3), ("k1", "p", 5)))  # noqa: E731
    during(table, ".parquet", delete).resize(4)
    table.upsert(rows("k1", ts=4))
    table.compact()
    assert "k1" not in {key for key, _, _ in state(table.snapshot())}, "the delete outranks the later update"


def test_a_writer_that_began_before_the_resize_moves_its_logs(tmp_path: Path) -> None:
    table = made(tmp_path)
    written = during(table, ".log.", lambda: table.resize(8)).upsert(rows("k1", "k2", "n1"))
    assert with_value(table, "new") == {"k1", "k2", "n1"}
    commit = table.context.commits.commit(written)
    assert {stat.file_id[9:13] for stat in commit.stats} == {"0001"}
    listed = {stat.path for stat in commit.stats}
    there = {entry.path for entry in table.context.storage.list("part=p") if written.requested in entry.path}
    assert there == listed, "its files in the replaced groups are deleted"
    window = table.incremental(after=table.timeline()[0])
    assert {row["id"] for row in window.to_pylist()} == {"k1", "k2", "n1"}


def test_a_writer_moves_its_logs_again_after_a_second_resize(tmp_path: Path) -> None:
    table = made(tmp_path)
    second = during(table, "-0001-", lambda: table.resize(3))
    during(second, "-0000-0000-0000-000000000000-0_", lambda: table.resize(4)).upsert(rows("k1", "k2"))
    assert with_value(table, "new") == {"k1", "k2"}
    assert {name[9:13] for name in groups(table)} == {"0002"}


def test_a_bulk_insert_that_began_before_the_resize_moves_its_base_files(tmp_path: Path) -> None:
    table = made(tmp_path)
    during(table, ".parquet", lambda: table.resize(4)).bulk_insert(rows("b1", "b2", part="q"))
    assert with_value(table, "new") == {"b1", "b2"}


def test_two_optimistic_writers_conflict_across_a_resize(tmp_path: Path) -> None:
    """Bucket 1 of 2 and bucket 3 of 4 share keys; bucket 0 of 2 and bucket 3 of 4 share none."""
    table = made(tmp_path, concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL")

    def others() -> None:
        table.upsert(rows("k1"))
        table.resize(4)

    with pytest.raises(Conflict, match="has written bucket"):
        during(table, ".log.", others).upsert(rows("k1", ts=3))
    during(table, ".log.", lambda: table.resize(2)).upsert(rows("k2", ts=3))
    assert with_value(table, "new") == {"k1", "k2"}


def test_a_writer_that_checks_before_the_lock_moves_its_logs_under_the_lock(tmp_path: Path) -> None:
    table = made(tmp_path, concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL")
    before_lock = replace(table.context, rules=replace(table.context.rules, conflict_check="before_lock"))
    acquired: list[str] = []

    class Slow:
        """The lock of a writer that waits for it, at its publication, while a resize completes."""

        release = staticmethod(before_lock.lock.release)

        def acquire(self) -> None:
            acquired.append("")
            if len(acquired) == 2:
                table.resize(4)
            before_lock.lock.acquire()

    Table(replace(before_lock, lock=Slow()), table.config).upsert(rows("k1", "k2"))
    assert with_value(table, "new") == {"k1", "k2"}
    assert {name[9:13] for name in groups(table)} == {"0001"}


def test_a_resize_is_cancelled_and_another_follows(tmp_path: Path) -> None:
    table = made(tmp_path)
    planned = table.run("schedule_resize", buckets=4)
    with pytest.raises(Conflict, match=f"the resize {planned.requested} to 4 buckets is pending"):
        table.resize(8)
    assert table.compact() is None, "no compaction is planned while a resize is pending"
    with pytest.raises(Conflict, match="is pending, which copies the rows"):
        table.insert_overwrite(rows("k1"))
    cancelled = table.cancel_resize()
    assert cancelled is not None
    assert cancelled.requested == planned.requested
    assert table.cancel_resize() is None
    table.upsert(rows("k1"))
    table.resize(8)
    assert with_value(table, "new") == {"k1"}
    assert len(groups(table)) == 8


def test_a_runner_of_a_cancelled_resize_is_refused(tmp_path: Path) -> None:
    table = made(tmp_path)
    with pytest.raises(Conflict):
        during(table, "-0001-", table.cancel_resize).resize(4)
    assert pending_resize(table.context, table.context.active()) is None
    assert len(groups(table)) == 2
    assert not [entry for entry in table.context.storage.list("") if "-0001-" in entry.path]


def test_replaced_groups_are_cleaned_and_then_archived(tmp_path: Path) -> None:
    table = made(tmp_path)
    early = Table(replace(table.context, own_commits=None), table.config)
    early.upsert(rows("k4"))
    done = table.resize(4)
    for number in range(4):
        table.upsert(rows("k1", value=f"v{number}", ts=number + 3))
        table.compact()
    table.archive(retained=1)
    assert done in table.context.active().completed, "its replaced file groups have files"
    table.clean(retained=1)
    assert not [entry for entry in table.context.storage.list("part=p") if "-0000-0000-0000-000000000000" in entry.path]
    table.archive(retained=1)
    assert done not in table.context.active().completed
    again = Table(replace(table.context, own_commits=None), open_table(table.context.storage))
    again.upsert(rows("k2", value="last"))
    stale = Table(replace(table.context, own_commits=None), replace(table.config, writer_features=frozenset()))
    stale.upsert(rows("k3", value="last"))
    early.upsert(rows("k4", value="last"))
    assert with_value(table, "last") == {"k2", "k3", "k4"}
    assert len(groups(table)) == 4
    assert validate(table.context.storage).diagnostics == ()


def test_a_restore_to_before_a_resize_brings_the_old_groups_back(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.savepoint()
    table.resize(4)
    table.upsert(rows("k1"))
    table.clean(retained=1)
    table.restore()
    assert state(table.snapshot()) == {(key, ts, value) for key, _, ts, value in ROWS}
    table.upsert(rows("k2"))
    assert len(groups(table)) == 2
    table.resize(3)
    assert with_value(table, "new") == {"k2"}


class Dying(Hooked):
    """The process dies after a number of calls that change the table; `calls` counts all that were made."""

    limit = 10**9

    def _reached(self, verb: str, path: str) -> None:
        super()._reached(verb, path)
        if verb == "put":
            self._die()

    def delete(self, path: str) -> None:
        self._die()
        super().delete(path)

    def _die(self) -> None:
        self.limit -= 1
        if self.limit < 0:
            raise Died


def test_a_resize_and_a_spanning_writer_may_die_at_every_call(tmp_path: Path) -> None:
    """After each death another process completes or cancels the resize, and no acknowledged row is lost."""
    for actor in ("resizer", "writer", "canceller"):
        number = 0
        while _dies(tmp_path / f"{actor}{number}", actor, number):
            number += 1
        assert number > 5


def _dies(folder: Path, actor: str, number: int) -> bool:
    table = made(folder)
    storage = Dying(table.context.storage)
    storage.limit = number
    mortal = Table(_with(table.context, storage), table.config)
    acknowledged = {"k1"}
    actions: dict[str, Callable[[], Any]] = {
        "resizer": lambda: during(mortal, ".parquet", lambda: table.upsert(rows("k1"))).resize(4),
        "writer": lambda: during(mortal, ".log.", lambda: table.resize(4)).upsert(rows("k2")),
        "canceller": mortal.cancel_resize,
    }
    if actor != "resizer":
        table.upsert(rows("k1"))
    if actor == "canceller":
        runner = Dying(table.context.storage)
        runner.limit = 8
        with pytest.raises(Died):
            Table(_with(table.context, runner), table.config).resize(4)
        assert validate(table.context.storage).diagnostics == (), "validate accepts a pending resize"
    died = False
    try:
        actions[actor]()
        acknowledged |= {"k2"} if actor == "writer" else set()
    except Died:
        died = True
    if actor == "resizer" and not with_value(table, "new"):
        acknowledged = set()
    assert acknowledged <= with_value(table, "new") <= {"k1", "k2"}
    again = Table(replace(table.context, own_commits=None, rules=replace(table.context.rules, failed_writes="eager")),
                  open_table(table.context.storage))  # fmt: skip
    again.rollback()
    again.resize() if number % 2 else again.cancel_resize()
    again.resize(8)
    assert acknowledged <= with_value(again, "new") <= {"k1", "k2"}
    assert len(state(again.snapshot())) == len(ROWS)
    assert pending_resize(again.context, again.context.active()) is None
    return died


REFUSED: dict[str, tuple[dict[str, Any], Any, str]] = {
    "copy on write": (
        {"table_type": "COPY_ON_WRITE", "concurrency_mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}, 4,
        "Asked to resize the table to 4 buckets, but it is COPY_ON_WRITE, where a write replaces base files: copy it "
        "(Table.copy).",
    ),
    "a decision log": (
        {"options": {"nbcc.decision": "log"}}, 4,
        "Asked to resize the table to 4 buckets, but its nbcc.decision is log, and only writers under the lock look "
        "for other file groups: convert it to nbcc.decision=lock (Table.convert), and resize it then.",
    ),
    "no bucket": (
        {}, 0,
        "Asked to resize the table to 0 buckets, but a partition has at least one bucket: give a whole number from 1 "
        "to 99999999.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_supported_is_refused_by_name(case: str, tmp_path: Path) -> None:
    options, buckets, message = REFUSED[case]
    table = made(tmp_path, **options)
    with pytest.raises((BadInput, Unsupported)) as refused:
        table.resize(buckets)
    assert str(refused.value) == message


def test_older_releases_refuse_a_resized_table(tmp_path: Path) -> None:
    table = made(tmp_path)
    assert RESIZED not in open_table(table.context.storage).writer_features
    table.run("schedule_resize", buckets=4)
    values = load_properties(table.context.storage)
    assert all(RESIZED in values[f"nbcc.{who}.features"] for who in ("reader", "writer"))
    table.context.storage.put(PROPERTIES, encode_properties({**values, "nbcc.reader.features": "unheard-of"}))
    with pytest.raises(Unsupported, match="unheard-of"):
        open_table(table.context.storage)


def test_the_command_resizes_resumes_and_cancels(tmp_path: Path) -> None:
    table = made(tmp_path)

    def run(*words: str) -> str:
        result = CliRunner().invoke(nbcc, ["table", str(tmp_path / "t"), "resize", *words])
        assert result.exit_code == 0, result.output
        return str(result.output)

    assert "no resize is pending" in run()
    assert "would write 3 file groups in place of 2" in run("--buckets", "3", "--dry-run")
    assert "each partition has 2 buckets already" in run("--buckets", "2")
    table.run("schedule_resize", buckets=4)
    assert "cancelled" in run("--cancel")
    assert "wrote 3 file groups in place of 2" in run("--buckets", "3")
    assert len(groups(table)) == 3
