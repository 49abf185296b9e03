"""The streaming sink without Spark: tasks and commits as Spark calls them, one after the other in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from nbcc import Table
from nbcc.engine.data_source import stream_write
from nbcc.engine.data_source.stream_options import stream_write_options
from nbcc.engine.data_source.stream_write import BatchOfQuery, Place, stream_writer
from nbcc.engine.errors import BadInput, Conflict, Unsupported
from nbcc.engine.schema import to_spark
from nbcc.engine.timeline.heartbeats import FOLDER as HEARTBEATS
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from tests.builders.tables import batch, files, make_table, state

Task = Callable[[str, int, str, pa.Table], BatchOfQuery]


def new_writer(path: Path, **options: str) -> DataSourceStreamArrowWriter:
    """A writer, as Spark creates one before the tasks of a batch and another one for its commit."""
    schema = to_spark(batch(("k", 0, "x")).schema)
    return stream_writer(schema, False, stream_write_options({"path": str(path), "checkpointLocation": "c", **options}))


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """Runs a task of a batch, by query id, batch number and run."""

    def run(query_id: str, number: int, run: str, rows: pa.Table) -> BatchOfQuery:
        monkeypatch.setattr(stream_write, "place_of_task", lambda: Place(query_id, number, run))
        message = new_writer(tmp_path).write(iter(rows.to_batches()))
        assert isinstance(message, BatchOfQuery)
        return message

    return run


def pending(table: Table) -> list[str]:
    return [instant.requested for instant in table.timeline() if not instant.completed]


def test_the_tasks_of_a_batch_share_one_instant(tmp_path: Path, task: Task) -> None:
    table = make_table(tmp_path)
    messages = [task("q", 0, "run", batch((f"k{n}", 1, "x"))) for n in range(3)]
    assert pending(table) == [messages[0].requested]
    assert state(table.snapshot()) == set()
    new_writer(tmp_path).commit([*messages], 0)
    assert len(state(table.snapshot())) == 3
    assert len(table.timeline()) == 1
    assert not [path for path in files(table) if path.startswith(HEARTBEATS)]


def test_an_empty_batch_commits(tmp_path: Path, task: Task) -> None:
    table = make_table(tmp_path)
    new_writer(tmp_path).commit([task("q", 0, "run", batch())], 0)
    assert [instant.state for instant in table.timeline()] == ["completed"]


def test_a_constructor_has_no_effect(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    before = files(table)
    new_writer(tmp_path)
    assert files(table) == before


def test_a_batch_that_is_sent_again_is_written_once(tmp_path: Path, task: Task) -> None:
    """The driver died after the commit and before Spark's commit log: a restart runs the batch again."""
    table, rows = make_table(tmp_path), batch(("k", 1, "x"))
    new_writer(tmp_path).commit([task("q", 0, "first", rows)], 0)
    timeline = table.timeline()
    new_writer(tmp_path).commit([task("q", 0, "second", rows)], 0)
    assert table.timeline() == timeline


def test_a_run_does_not_continue_the_instant_of_another(tmp_path: Path, task: Task) -> None:
    """The driver died before the commit. The restarted query writes a new instant; a rollback undoes the old one."""
    table, rows = make_table(tmp_path), batch(("k", 1, "x"))
    dead = task("q", 0, "first", rows)
    new_writer(tmp_path).commit([task("q", 0, "second", rows)], 0)
    assert pending(table) == [dead.requested]
    assert len(state(table.snapshot())) == 1
    with pytest.raises(Conflict):  # and if it was not dead, its other task returns late
        new_writer(tmp_path).commit([dead, task("q", 0, "first", batch(("k2", 1, "x")))], 0)
    assert pending(table) == []
    assert len(state(table.snapshot())) == 1


def test_both_of_two_copies_write_the_same_batch_and_one_is_kept(tmp_path: Path, task: Task) -> None:
    table, rows = make_table(tmp_path), batch(("k", 1, "x"))
    copies = [task("q", 0, run, rows) for run in ("one", "two")]
    assert copies[0].requested != copies[1].requested
    for message in copies:
        new_writer(tmp_path).commit([message], 0)
    assert [instant.requested for instant in table.timeline()] == [copies[0].requested]


def test_a_copied_checkpoint_with_other_rows_raises(tmp_path: Path, task: Task) -> None:
    table = make_table(tmp_path)
    new_writer(tmp_path).commit([task("q", 0, "one", batch(("k", 1, "x")))], 0)
    with pytest.raises(Conflict, match=r"committed other rows under this id"):
        new_writer(tmp_path).commit([task("q", 0, "two", batch(("k", 2, "y")))], 0)
    with pytest.warns(UserWarning, match="the committed rows are kept"):
        new_writer(tmp_path, **{"replay.difference": "keep"}).commit([task("q", 0, "two", batch(("k", 2, "y")))], 0)
    assert len(table.timeline()) == 1


def test_rows_under_another_query_id_are_written(tmp_path: Path, task: Task) -> None:
    """A deleted checkpoint: the new query numbers its batches from 0, too."""
    table = make_table(tmp_path)
    for query_id in ("one", "two"):
        new_writer(tmp_path).commit([task(query_id, 0, query_id, batch((query_id, 1, "x")))], 0)
    assert len(state(table.snapshot())) == 2


def test_foreach_batch_and_the_format_know_a_batch_by_one_id(tmp_path: Path, task: Task) -> None:
    table, rows = make_table(tmp_path), batch(("k", 1, "x"))
    first = table.upsert(rows, batch_id="q/0")
    new_writer(tmp_path).commit([task("q", 0, "run", rows)], 0)
    assert list(table.timeline()) == [first]


def test_an_abort_undoes_the_instant_that_a_task_returned(tmp_path: Path, task: Task) -> None:
    table = make_table(tmp_path)
    nothing: list[WriterCommitMessage | None] = [None]
    new_writer(tmp_path).abort(nothing, 0)
    new_writer(tmp_path).abort([task("q", 0, "run", batch(("k", 1, "x"))), None], 0)
    assert table.timeline() == ()
    assert not [path for path in files(table) if ".log." in path]


def test_bad_rows_are_refused_before_an_instant_is_requested(tmp_path: Path, task: Task) -> None:
    table = make_table(tmp_path)
    with pytest.raises(BadInput):
        task("q", 0, "run", batch((None, 1, "x")))
    assert table.timeline() == ()


def test_messages_of_another_batch_are_refused(tmp_path: Path, task: Task) -> None:
    make_table(tmp_path)
    message = task("q", 0, "run", batch(("k", 1, "x")))
    with pytest.raises(Unsupported, match="start the query again with the same checkpoint"):
        new_writer(tmp_path).commit([message], 1)


def test_what_no_stream_can_do_is_refused(tmp_path: Path) -> None:
    make_table(tmp_path)
    schema, path = to_spark(batch().schema), {"path": str(tmp_path)}
    with pytest.raises(Unsupported, match="output mode complete would replace"):
        stream_writer(schema, True, stream_write_options(path))
    with pytest.raises(BadInput, match="leave the option out"):
        stream_writer(schema, False, stream_write_options({**path, "batch.id": "1"}))


def test_columns_that_change_in_mid_stream_say_what_to_do(tmp_path: Path, task: Task) -> None:
    table = make_table(tmp_path)
    table.alter_schema(table.config.schema.remove(table.config.schema.get_field_index("a")))
    with pytest.raises(
        BadInput, match=r"no column 'a'.*stop the query, change what it selects, and start it with the same"
    ):
        task("q", 0, "run", batch(("k", 1, "x")))


def test_a_worker_renews_a_heartbeat_after_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until another process ends the instant, or the time is up. `stopped.wait` returns at once, so nothing sleeps."""
    storage = make_table(tmp_path).context.storage
    now = [100.0]
    heartbeats = StoredHeartbeats(storage, interval=10.0, now=lambda: now[0])
    monkeypatch.setattr("threading.Thread.start", lambda thread: None)

    def renewals(seconds: int) -> int:
        """How often the thread of the instant renews within these seconds, before it ends or is cut off."""
        heartbeat, count = heartbeats._ours["1"], [0]

        def wait(interval: float) -> bool:
            now[0] += interval
            count[0] += 1
            return now[0] > 100.0 + seconds

        monkeypatch.setattr(heartbeat.stopped, "wait", wait)
        heartbeats._renew_until_stopped("1", heartbeat)
        return count[0] - 1

    heartbeats.start("1")
    heartbeats.hand_over("1", 45.0)
    assert renewals(1000) == 4
    now[0] = 100.0
    heartbeats.start("1")
    heartbeats.hand_over("1", 45.0)
    storage.delete(f"{HEARTBEATS}/1")  # as the commit does
    assert renewals(1000) == 0
    assert storage.list(HEARTBEATS) == []
