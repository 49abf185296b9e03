"""Workloads from the timelines of real tables, and the calibration on this machine."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.clock import to_millis
from nbcc.engine.errors import BadInput
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table
from nbcc.simulator.workload import calibrate, listings
from nbcc.simulator.workload.costs import calibration, store
from nbcc.simulator.workload.recorded import recording
from nbcc.simulator.workload.run import simulate

TABLES = Path(__file__).parents[1] / "tables"
SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


def own_table(path: Path, commits: int) -> Table:
    table = Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=2)
    for number in range(commits):
        table.upsert(pa.table({"id": [f"k{n}" for n in range(40)], "ts": [number] * 40}, schema=SCHEMA))
        if number % 2:
            table.compact()
    return table


def test_a_workload_comes_from_the_timeline_of_a_table_of_nbcc(tmp_path: Path) -> None:
    table = own_table(tmp_path / "t", 4)
    scenario = recording(open_storage(tmp_path / "t")).scenario
    (lane,) = scenario.recorded
    writes = [i for i in table.timeline() if i.action == "deltacommit" and i.completed]
    assert [batch.rows for batch in lane] == [40] * len(writes) == [40] * 4
    assert all(batch.groups == (0, 1) for batch in lane)
    assert (scenario.store, scenario.lock.provider, scenario.lock.skew) == ("local", "file", 0.0)
    assert scenario.compaction.every > 0
    assert simulate(scenario, "nbcc", calibration()).commits == 4


def test_the_past_of_a_table_is_recorded(tmp_path: Path) -> None:
    table = own_table(tmp_path / "t", 4)
    past = recording(open_storage(tmp_path / "t"))
    writes = [i for i in table.timeline() if i.action == "deltacommit" and i.completed]
    took = sorted(to_millis(i.completed or "") - to_millis(i.requested) for i in writes)
    assert (past.mode, past.compactions) == ("nbcc", 2)
    assert past.every == past.scenario.compaction.every > 0
    assert past.figures["logs_greatest"] == 2, "a compaction after each second write"
    assert 0 < past.figures["logs_per_slice"] <= 2
    assert past.figures["latency_p50"] == pytest.approx((took[1] + took[2]) / 2000)
    assert past.figures["compaction_seconds"] > 0
    assert past.figures["rows_per_second"] == pytest.approx(past.figures["commits_per_minute"] * 40 / 60)


def test_a_workload_comes_from_the_timeline_of_a_table_of_hudi(tmp_path: Path) -> None:
    with zipfile.ZipFile(TABLES / "hudi120_00_mor_event_b4_avro.zip") as archive:
        archive.extractall(tmp_path)
    (folder,) = (path.parent for path in tmp_path.rglob(".hoodie"))
    past = recording(open_storage(folder))
    scenario = past.scenario
    assert (past.mode, past.compactions) == (None, 1), "Hudi's mode is an option of each writer"
    assert past.every > 0
    batches = [batch for lane in scenario.recorded for batch in lane]
    assert len(batches) > 3
    assert all(batch.rows and batch.groups for batch in batches)
    assert len(scenario.recorded) > 1, "its writers overlapped"


def test_a_table_without_writes_has_no_workload(tmp_path: Path) -> None:
    own_table(tmp_path / "t", 1)
    with pytest.raises(BadInput, match="1 completed writes"):
        recording(open_storage(tmp_path / "t"))


def test_a_calibration_measures_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "ROWS", (50, 400))
    monkeypatch.setattr(calibrate, "BUCKETS", (1, 2))
    monkeypatch.setattr(calibrate, "REPEATS", 2)
    monkeypatch.setattr(calibrate, "LOGS", (1, 2))
    monkeypatch.setattr(listings, "TIMES", 2)
    path = tmp_path / "calibration.json"
    path.write_text(calibrate.calibrate(lambda what, done, total: None), encoding="utf-8")
    times = calibration(path)
    assert times.ranges["rows"] == (50, 400)
    assert times.write + times.per_file + times.per_row > 0
    assert times.compact_row + times.compact_log > 0
    assert times.read_row + times.read_log > 0
    assert min(times.prepare, times.request, times.publish, times.clean_up) > 0
    assert times.decode > times.unread > 0
    assert all(0 < median <= late for median, late in store("local", times).latency.values())
    path.write_text(json.dumps({"format": 1}), encoding="utf-8")
    with pytest.raises(ValueError, match="is not a calibration"):
        calibration(path)
