"""Logs in which a rollback block undoes the blocks of a write, as tables of version 6 have them; made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc import Table
from nbcc.engine.files.log_block import BlockKind, encode_block, read_blocks, without_rolled_back
from nbcc.engine.table import open_table
from nbcc.engine.timeline import decode_commit, encode_commit
from tests.builders.blocks import rollback_block
from tests.builders.heartbeats import Died, dies
from tests.builders.hudi import same
from tests.builders.tables import batch, context, make_table, state, tick

from .hooked import during

OWN, FAILED = tick(1), tick(3)
BLOCKS = {
    "failed": b"",  # the block of a writer that died, filled in by `log_of`
    "undo": rollback_block(tick(9), FAILED),
    "undo own": rollback_block(tick(9), OWN),
}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """k1 = a by a write that completed, k1 = b (a greater ordering value) by one that died before it did."""
    made = make_table(tmp_path)
    made.upsert(batch(("k1", 1, "a")))
    with pytest.raises(Died):
        during(made, f"{FAILED}_", dies).upsert(batch(("k1", 2, "b")))
    return made


def rewrite(folder: Path, order: Sequence[str]) -> None:
    """The completed write's log with these blocks in it; that of the writer that died is gone."""
    own, failed = (next(path for path in folder.rglob(f".*_{instant}.log.*")) for instant in (OWN, FAILED))
    blocks = BLOCKS | {"own": own.read_bytes(), "failed": failed.read_bytes()}
    failed.unlink()
    own.write_bytes(b"".join(blocks[each] for each in order))
    commit = next(folder.rglob(f"{OWN}_*.deltacommit"))
    listed = decode_commit(commit.read_bytes())
    stats = tuple(stat._replace(size=own.stat().st_size, checksum="") for stat in listed.stats)
    commit.write_bytes(encode_commit(replace(listed, stats=stats)))


@pytest.mark.parametrize(
    ("order", "rows"),
    [
        (["own", "failed", "undo"], {("k1", 1, "a")}),
        (["failed", "own", "undo"], {("k1", 1, "a")}),  # another's block between
        (["own", "failed", "undo", "undo"], {("k1", 1, "a")}),  # by two independent writers
        (["own", "undo"], {("k1", 1, "a")}),
        (["own", "undo own"], set()),
        (["own", "undo own", "own"], {("k1", 1, "a")}),  # what comes behind it counts
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else str(len(each)),
)
def test_no_reader_sees_blocks_that_were_undone(
    order: list[str], rows: set[tuple[str, int, str]], table: Table, tmp_path: Path
) -> None:
    rewrite(tmp_path, order)
    table = open_table(context(tmp_path))  # it has read no commit yet
    assert state(table.snapshot()) == rows
    assert same(table)  # hudi-rs, which asks the timeline besides


def test_a_torn_block_goes_with_the_rollback_behind_it() -> None:
    torn = encode_block(BlockKind.AVRO, {}, b"rows")[:-3]
    file = rollback_block(OWN, OWN) + torn + rollback_block(tick(9), FAILED)
    assert [block.kind for block in read_blocks(file)] == [BlockKind.COMMAND, BlockKind.CORRUPT, BlockKind.COMMAND]
    assert without_rolled_back(read_blocks(file)) == []
