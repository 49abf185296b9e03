"""Apache Hudi, stopped at each of its storage calls: the calls are those of specs/hudi-calls.json, a fault at a call
leaves a table that readers and Hudi's recovery find right, and random histories are right or show a known finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from nbcc.model import Step, mechanisms
from nbcc.simulator.lockstep.schedule import Choose
from tools.hudi_calls.cast import MODES, NO_LOCK, OCC, SHORT_WAITS, ZOOKEEPER_BY_PATH, Cast, draw_cast, writer
from tools.hudi_calls.crashes import FAULTS, point
from tools.hudi_calls.groups import recorded_groups
from tools.hudi_calls.labels import action, named, seen_by_others
from tools.hudi_calls.play import Played, play
from tools.hudi_calls.soak import RUNS, STATE, again, history, load, save, soak
from tools.hudi_calls.summary import load as figures
from tools.hudi_calls.summary import outcome
from tools.hudi_calls.tables import OPERATIONS, Tables, kinds
from tools.hudi_calls.tours import runs, toured
from tools.hudi_calls.verdict import RIGHT, explained, verdict

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


def test_the_reads_of_an_action_are_those_of_the_page(tables: Tables) -> None:
    found = recorded_groups(tables)
    assert found == {name: figures["groups"] for name, figures in FIGURES.items()}


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


def is_replayable(seed: int) -> bool:
    """Return whether a history takes no lock file: in one JVM its clients wait for each other in no fixed order."""
    return "lock file" not in draw_cast(Random(seed).randrange)[0].mode


@pytest.mark.parametrize("seed", [seed for seed in BY_DAY if is_replayable(seed)])
def test_a_history_is_replayed_from_its_file(seed: int, tables: Tables, tmp_path: Path) -> None:
    played, found = history(tables, seed)
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


class Overtaking:
    """w2 puts its inflight instant. Then w1 goes on until it publishes its completed instant, where it waits until w2
    has ended, or waits for the lock.
    """

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Do nothing: both write from the start."""
        self._taken: list[str] = []

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        calls = {step.actor: named(str(dict(step.args)["call"])) for step in enabled}
        publishes = calls.get("w1") == "rename deltacommit completed"
        first = "w2" if publishes or "rename deltacommit inflight" not in self._taken else "w1"
        step = next((step for step in enabled if step.actor == first), enabled[0])
        self._taken.append(calls[step.actor])
        return step


def overtaken(tables: Tables, mode: str, options: Mapping[str, str]) -> tuple[Played, str]:
    """Play two upserts of one row, the second one while the first one publishes, and judge them."""
    cast = Cast("upsert", mode, {"w1": writer("w1", 2), "w2": writer("w2", 3)})
    with tables.copy("upsert", {**options, **SHORT_WAITS}) as path:
        played = play(tables, path, cast, Overtaking())
        return played, verdict(tables, path, played)


OPTIMISTIC = {mode: options for mode, options in MODES.items() if mode.startswith("optimistic")}


@pytest.mark.parametrize(
    ("mode", "options"), [*OPTIMISTIC.items(), ("optimistic, ZooKeeper by path", {**OCC, **ZOOKEEPER_BY_PATH})]
)
def test_a_lock_makes_the_second_of_two_optimistic_writers_give_way(
    mode: str, options: Mapping[str, str], tables: Tables
) -> None:
    played, found = overtaken(tables, mode, options)
    assert (found, [*played.completed]) == (RIGHT, ["w1"])


def test_the_judges_see_what_a_lock_prevents(tables: Tables) -> None:
    """Hudi's provider that locks nothing: both writers find no conflict, and both complete."""
    _, found = overtaken(tables, "optimistic", {**OCC, **NO_LOCK})
    assert found == "w2 completed during w1, and w1 completed"


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_two_thousand_histories_are_right_or_show_a_finding(tables: Tables, tmp_path: Path) -> None:
    """Over as many nights as it takes: the state file in specs/soak is committed with the code."""
    assert not soak(tables, STATE, NIGHTLY, SITTING, tmp_path)
