"""Services of other engines on a table of nbcc: inspect reports them, and a replace that they spoil is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbcc import Conflict, Table
from nbcc.engine.audit import inspect
from nbcc.engine.storage import Storage
from nbcc.engine.timeline import (
    CommitMetadata,
    CompactionPlan,
    Instant,
    encode_commit,
    encode_plan,
    load_commit,
    load_plan,
    put_completed,
)
from nbcc.engine.timeline.cleans import CleanPlan, encode_clean, encode_clean_plan
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.text import render
from tests.builders.tables import batch, make_table, state, tick

from .hooked import during

FOLDER = ".hoodie/timeline"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = make_table(tmp_path)
    made.upsert(batch(("k1", 1, "a")))
    return made


def unmarked(storage: Storage, instant: Instant) -> None:
    """As if another engine had completed it."""
    commit = load_commit(storage, instant)
    extra = {name: value for name, value in commit.extra.items() if not name.startswith("nbcc.")}
    storage.put(f"{FOLDER}/{instant.file_name}", encode_commit(replace(commit, extra=extra)))


def diagnostics(table: Table) -> set[tuple[str, str]]:
    found = validate(table.context.storage, now=tick(10_000))
    return {(diagnostic.rule, diagnostic.gravity) for diagnostic in found.diagnostics}


def test_the_groups_of_another_engines_compaction_are_named_until_we_compact(table: Table) -> None:
    storage = table.context.storage
    compacted = table.compact()
    assert compacted is not None
    assert inspect(storage).notices == ()
    unmarked(storage, compacted)
    (message,) = inspect(storage).notices
    assert message == (
        f"Hudi's rules merge 1 file group: the compaction {compacted.requested} of another engine wrote the base files"
    )
    assert ("marks-disagree", "AT RISK") in diagnostics(table)
    table = Table(replace(table.context), table.config)
    table.upsert(batch(("k1", 2, "b")))
    table.compact()
    assert inspect(storage).notices == ()


def test_a_plan_of_another_engines_is_carried_out_in_our_order(table: Table) -> None:
    """It lists logs by request; of two rows that tie ours is the one that completed last."""
    storage = table.context.storage
    early = during(table, ".log.1_", lambda: table.upsert(batch(("k1", 2, "requested last"))))
    early.upsert(batch(("k1", 2, "completed last")))
    planned = table.schedule_compaction()
    assert planned is not None
    plan = load_plan(storage, planned.requested)
    operations = tuple(replace(each, logs=tuple(sorted(each.logs))) for each in plan.operations)
    assert operations != plan.operations
    storage.put(f"{FOLDER}/{planned.file_name}", encode_plan(CompactionPlan(operations)))
    table = Table(replace(table.context), table.config)
    assert state(table.snapshot()) == {("k1", 2, "completed last")}
    table.run_compaction()
    assert table.file_slices()[-1].base is not None
    assert state(table.snapshot()) == {("k1", 2, "completed last")}


def test_another_engines_clean_is_named(table: Table) -> None:
    table.compact()
    last = table.upsert(batch(("k2", 1, "b")))
    storage, ours = table.context.storage, table.clean(retained=1)
    assert ours is not None
    assert inspect(storage).notices == ()
    assert diagnostics(table) == set()
    plan = CleanPlan("KEEP_LATEST_COMMITS", {"part=p": (".a_b.log",)}, last, last.requested, None)
    storage.put(f"{FOLDER}/{ours.requested}.clean.requested", encode_clean_plan(plan, storage.url))
    storage.put(f"{FOLDER}/{ours.file_name}", encode_clean(plan, ours.requested, 1))
    (message,) = inspect(storage).notices
    assert message == f"the clean {ours.requested} of another engine deleted files by its own policy"
    assert ("marks-disagree", "AT RISK") in diagnostics(table)


def test_a_replace_whose_plan_another_engine_completes_is_refused_and_its_files_go(table: Table) -> None:
    storage = table.context.storage

    def compaction_of_nothing() -> None:
        (pending,) = (i for i in table.timeline() if not i.completed)
        assert load_plan(storage, pending.requested).replaces
        put_completed(storage, pending.requested, table.context.clock.take(), "compaction",
                      encode_commit(CommitMetadata((), "COMPACT", compacted=True)))  # fmt: skip

    with pytest.raises(Conflict, match="another engine has taken its plan"):
        during(table, ".parquet", compaction_of_nothing).insert_overwrite(batch(("k2", 1, "new")))
    assert state(table.snapshot()) == {("k1", 1, "a")}


def test_and_one_that_was_completed_so_is_broken(table: Table) -> None:
    storage = table.context.storage
    done = table.insert_overwrite(batch(("k2", 1, "new")))
    storage.put(f"{FOLDER}/{done.file_name}", encode_commit(CommitMetadata((), "COMPACT", compacted=True)))
    assert inspect(storage).notices == (
        f"another engine took the replace {done.requested} for a compaction: it replaced nothing",
    )
    assert ("marks-disagree", "BROKEN") in diagnostics(table)


def test_nothing_is_broken_in_a_table_with_replaces(table: Table) -> None:
    table.compact()
    table.insert_overwrite(batch(("k2", 1, "new")))
    table.upsert(batch(("k1", 1, "again")))
    table.compact()
    table.delete_partition([table.file_slices()[0].partition])
    found = validate(table.context.storage, now=tick(10_000))
    assert found.fine, render(found)
    assert found.history is not None
    assert found.history.groups
    assert not found.history.left_out
