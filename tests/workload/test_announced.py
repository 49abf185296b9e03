"""Commits that writers announce, in the simulation: laws of `shared` and `free`, and their costs against the lock."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from itertools import chain
from statistics import median
from typing import Any, get_args

import pytest

from benchmarks.requests import GOALS
from nbcc.engine.config.concurrency import NON_BLOCKING
from nbcc.engine.writes import looking_ahead
from nbcc.simulator.workload.announced import AnnouncedCommit
from nbcc.simulator.workload.costs import Calibration, Sampler, StageCost, Touched, calibration, programs
from nbcc.simulator.workload.measures import Measures
from nbcc.simulator.workload.scenario import (
    Decision,
    LockOptions,
    Mode,
    Publication,
    RandomCrashes,
    Reads,
    Scenario,
    TableLoad,
    WriterLoad,
)
from nbcc.simulator.workload.simulation import Simulation
from nbcc.simulator.workload.writers import start_writers
from tools.accesses.programs import Point, upsert
from tools.writers.sweeps import WRITTEN, replaced

TIMES = calibration()
ROUND = 0.02  # seconds of a request
IN_SEQUENCE: dict[Decision, int] = {
    "lock": GOALS["lock, put_if_absent"][0], "log": GOALS["log, put_if_absent"][0], "shared": GOALS["shared"][0],
    "free": GOALS["free"][0],
}  # fmt: skip


def run(
    decision: Decision, writers: int, mode: Mode = "nbcc", publication: Publication = "ascending", *, groups: int = 2,
    times: Calibration = TIMES, data: StageCost | None = None, **other: object,
) -> tuple[Simulation, Measures]:
    case = Scenario(
        name="announced", hours=60 / 3600, store="server-20ms", table=TableLoad(1, groups), reads=Reads(every=0.0),
        lock=LockOptions(skew=0.005, decision=decision, publication=publication, requests="put_if_absent"),
        writers=(WriterLoad("w", writers, arrival="continuous", rows=200),), **other,  # type: ignore[arg-type]
    )  # fmt: skip
    simulation = Simulation(case, mode, times, 1)
    if data is not None:
        simulation.program["nbcc write"] = replaced(simulation.program["nbcc write"], data)
        simulation.store = replace(simulation.store, core_seconds=0.0)
    start_writers(simulation)
    return simulation, simulation.finish()


def decided(simulation: Simulation) -> list[AnnouncedCommit]:
    assert simulation.announcements is not None
    return [*chain.from_iterable(simulation.announcements.entries)]


@pytest.mark.parametrize("decision", ["shared", "free"])
@pytest.mark.parametrize("every", [0.0, 20.0], ids=["all live", "crashes"])
def test_instants_are_decided_once_and_published_in_the_order_of_entries(decision: Decision, every: float) -> None:
    simulation, measures = run(decision, 8, crashes=RandomCrashes(every=every, restart=1.0))
    items = decided(simulation)
    assert len(items) == len({*items})
    published = [item.settled.triggered for item in items]
    assert published == sorted(published, reverse=True)
    assert sum(published) == measures.commits > 100 * (not every)


@pytest.mark.parametrize("decision", ["shared", "free"])
def test_a_lone_writer_sends_the_requests_of_the_engine(decision: Decision, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit to one file group, of a run against that of the engine. The engine's recorder does not record a lock."""
    monkeypatch.setattr(looking_ahead, "FRESH_SECONDS", 600.0)  # this machine may be slow
    stages = upsert(True, Point(1, 0, 0), NON_BLOCKING, decision)  # type: ignore[arg-type]
    sent = Counter(request.verb for stage in stages for request in stage.requests)
    if decision == "shared":
        sent["get"] -= 1  # the recorder asks whether its instant is published before it takes a lock
    _, measures = run(decision, 1, groups=1)
    simulated = {verb: round(count / measures.commits) for verb, count in measures.requests.items()}
    assert +sent == +Counter(simulated)


@pytest.mark.parametrize("decision", ["lock", "log", "shared", "free"])
def test_a_lone_writer_sends_as_many_requests_in_sequence_as_the_engine(
    decision: Decision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until its commit is acknowledged, of a write of two files, as `python -m benchmarks requests` has counted."""
    monkeypatch.setattr(Sampler, "latency", lambda self, requests, depth: depth * ROUND)
    no_time: dict[str, Any] = {field.name: 0.0 for field in fields(TIMES) if field.type == "float"}
    none = replace(TIMES, **no_time)
    _, measures = run(decision, 1, times=none, data=WRITTEN)
    clean_up = programs("object store")["nbcc write"][3].depth(Touched(2))
    rounds = median(measures.latency) / ROUND - clean_up
    assert rounds == pytest.approx(IN_SEQUENCE[decision], abs=0.3)  # under the lock it waits for the clocks


@pytest.mark.parametrize("writers", [2, 8, 32])
def test_a_writer_fails_at_most_two_creates_without_a_lock_and_three_if_it_seemed_to_be_alone(writers: int) -> None:
    failed = [item.failed_creates for item in decided(run("free", writers)[0])]
    assert 0 < max(failed) <= 3
    assert sum(count > 2 for count in failed) < len(failed) / 100


def test_deciding_together_pays_with_eight_writers_and_costs_requests_alone() -> None:
    rates: dict[tuple[Decision, int], tuple[float, float]] = {}
    decisions: tuple[Decision, ...] = ("lock", "shared", "free")
    for decision in decisions:
        for writers in (1, 8):
            _, measures = run(decision, writers)
            sent = measures.requests.total() + measures.lock_requests.total()
            rates[decision, writers] = (measures.commits / 60, sent / measures.commits)
    assert rates["free", 8][0] > 1.2 * rates["shared", 8][0] > 1.5 * rates["lock", 8][0]
    assert rates["lock", 1][1] < rates["free", 1][1]
    assert rates["free", 8][1] < rates["lock", 8][1]


def test_only_a_lock_makes_writers_wait_for_the_lease_of_a_dead_one() -> None:
    decisions: tuple[Decision, ...] = ("lock", "shared", "free")
    crashes = RandomCrashes(every=10.0, restart=1.0)
    commits = {decision: run(decision, 8, crashes=crashes)[1].commits for decision in decisions}
    print(commits)
    assert commits["free"] > 4 * commits["lock"]
    assert commits["free"] > 2 * commits["shared"]


@pytest.mark.parametrize("decision", ["shared", "free"])
def test_of_two_optimistic_commits_to_one_group_in_an_entry_the_second_conflicts(decision: Decision) -> None:
    simulation, measures = run(decision, 4, "occ")
    assert measures.conflicts > measures.commits > 0
    assert {len(entry) for entry in simulation.announcements.entries[1:]} == {1}  # type: ignore[union-attr]


def test_publication_at_the_same_time_pays_with_the_number_of_writers() -> None:
    ascending, parallel = ([run("free", count, publication=order)[1].commits for count in (1, 16)]
                           for order in get_args(Publication))
    assert ascending[0] == parallel[0]
    assert parallel[1] > 1.2 * ascending[1]
