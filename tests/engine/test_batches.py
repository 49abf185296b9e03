"""Batch ids: a batch that any process sends twice is written once, and the cost of that under the lock."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.errors import BadInput, Conflict
from nbcc.engine.table import Table
from nbcc.engine.timeline import load
from nbcc.engine.writes import data_write, idempotency
from nbcc.engine.writes.commit_protocol import request
from nbcc.engine.writes.idempotency import EXTRA, FOLDER, repeated
from nbcc.model import Model, Protocol, World
from nbcc.model.mechanisms.exactly_once import rows_of
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory
from tests.builders.meanwhile import before_next

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
    assert other.upsert(rows("a"), batch_id="orders/7") == first
    assert len(table.timeline()) == before, "not even an instant was begun"
    assert other.upsert(rows("b"), batch_id="orders/8") != first
    deleted = other.delete(rows("a", ts=3), batch_id="orders/9")
    assert table.delete(rows("a", ts=3), batch_id="orders/9") == deleted
    assert table.snapshot()["id"].to_pylist() == ["b"]


def test_other_rows_under_an_id_are_a_conflict_that_names_both(table: Table) -> None:
    first = table.upsert(rows("a"), batch_id="orders/7")
    before = table.timeline()
    with pytest.raises(Conflict) as raised:
        table.upsert(rows("b", "c"), batch_id="orders/7")
    assert "write the batch 'orders/7' (2 rows, digest " in raised.value.asked
    assert f"instant {first.requested} has committed other rows under this id (1 row, digest " in raised.value.exists
    with pytest.raises(Conflict, match="has committed other rows under this id"):
        table.delete(rows("a"), batch_id="orders/7")
    assert table.timeline() == before
    assert table.snapshot()["id"].to_pylist() == ["a"]


def test_a_caller_may_keep_what_an_id_has_committed(table: Table) -> None:
    first = table.upsert(rows("a"), batch_id="orders/7")
    with pytest.warns(UserWarning, match="the committed rows are kept, and these are not written"):
        assert table.upsert(rows("b"), batch_id="orders/7", replay_difference="keep") == first
    with pytest.warns(UserWarning, match="the committed rows are kept"):
        assert table.delete(rows("a"), batch_id="orders/7", replay_difference="keep") == first
    assert table.snapshot()["id"].to_pylist() == ["a"]
    with pytest.raises(BadInput, match="it is one of refuse, keep"):
        table.upsert(rows("b"), batch_id="orders/7", replay_difference="ignore")


def test_a_batch_of_an_older_release_is_answered_without_a_comparison(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commit records no digest."""
    with monkeypatch.context() as patch:
        patch.setattr(data_write, "batch_metadata", lambda batch_id, digest: {EXTRA: batch_id})
        first = table.upsert(rows("a"), batch_id="orders/7")
    assert table.upsert(rows("b"), batch_id="orders/7") == first


def test_the_order_of_rows_and_a_column_added_since_make_no_other_batch(table: Table) -> None:
    first = table.upsert(rows("a", "b"), batch_id="orders/7")
    assert table.upsert(rows("b", "a"), batch_id="orders/7") == first
    table.alter_schema(SCHEMA.append(pa.field("note", pa.string())))
    assert table.upsert(rows("b", "a").append_column("note", pa.nulls(2, pa.string())), batch_id="orders/7") == first
    with pytest.raises(Conflict):
        table.upsert(rows("b", "a").append_column("note", pa.array(["x", None])), batch_id="orders/7")


def test_all_rows_of_a_batch_count_not_only_those_that_win(table: Table) -> None:
    """Duplicates are combined before files are written; the digest is of the rows that came."""
    both = pa.concat_tables([rows("a", ts=1), rows("a", ts=2)])
    first = table.upsert(both, batch_id="orders/7")
    assert table.upsert(both, batch_id="orders/7") == first
    with pytest.raises(Conflict, match=r"\(1 row, .* other rows under this id \(2 rows"):
        table.upsert(rows("a", ts=2), batch_id="orders/7")


def test_copy_on_write_knows_its_batches_too(tmp_path: Path) -> None:
    mode = {"table_type": "COPY_ON_WRITE", "concurrency_mode": "SINGLE_WRITER"}
    table = Table.create(None, tmp_path / "cow", SCHEMA, record_key="id", ordering_fields="ts", **mode)  # type: ignore[arg-type]
    first = table.upsert(rows("a", "b"), batch_id="orders/7")
    table.upsert(rows("c"))
    assert table.upsert(rows("b", "a"), batch_id="orders/7") == first
    with pytest.raises(Conflict):
        table.upsert(rows("b"), batch_id="orders/7")


def test_the_commit_says_which_batch_it_wrote(table: Table) -> None:
    written = table.upsert(rows("a"), batch_id="orders/7")
    assert table.context.commits.commit(written).extra[EXTRA] == "orders/7"
    assert EXTRA not in table.context.commits.commit(table.upsert(rows("a"))).extra


def test_two_attempts_at_once_the_second_takes_its_own_back(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is sent again while its first attempt writes."""
    other = Table.open(None, tmp_path / "t")
    before_next(monkeypatch, InProcessJobs, "write", lambda: other.upsert(rows("a"), batch_id="orders/7"))
    answered = table.upsert(rows("a"), batch_id="orders/7")
    done = table.timeline()
    assert [(instant.state, instant.requested) for instant in done] == [("completed", answered.requested)]
    assert len(list((tmp_path / "t").glob(".0*.log.*"))) == 1, "the files of the other attempt are gone"


def test_two_attempts_at_once_with_other_rows(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slower attempt takes its own back, and says that its rows are not written."""
    other = Table.open(None, tmp_path / "t")
    before_next(monkeypatch, InProcessJobs, "write", lambda: other.upsert(rows("b"), batch_id="orders/7"))
    with pytest.raises(Conflict, match="has committed other rows under this id"):
        table.upsert(rows("a"), batch_id="orders/7")
    assert [instant.state for instant in table.timeline()] == ["completed"]
    assert len(list((tmp_path / "t").glob(".0*.log.*"))) == 1
    assert table.snapshot()["id"].to_pylist() == ["b"]


def test_an_attempt_that_failed_does_not_count(table: Table) -> None:
    request(table.context, "deltacommit", "orders/7")  # its writer died
    assert repeated(table.context, load(table.context.storage), "orders/7") is None
    assert table.upsert(rows("a"), batch_id="orders/7").completed


def test_an_optimistic_writer_meets_its_own_first_attempt(table: Table, tmp_path: Path) -> None:
    optimistic = Table.open(None, tmp_path / "t", concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL")
    at_request = request(optimistic.context, "deltacommit")[1]
    first = table.upsert(rows("a"), batch_id="orders/7")
    assert at_request.find(first.requested) is None
    assert optimistic.upsert(rows("a"), batch_id="orders/7") == first


@pytest.mark.parametrize("wrong", ["", 7])
def test_an_id_is_a_text(table: Table, wrong: object) -> None:
    with pytest.raises(BadInput, match="an id is a text that is not empty"):
        table.upsert(rows("a"), batch_id=wrong)  # type: ignore[arg-type]


def test_a_stream_is_written_once(table: Table, tmp_path: Path) -> None:
    """`foreachBatch` calls again what it cannot know to be done, after a restart too."""
    table.sink(query_id="orders")(rows("a"), 0)
    table.sink(query_id="orders")(rows("b"), 1)
    Table.open(None, tmp_path / "t").sink(query_id="orders")(rows("b"), 1)
    table.sink(query_id="returns")(rows("c"), 1)
    assert sum(instant.action == "deltacommit" for instant in table.timeline()) == 3
    assert len(table.snapshot()) == 3


def test_a_stream_without_a_readable_query_id_is_asked_for_one(table: Table) -> None:
    with pytest.raises(BadInput, match=r"write the batch 0 of the stream 'orders'.*table\.sink\(query_id=\.\.\.\)"):
        table.sink("orders")(rows("a"), 0)
    assert table.timeline() == ()


def test_a_replayed_batch_of_a_stream_may_differ_where_the_caller_says_so(table: Table) -> None:
    table.sink(query_id="orders")(rows("a"), 0)
    with pytest.raises(Conflict):
        table.sink(query_id="orders")(rows("b"), 0)
    with pytest.warns(UserWarning, match="the committed rows are kept"):
        table.sink(query_id="orders", replay_difference="keep")(rows("b"), 0)


def test_a_batch_costs_a_listing_of_its_own_attempts_under_the_lock(table: Table, tmp_path: Path) -> None:
    for number in range(5):
        table.upsert(rows("a", ts=number), batch_id=f"orders/{number}")
    assert [len(list(folder.iterdir())) for folder in (tmp_path / "t" / FOLDER).iterdir()] == [1] * 5


@pytest.mark.parametrize("choice", ["checked", "at_request", "ignored"])
@pytest.mark.parametrize("concurrency", ["nbcc", "occ"])
def test_engine_and_model_agree(choice: str, concurrency: str) -> None:
    protocol = Protocol.from_mapping({"batch_ids": choice})
    world = SENT_AGAIN.replace(settings={"writer": {"concurrency": concurrency}} if concurrency == "occ" else {})
    report = run(CheckOptions(factory("engine"), protocol=protocol, world=world, readers=()), examples=10, seed=3)
    assert report.disagreement is None, report.text


@pytest.mark.filterwarnings("ignore:the committed rows are kept")
@pytest.mark.parametrize("choice", ["checked", "at_request", "ignored"])
@pytest.mark.parametrize("replay_difference", ["refuse", "keep"])
def test_engine_and_model_agree_on_other_rows_under_an_id(choice: str, replay_difference: str) -> None:
    protocol = Protocol.from_mapping({"batch_ids": choice, "replay_difference": replay_difference})
    mixed = World(actors={"writer": 3}, resends=2, other_rows=1)
    assert [rows_of(mixed, writer) for writer in ("w1", "w2", "w3")] == [0, 0, 3]
    # Looked for at the request alone, a batch may have two commits: then which one it is compared with is not defined.
    worlds = (specs.world("sent_otherwise"), *([mixed] if choice != "at_request" else []))
    for world in worlds:
        report = run(CheckOptions(factory("engine"), protocol=protocol, world=world, readers=()), examples=15, seed=3)
        assert report.disagreement is None, report.text


def test_the_check_detects_an_engine_that_compares_no_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "differs", lambda digest, recorded: False)
    world = specs.world("sent_otherwise")
    report = run(CheckOptions(factory("engine"), world=world, readers=()), examples=50, seed=3, shrinks=False)
    assert report.disagreement is not None
    assert "returned without the error Conflict" in report.disagreement.because


def test_where_nothing_is_sent_again_nothing_is_promised() -> None:
    assert PROMISES["ONCE"].unfit(Model(World(actors={"writer": 2}))) == "no batch is sent again here"
    with pytest.raises(ValueError, match="leave one of them out"):
        World(resends=1, retries=1)
    with pytest.raises(ValueError, match="other_rows is a part of resends, found 2 of 1"):
        World(resends=1, other_rows=2)


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
    with pytest.raises(Conflict, match=f"the instant {first.requested} has committed other rows"):
        table.upsert(rows("b"), batch_id="orders/7")
    assert len(table.timeline()) == before
