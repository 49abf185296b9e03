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
from nbcc.simulator.crosscheck.history import History
from nbcc.simulator.crosscheck.observables import final_queries
from nbcc.simulator.findings import HUDI_RS, Finding, load, names
from nbcc.simulator.replay import play
from nbcc.simulator.systems.registry import factory
from tests.builders.tables import batch, make_table, state
from tools.findings import answers, words

pytest.importorskip("hudi")
RUNS = [name for name in names() if HUDI_RS in load(name).seen and not load(name).test]


def read(finding: Finding) -> str:
    """What hudi-rs answers to the read of a finding when nbcc's engine has taken its steps."""
    from nbcc.simulator.systems.hudi_rs import HudiRs

    told: list[str] = []

    def ask(history: History) -> None:
        queries = (Query("snapshot"), *final_queries(history.timeline, change_logs=False))
        query = next(each for each in queries if history.described(each) == finding.read)
        with history.system.folder() as folder:
            told.append(words(history, lambda: HudiRs(folder).rows(query)))

    run = replace(finding.trace, protocol=Protocol(), promise="", observed=())
    assert play(run, "engine", factory("engine"), ask).verdict == "AGREED"
    return told[0]


@pytest.mark.parametrize("name", RUNS)
def test_hudi_rs_answers_as_the_page_says(name: str) -> None:
    finding = load(name)
    told = answers(finding)
    assert read(finding) == told.actual != told.expected


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
    table.context.heartbeats.stop_renewing(stalled)  # type: ignore[attr-defined]
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
