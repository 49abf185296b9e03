"""The rounds of a resize, and a writer that moves its logs while a rollback deletes them."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex

import pytest

from nbcc import Table
from nbcc.engine.actions.run_resize import ROUNDS
from nbcc.engine.errors import Conflict
from nbcc.engine.lock import InProcessLock
from nbcc.simulator.audit.validate import validate
from tests.builders.tables import SCHEMA, make_table, state, table_of, with_value

from .free_tables import eager
from .hooked import Hooked, _with, during

ROWS = [(f"k{number}", "p", 1, "old") for number in range(12)]


def made(folder: Path, buckets: int) -> Table:
    table = make_table(folder / "t", buckets=buckets)
    table.upsert(table_of(SCHEMA, *ROWS))
    return table


def test_a_resize_takes_no_lock_to_copy_while_its_rounds_shrink(tmp_path: Path) -> None:
    """A writer writes half as many rows in each round, for more than `ROUNDS` rounds."""
    table = made(tmp_path, 1)
    counts, under_lock = [2**number for number in range(13, 4, -1)], list[str]()

    class Slowing(Hooked):
        def _reached(self, verb: str, path: str) -> None:
            super()._reached(verb, path)
            lock = table.context.lock
            assert isinstance(lock, InProcessLock)
            if verb == "put" and "00000000-0001-" in path and path.startswith("part="):
                if not lock.try_acquire():
                    under_lock.append(path)
                    return
                lock.release()
                if counts:
                    keys = (f"n{number}" for number in range(counts.pop(0)))
                    table.upsert(table_of(SCHEMA, *((key, "p", 2, token_hex(32)) for key in keys)))

    rounds = len(counts)
    assert rounds > ROUNDS
    Table(_with(table.context, Slowing(table.context.storage)), table.config).resize(2)
    assert not counts
    assert not under_lock
    assert len(state(table.snapshot())) == len(ROWS) + 2**13


def test_a_writer_is_refused_if_a_rollback_deletes_its_logs_while_it_moves_them(tmp_path: Path) -> None:
    table = made(tmp_path, 2)
    moving = during(table, "-0000-0000-0000-000000000000-0_", eager(table).rollback, on="get")
    with pytest.raises(Conflict, match="it has been rolled back"):
        during(moving, ".log.", lambda: table.resize(4)).upsert(table_of(SCHEMA, ("k1", "p", 2, "new")))
    assert with_value(table, "new") == set()
    assert validate(table.context.storage).diagnostics == ()
