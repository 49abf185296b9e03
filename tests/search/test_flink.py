"""Flink jobs: each option of `flink-1.2.0` alone breaks a promise, and the default breaks none in the same world."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES, flink
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import explore
from nbcc.simulator.search.explore.result import PromiseResult

HUDI = specs.protocol("flink-1.2.0").differences()
MUTANTS = tuple(each for each in mutants.names() if each.startswith("flink-"))
JOB: dict[str, Any] = {"actors": {"flink_job": 1}, "writes_per_writer": 2}
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "coordinator_state": ("ACK", 13, {**JOB, "commit_failures": 1}),
    "restored_id": ("ONCE", 20, {**JOB, "job_manager_deaths": 1}),
    "recommit_check": ("FIRST", 19, {**JOB, "job_manager_deaths": 1}),
    "flink_rollback": ("ACK", 7, {"actors": {"flink_job": 2}, "job_manager_deaths": 1, "undone_instants": 1}),
    "older_checkpoint": ("ONCE", 29, {**JOB, "job_manager_deaths": 1, "older_restarts": 1}),
    "write_error": ("ACK", 6, {**JOB, "write_errors": 1}),
    "window_merge": ("INCR", 18, {"actors": {"writer": 1, "compactor": 1}, "writes_per_writer": 2}),
}


def test_each_difference_from_the_default_has_a_case() -> None:
    assert set(HUDI) == set(CASES)


@pytest.mark.parametrize("option", CASES)
def test_an_option_alone_breaks_its_promise_and_the_default_does_not(option: str) -> None:
    name, steps, world = CASES[option]
    usual = {"concurrency": "occ"} if option == "recommit_check" else {}
    broken = searched(world, {**usual, option: HUDI[option]}, name)
    assert broken.trace is not None
    assert (broken.verdict, len(broken.trace)) == ("VIOLATED", steps)
    assert searched(world, usual, name).verdict == "HOLDS"


def test_metadata_of_an_aborted_checkpoint_is_committed_besides_the_new() -> None:
    """ONCE says first that the commit names no checkpoint. This asks for two commits of a batch alone."""

    def twice(model: Model, before: object, step: object, after: int) -> str | None:
        found = flink.committed_twice(model, after)
        return found if found and "committed twice" in found else None

    world = World(**JOB, job_manager_deaths=1, task_manager_deaths=1)
    promise = replace(PROMISES["ONCE"], holds=twice)
    for restored, verdict in (("none", "VIOLATED"), ("of_checkpoint", "HOLDS")):
        model = Model(world, Protocol(restored_id=restored))
        found = explore(model, [promise], until_all_broken=True).promises["ONCE"]
        assert found.verdict == verdict
        assert found.trace is None or len(found.trace) == 29


def searched(world: dict[str, Any], protocol: dict[str, str], name: str) -> PromiseResult:
    model = Model(World(**world), Protocol.from_mapping(protocol))
    return explore(model, [PROMISES[name]], until_all_broken=True).promises[name]


@pytest.mark.parametrize("world", sorted({mutants.load(name).world for name in MUTANTS}))
def test_a_job_keeps_its_promises(world: str) -> None:
    """Each mutant of a Flink job turns this red in its world (tests/quality/test_mutants.py)."""
    found = explore(Model(specs.world(world)), [PROMISES["ACK"], PROMISES["ONCE"]]).promises
    assert {each.verdict for each in found.values()} == {"HOLDS"}
