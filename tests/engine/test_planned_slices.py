"""Services of a long-lived process retire old commits, and plan with the same slices as a new process."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.errors import Conflict
from nbcc.engine.files.planned_slices import planned_slices
from nbcc.engine.files.slices import load_slices
from nbcc.engine.lock import held
from nbcc.engine.names import bucket_file_id
from nbcc.engine.timeline import load, put_requested
from nbcc.engine.timeline.commits import Commits
from nbcc.engine.timeline.metadata import CommitMetadata, encode_commit, own_extra
from nbcc.engine.writes.commit_protocol import complete, take_time
from tests.builders.tables import SCHEMA, batch, keys, make_table, table_of


def same_slices(table: Table) -> None:
    """A process that has retired commits plans with the slices that all commits have."""
    context = table.context
    timeline = context.unretired(load(context.storage))
    every = Commits(context.storage)
    expected = load_slices(context.storage, every.whole(load(context.storage)), every, context.rules)
    assert planned_slices(context.storage, timeline, context.commits, context.rules) == expected


@pytest.mark.parametrize("seed", range(3))
def test_retired_commits_change_no_slice(tmp_path: Path, seed: int) -> None:
    chance, table = random.Random(seed), make_table(tmp_path, buckets=2)
    for number in range(80):
        step = chance.random()
        if step < 0.6:
            table.upsert(batch((f"k{chance.randrange(9)}", number, "x"), (f"k{chance.randrange(9)}", number, "x")))
        elif step < 0.65:
            table.delete(keys((f"k{chance.randrange(9)}", number)))
        elif step < 0.68:
            with suppress(Conflict):  # a plan is pending
                table.insert_overwrite(batch((f"k{chance.randrange(9)}", number, "y")))
        elif step < 0.72:
            table.schedule_compaction()
        elif step < 0.77:
            table.log_compact()
        elif step < 0.85:
            table.compact()
        elif step < 0.92:
            table.clean(retained=chance.randint(1, 4))
        else:
            table.archive(retained=chance.randint(1, 4))
        same_slices(table)
    assert len(table.context.commits.archive.retired) > 10, "the test retires something"


def test_a_restore_needs_what_was_retired(tmp_path: Path) -> None:
    """A restore undoes the base file that had put the logs of an archived write before the horizon."""
    table = make_table(tmp_path)
    for number in range(2):
        table.upsert(batch(("k1", number, "x")))
    table.savepoint()
    for number in range(2, 5):
        table.upsert(batch(("k1", number, "x")))
        table.compact()
    table.clean(retained=1)
    table.archive(retained=1)
    same_slices(table)
    assert len(table.context.commits.archive.retired) == 1
    table.restore()
    same_slices(table)
    assert table.snapshot().column("ts").to_pylist() == [1]


def hide(table: Table, partition: str) -> None:
    """Hide the file group of a partition, as an engine that replaces by file ids does."""
    context, groups = table.context, {partition: (bucket_file_id(0),)}
    with held(context.lock):
        requested = take_time(context, load(context.storage))
        put_requested(context.storage, requested, "replacecommit", b"")
    commit = CommitMetadata((), "INSERT_OVERWRITE", extra=own_extra(table.config.avro_schema), replaced=groups)
    complete(context, requested, "replacecommit", files=(), commit=encode_commit(commit), beats=False)


def test_a_replace_is_not_retired(tmp_path: Path) -> None:
    """The commit of a compaction has base files in three partitions: one is hidden by a replace, one still counts."""
    table = make_table(tmp_path)
    table.upsert(table_of(SCHEMA, *((f"k{part}", part, 1, "x") for part in "pqr")))
    table.compact()
    hide(table, "part=p")
    for number in range(3, 6):
        table.upsert(table_of(SCHEMA, ("kq", "q", number, "x")))
        table.compact()
    table.clean(retained=1)
    table.archive(retained=1)
    for _ in range(2):
        same_slices(table)
    assert table.context.commits.archive.retired, "the test retires something"
