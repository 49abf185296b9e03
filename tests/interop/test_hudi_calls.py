"""Apache Hudi, stopped at each of its storage calls: the calls are those of specs/hudi-calls.json, a fault at a call
leaves a table that readers and Hudi's recovery find right, and random histories are right or show a known finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.model import mechanisms
from tools.hudi_calls.crashes import FAULTS, point
from tools.hudi_calls.labels import action, seen_by_others
from tools.hudi_calls.soak import RUNS, STATE, again, history, load, save, soak
from tools.hudi_calls.summary import load as figures
from tools.hudi_calls.summary import outcome
from tools.hudi_calls.tables import OPERATIONS, Tables, kinds
from tools.hudi_calls.tours import runs, toured
from tools.hudi_calls.verdict import explained

FIGURES = figures()["operations"]
STRIDE = 20
"""Every so many calls by day, and no torn put. `python -m tools.hudi_calls` has a fault at all of them."""
BY_DAY = range(10_000, 10_006)
"""Seeds that the count of the nights does not reach."""
NIGHTLY, SITTING = 2_000, 1_800  # histories, and seconds a night


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    made = Tables(tmp_path_factory.mktemp("hudi"))
    yield made
    made.hudi.close()


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_calls_of_an_operation_are_those_of_the_page(name: str, tables: Tables) -> None:
    with tables.copy(name) as path:
        calls = tables.run(path, name)["calls"]
    in_parallel = sorted if name == "archive" else list  # an archive deletes instants in several threads
    assert kinds(calls) == FIGURES[name]["calls"]
    assert in_parallel(seen_by_others(calls)) == in_parallel(FIGURES[name]["seen"])
    assert {action(name, change) for change in seen_by_others(calls)} <= mechanisms.actions().keys()


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "tear"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_fault_at_a_call_has_an_outcome_of_the_page(name: str, fault: str, tables: Tables) -> None:
    for number in range(STRIDE // 2, sum(FIGURES[name]["calls"].values()), STRIDE):
        with tables.copy(name) as path:
            seen = point(tables, path, name, number, fault)
        of_page = FIGURES[name]["stalls"] if fault == "stall" else FIGURES[name]["faults"][fault]["left"]
        assert outcome(seen) in of_page, seen
        assert (seen.get("validate", "OK"), seen.get("recovery", "right")) == ("OK", "right"), seen


@pytest.mark.parametrize("seed", BY_DAY)
def test_a_random_history_is_right_or_shows_a_finding(seed: int, tables: Tables, tmp_path: Path) -> None:
    played, found = history(tables, seed)
    assert explained(played, found), save(tmp_path / "run.json", played, found).read_text("utf-8")


def test_a_history_is_replayed_from_its_file(tables: Tables, tmp_path: Path) -> None:
    played, found = history(tables, BY_DAY[0])
    cast, steps = load(save(tmp_path / "run.json", played, found))
    repeated, verdict = again(tables, cast, steps)
    assert (repeated.steps, verdict) == (played.steps, found)


@pytest.mark.parametrize("run", sorted(RUNS.glob("*.json")), ids=lambda path: path.stem)
def test_the_shortest_run_of_a_finding_shows_it(run: Path, tables: Tables) -> None:
    played, found = again(tables, *load(run))
    assert explained(played, found) == run.stem, found


@pytest.mark.parametrize("number", range(STRIDE // 2, len(runs()), STRIDE))
def test_a_run_of_a_tour_is_right_or_shows_a_finding(number: int, tables: Tables) -> None:
    played, found = toured(tables, number)
    assert explained(played, found), found


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_two_thousand_histories_are_right_or_show_a_finding(tables: Tables, tmp_path: Path) -> None:
    """Over as many nights as it takes: the state file in specs/soak is committed with the code."""
    assert not soak(tables, STATE, NIGHTLY, SITTING, tmp_path)
