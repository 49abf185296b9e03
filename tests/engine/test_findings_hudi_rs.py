"""Findings about hudi-rs: of the table that the engine has written by the same steps it reads what the page says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.data.shape import table_shape
from nbcc.engine.data.tasks import WriteTask
from nbcc.engine.timeline import put_inflight
from nbcc.engine.timeline.heartbeats import FOLDER
from nbcc.engine.writes.commit_protocol import request
from nbcc.model import Protocol, Query
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.findings import HUDI_RS, Finding, load, names
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.observables import final_queries
from tests.builders.tables import batch, make_table, state, table_of
from tools.findings import answers, words

pytest.importorskip("hudi")
PARTIAL = "nbcc.partial.update.mode"
RUNS = [name for name in names() if HUDI_RS in load(name).seen and not load(name).test]


def read(finding: Finding) -> str:
    """What hudi-rs answers to the read of a finding when nbcc's engine has taken its steps."""
    from nbcc.simulator.lockstep.systems.hudi_rs import HudiRs

    replies: list[str] = []

    def ask(history: PlayedHistory) -> None:
        queries = (Query("snapshot"), *final_queries(history.timeline, change_logs=False))
        query = next(each for each in queries if history.described(each) == finding.read)
        assert isinstance(history.system, EngineSystem)
        with history.system.folder() as folder:
            replies.append(words(history, lambda: HudiRs(folder).rows(query)))

    run = replace(finding.trace, protocol=Protocol(), promise="", observed=())
    assert play(run, "engine", factory("engine"), ask).verdict == "AGREED"
    return replies[0]


@pytest.mark.parametrize("name", RUNS)
def test_hudi_rs_answers_as_the_page_says(name: str) -> None:
    finding = load(name)
    expected_answers = answers(finding)
    assert read(finding) == expected_answers.actual != expected_answers.expected


def test_each_rule_of_hudi_rs_that_shows_in_a_read_has_a_page() -> None:
    rules = {load(name).rule.split(" = ")[0] for name in RUNS}
    assert rules == {"merge_order", "as_of_axis", "fold", "window_merge", "window_deletes"}


@pytest.mark.parametrize(("group", "snapshot"), [("another", ["next", "woken"]), ("the same", ["next"])])
def test_a_rolled_back_writer_that_woke_is_shown_if_it_is_older_than_the_timeline(
    tmp_path: Path, group: str, snapshot: list[str]
) -> None:
    from hudi import HudiReadOptions, HudiTable

    table = make_table(tmp_path / "t", buckets=2 if group == "another" else 1)
    stalled, _ = request(table.context, "deltacommit")
    put_inflight(table.context.storage, stalled, "deltacommit")
    table.context.heartbeats.stop_renewing(stalled)
    table.context.storage.delete(f"{FOLDER}/{stalled}")
    assert len(table.rollback()) == 1
    task = WriteTask(table_shape(table.config, table.context.rules), stalled)
    table.context.jobs.write(batch(("woken", 5, "w")), task)
    first = table.upsert(batch(("next", 1, "n")))

    def ids(time: str | None) -> list[str]:
        options = HudiReadOptions() if time is None else HudiReadOptions().with_as_of_timestamp(time)
        batches = HudiTable(str(tmp_path / "t")).read(options)
        return sorted(pa.Table.from_batches(batches)["id"].to_pylist()) if batches else []

    assert ids(stalled) == ["woken"]
    assert ids(first.requested) == ids(None) == snapshot
    assert state(table.snapshot()) == {("next", 1, "n")}


@pytest.mark.parametrize(
    ("ordering", "older", "shown"),
    [(pa.int32(), 0, ["l"]), (pa.int32(), 1, ["k", "l"]), (pa.date32(), 0, ["l"]), (pa.int64(), 0, ["k", "l"])],
)
@pytest.mark.parametrize("kept", [False, True])
def test_an_older_delete_wins_if_its_ordering_value_is_zero_of_32_bits(
    ordering: pa.DataType, older: int, shown: list[str], kept: bool, tmp_path: Path
) -> None:
    """In a table of partial updates a compaction keeps such a delete, too, although it lost."""
    from hudi import HudiTable

    schema = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", ordering), ("a", pa.string())])
    old, new = pa.array([older, 2], pa.int64() if ordering == pa.int64() else pa.int32()).cast(ordering).to_pylist()
    table = make_table(tmp_path / "t", schema=schema, options={PARTIAL: "SET_COLUMNS"} if kept else {})
    table.upsert(table_of(schema, ("k", "p", new, "x"), ("l", "p", new, "x")))
    table.delete(table_of(schema.remove(3), ("k", "p", old)))
    if kept:
        table.compact()
    assert sorted(table.snapshot()["id"].to_pylist()) == ["k", "l"]
    assert sorted(pa.Table.from_batches(HudiTable(str(tmp_path / "t")).read())["id"].to_pylist()) == shown
