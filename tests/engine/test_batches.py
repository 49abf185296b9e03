"""Batch ids: a batch that is sent again is written once, whoever sends it, and what that costs under the lock."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.data.tasks import WriteTask, WrittenFile
from nbcc.engine.errors import BadInput
from nbcc.engine.jobs import InProcessJobs
from nbcc.engine.table import Table
from nbcc.engine.timeline import load
from nbcc.engine.writes.batches import EXTRA, FOLDER, repeated
from nbcc.engine.writes.writing import request
from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.crosscheck.check import Setting, run
from nbcc.simulator.systems.registry import factory

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])
SENT_AGAIN = specs.world("sent_again")


def rows(*keys: str, ts: int = 1) -> pa.Table:
    return pa.table({"id": list(keys), "ts": [ts] * len(keys)}, schema=SCHEMA)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=2)


def test_a_batch_that_was_sent_again_is_not_written_again(table: Table, tmp_path: Path) -> None:
    first = table.upsert(rows("a"), batch_id="orders/7")
    before = len(table.timeline())
    other = Table.open(None, tmp_path / "t")  # another process
    assert other.upsert(rows("a", ts=2), batch_id="orders/7") == first
    assert len(table.timeline()) == before, "not even an instant was begun"
    assert other.upsert(rows("b"), batch_id="orders/8") != first
    assert other.delete(rows("a", ts=3), batch_id="orders/8") in table.timeline(), "an id is of a batch"
    assert len(table.snapshot()) == 2


def test_the_commit_says_which_batch_it_wrote(table: Table) -> None:
    written = table.upsert(rows("a"), batch_id="orders/7")
    assert table.context.commits.commit(written).extra[EXTRA] == "orders/7"
    assert EXTRA not in table.context.commits.commit(table.upsert(rows("a"))).extra


def test_two_attempts_at_once_the_second_takes_its_own_back(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is sent again while its first attempt writes."""
    write = InProcessJobs.write

    def slow(jobs: InProcessJobs, rows_: pa.Table, task: WriteTask) -> list[WrittenFile]:
        monkeypatch.setattr(InProcessJobs, "write", write)
        Table.open(None, tmp_path / "t").upsert(rows_, batch_id="orders/7")
        return write(jobs, rows_, task)

    monkeypatch.setattr(InProcessJobs, "write", slow)
    answered = table.upsert(rows("a"), batch_id="orders/7")
    done = table.timeline()
    assert [(instant.state, instant.requested) for instant in done] == [("completed", answered.requested)]
    assert len(list((tmp_path / "t").glob(".0*.log.*"))) == 1, "the files of the other attempt are gone"


def test_an_attempt_that_failed_does_not_count(table: Table) -> None:
    request(table.context, "deltacommit", "orders/7")  # its writer died
    assert repeated(table.context, load(table.context.storage), "orders/7") is None
    assert table.upsert(rows("a"), batch_id="orders/7").completed


def test_an_optimistic_writer_meets_its_own_first_attempt(table: Table, tmp_path: Path) -> None:
    optimistic = Table.open(None, tmp_path / "t", concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL")
    sealed = request(optimistic.context, "deltacommit")[1]
    first = table.upsert(rows("a"), batch_id="orders/7")
    assert sealed.find(first.requested) is None
    assert optimistic.upsert(rows("a"), batch_id="orders/7") == first


@pytest.mark.parametrize("wrong", ["", 7])
def test_an_id_is_a_text(table: Table, wrong: object) -> None:
    with pytest.raises(BadInput, match="an id is a text that is not empty"):
        table.upsert(rows("a"), batch_id=wrong)  # type: ignore[arg-type]


def test_a_stream_is_written_once(table: Table, tmp_path: Path) -> None:
    """`foreachBatch` calls again what it cannot know to be done, after a restart too."""
    table.sink("orders")(rows("a"), 0)
    table.sink("orders")(rows("b"), 1)
    Table.open(None, tmp_path / "t").sink("orders")(rows("b"), 1)
    table.sink("returns")(rows("c"), 1)
    assert sum(instant.action == "deltacommit" for instant in table.timeline()) == 3
    assert len(table.snapshot()) == 3


def test_a_batch_costs_a_listing_of_its_own_attempts_under_the_lock(table: Table, tmp_path: Path) -> None:
    for number in range(5):
        table.upsert(rows("a", ts=number), batch_id=f"orders/{number}")
    assert [len(list(folder.iterdir())) for folder in (tmp_path / "t" / FOLDER).iterdir()] == [1] * 5


@pytest.mark.parametrize("choice", ["checked", "at_request", "ignored"])
@pytest.mark.parametrize("concurrency", ["nbcc", "occ"])
def test_engine_and_model_agree(choice: str, concurrency: str) -> None:
    protocol = Protocol.from_mapping({"batch_ids": choice})
    world = replace(SENT_AGAIN, settings={"writer": {"concurrency": concurrency}} if concurrency == "occ" else {})
    report = run(Setting(factory("engine"), protocol=protocol, world=world, readers=()), examples=10, seed=3)
    assert report.found is None, report.text


def test_where_nothing_is_sent_again_nothing_is_promised() -> None:
    assert PROMISES["ONCE"].unfit(Model(World(actors={"writer": 2}))) == "no batch is sent again here"
    with pytest.raises(ValueError, match="leave one of them out"):
        World(resends=1, retries=1)


def test_a_batch_is_known_when_its_commit_is_archived(table: Table) -> None:
    first = table.upsert(rows("a"), batch_id="orders/7")
    for number in range(6):
        table.upsert(rows("a", ts=number + 2))
    table.compact()
    table.clean(retained=1)
    table.archive(retained=2)
    assert first not in load(table.context.storage).instants, "it has left the active timeline"
    before = len(table.timeline())
    assert table.upsert(rows("a"), batch_id="orders/7").requested == first.requested
    assert len(table.timeline()) == before
