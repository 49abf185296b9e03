"""The instant that the tasks of a streaming batch share, elected without a lock."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from nbcc.engine.table import Table
from nbcc.engine.writes.commits import write_commit
from nbcc.engine.writes.data_write import publish
from nbcc.engine.writes.idempotency import Repeated
from nbcc.engine.writes.shared_request import ELECTED, forget_elected, shared_request

from .free_tables import Hooked, eager, made, through

BATCH, RUN = "query/7", "run 1"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return made(tmp_path / "t")


def request(table: Table, run: str = RUN) -> str:
    return shared_request(table.context, "deltacommit", BATCH, run)


def pending(table: Table) -> list[str]:
    return [instant.requested for instant in table.timeline() if not instant.completed]


def test_all_tasks_of_a_run_elect_one_instant(table: Table) -> None:
    """A task stands still at each of its calls, and others of the same and of another run ask meanwhile."""
    for at in range(1, 60):
        hooked, others = Hooked(table.context.storage, at, calls=["begins"]), list[str]()
        run = f"run {at}"
        hooked.hook = lambda run=run, others=others: others.extend((request(table, run), request(table, "another")))
        mine = request(through(table, hooked), run)
        if len(hooked.calls) <= at:
            break
        assert mine == others[0] == request(table, run)
        assert mine != others[1]
        assert pending(table).count(mine) == 1
    assert len(pending(table)) == at + 1, "one of each run: the losers have withdrawn theirs"


def test_an_instant_that_was_rolled_back_is_not_elected_again(table: Table) -> None:
    first = request(table)
    eager(table).rollback()
    second = request(table)
    assert second != first
    assert pending(table) == [second]


def test_a_committed_batch_elects_no_instant(table: Table) -> None:
    requested = request(table)
    commit = partial(write_commit, table.config, requested, "UPSERT")
    publish(
        table.context, table.config, requested, at_request=table.context.active(), files=(), commit=commit,
        batch_id=BATCH,
    )  # fmt: skip
    forget_elected(table.context, BATCH)
    assert table.context.storage.list(ELECTED) == []
    for run in (RUN, "run 2"):
        with pytest.raises(Repeated):
            request(table, run)
    assert pending(table) == []
