"""The named scenarios, and the errors of a file that is not one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from nbcc.simulator.workload.costs import calibration, store
from nbcc.simulator.workload.run import simulate
from nbcc.simulator.workload.scenario import duration, load, names, scenario_of

STORES = Path(__file__).parents[2] / "specs" / "workload" / "stores.toml"
GOOD: dict[str, Any] = {"format": 1, "writers": [{"name": "w"}]}


def test_there_are_a_dozen_scenarios_with_their_sources() -> None:
    assert len(names()) >= 12
    for name in names():
        scenario = load(name)
        assert scenario.about
        assert scenario.source
        store(scenario.store, calibration())


def test_each_store_names_its_source_and_what_it_states() -> None:
    given = tomllib.loads(STORES.read_text("utf-8"))
    for name, entry in given.items():
        if name != "format":
            assert entry["source"], name
            assert entry["states"], name
            store(name, calibration())
    assert store("s3-fast", calibration()).latency["list"] < store("s3", calibration()).latency["list"]


@pytest.mark.parametrize("name", names())
def test_every_scenario_runs(name: str) -> None:
    from dataclasses import replace

    scenario = replace(load(name), hours=0.02)
    assert simulate(scenario, "nbcc", calibration()).seconds == pytest.approx(72)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 2 is not known"),
        ({"writer": []}, "unknown field 'writer'; did you mean 'writers'"),
        ({"writers": []}, "it has no writers"),
        ({"writers": [{}]}, "number 1 has no name"),
        ({"writers": [{"name": "w", "every": 5}]}, "every is 5; give a duration"),
        ({"writers": [{"name": "w", "every": "soon"}]}, "'soon' is not a duration"),
        ({"writers": [{"name": "w", "rows": "many"}]}, "rows is 'many'; give a whole number"),
        ({"writers": [{"name": "w", "rows": 0}]}, "w: rows is 0; it must be greater than 0"),
        ({"writers": [{"name": "w", "every": "0s"}]}, "every is 0 s"),
        ({"writers": [{"name": "w", "choice": "best"}]}, "choose among newest, uniform, zipf, own"),
        ({"writers": [{"name": "w", "partitions": 2}]}, "touches 2 of 1 partitions"),
        ({"table": {"buckets": 0}}, "buckets is 0"),
        ({"table": 3}, r"\[table\] must be a table"),
        ({"lock": {"provider": "file"}}, "locks the processes of one machine"),
        ({"hours": "long"}, "hours is 'long'; give a number"),
        ({"hours": 1e9}, "hours is 1000000000.0; it must be at most 100000"),
        ({"hours": float("nan")}, "hours is nan; it must be greater than 0"),
        ({"writers": [{"name": "w", "count": 10**9}]}, "w: count is 1000000000; it must be at most 10000"),
        ({"writers": [{"name": "w", "every": "1s"}], "table": {"buckets": 10**9}}, "buckets is 1000000000; it must"),
    ],
)
def test_a_wrong_scenario_is_refused(change: dict[str, Any], message: str) -> None:
    scenario_of("good", GOOD)
    with pytest.raises(ValueError, match=message):
        scenario_of("bad", {**GOOD, **change})


def test_a_scenario_is_found_by_name_or_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    with pytest.raises(ValueError, match="does not exist"):
        load(str(path))
    with pytest.raises(ValueError, match="no scenario is called 'two-pipeline'; did you mean 'two-pipelines'"):
        load("two-pipeline")
    path.write_text("format = 1\n[[writers]]\nname = 'w'\nevery = '5m'\n", encoding="utf-8")
    assert load(str(path)).writers[0].every == 300
    path.write_text("format 1", encoding="utf-8")
    with pytest.raises(ValueError, match="is not TOML"):
        load(str(path))


def test_durations() -> None:
    assert [duration(text) for text in ("200ms", "90s", "5m", "2h", "1d")] == [0.2, 90, 300, 7200, 86400]
