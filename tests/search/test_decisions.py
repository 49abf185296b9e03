"""Locks that are lost while their holders live: what a fence keeps, what the decision log keeps, and at what price."""

from __future__ import annotations

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore

from .pins import search, violated

LOST = specs.world("lost_lock")


def test_by_the_lock_alone_a_row_is_lost() -> None:
    assert violated(search(Model(LOST))).keys() >= {"SNAP", "PART", "QUIET", "MONO", "TRAVEL"}


def test_the_log_keeps_everything() -> None:
    result = search(Model(LOST, Protocol(decision="log")))
    assert result.verdict is Verdict.HOLDS
    assert result.deadlock is None


def test_without_claims_a_request_and_a_barrier_may_be_equal() -> None:
    """MONO breaks; and a row is lost where a log of that time counts as the compaction's own."""
    unclaimed = Protocol(decision="log", claims="none")
    assert violated(search(Model(LOST, unclaimed))).keys() == {"MONO"}
    by_time = unclaimed.replace(tombstone_logs="by_time")
    assert violated(search(Model(LOST, by_time))).keys() == {"MONO", "SNAP", "TRAVEL", "INCR", "CDC", "QUIET"}


@pytest.mark.parametrize("losses", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_claims_keep_everything_where_clocks_differ_too(losses: int) -> None:
    world = specs.world("lost_lock_skewed").replace(lock_losses=losses)
    assert violated(search(Model(world, Protocol(decision="log")))) == {}


def test_the_log_loses_nothing_under_crashes_either() -> None:
    world = LOST.replace(actors={"writer": 2}, crashes=1, compactions=0)
    assert violated(search(Model(world, Protocol(decision="log")))) == {}


@pytest.mark.parametrize("name", ["lost_lock_loads", pytest.param("lost_lock_rollback", marks=pytest.mark.nightly)])
def test_the_log_decides_bulk_inserts_and_rollbacks_as_well(name: str) -> None:
    """A write is committed or rolled back, no matter which actor lost which lock; a base file never comes late."""
    world = specs.world(name)
    assert set(violated(search(Model(world)))) >= {"SNAP", "QUIET", "MONO"}
    assert violated(search(Model(world, Protocol(decision="log")))) == {}


@pytest.mark.parametrize(
    "name",
    ["lost_lock_restores", "lost_lock_replaces", pytest.param("lost_lock_log_compaction", marks=pytest.mark.nightly)],
)
def test_the_log_decides_plans_of_restores_replaces_and_log_compactions_as_well(name: str) -> None:
    world = specs.world(name)
    assert set(violated(search(Model(world)))) >= {"TRAVEL", "MONO"}
    assert violated(search(Model(world, Protocol(decision="log")))) == {}


@pytest.mark.parametrize(("world", "kind"), [("restores_crash", "restore"), ("log_compaction_crash", "log compaction")])
def test_what_a_dead_service_has_decided_is_published_by_another(world: str, kind: str) -> None:
    result = search(Model(specs.world(world), Protocol(decision="log")))
    assert violated(result) == {}, kind
    assert result.promises["PROGRESS"].verdict is not Verdict.VIOLATED


def test_by_the_lock_alone_a_write_is_committed_and_rolled_back() -> None:
    world = specs.world("lost_lock_rollback").replace(actors={"writer": 1, "rollbacker": 1})
    found = explore(Model(world), [PROMISES["REC"]], until_all_broken=True).promises["REC"]
    assert found.steps == 10
    assert "is completed, and a rollback of it is on the timeline" in str(found.because)
    assert explore(Model(world, Protocol(decision="log")), [PROMISES["REC"]]).promises["REC"].verdict is Verdict.HOLDS


def test_a_service_publishes_what_the_dead_have_decided() -> None:
    """Else a write that is decided would be neither there nor rolled back, until the next decision."""
    world = specs.world("failed_writer").replace(actors={"writer": 1, "rollbacker": 1}, stalls=0)
    result = search(Model(world, Protocol(decision="log")))
    assert violated(result) == {}
    assert result.promises["PROGRESS"].verdict is Verdict.HOLDS


def test_a_fence_keeps_late_puts_out_and_not_late_times() -> None:
    """An actor without its lock may still take a time after its successor did and put first: no store has seen a newer.

    And the plan of a compactor whose put is refused is left: it lives, so no other compactor resumes it.
    """
    result = search(Model(LOST, Protocol(fencing="storage")))
    assert violated(result).keys() == {"SNAP", "INCR", "CDC", "MONO", "TRAVEL", "RO", "FREE", "PROGRESS"}
    trace = result.promises["PROGRESS"].trace
    assert trace is not None
    assert "compactor_publishes_instant" in [step.action for step in trace]
    assert "the compaction planned at t" in str(result.promises["PROGRESS"].because)


def test_what_a_fence_refuses_is_a_live_write() -> None:
    model = Model(LOST, Protocol(fencing="storage"))
    trace = explore(model, [PROMISES["FREE"]], until_all_broken=True).promises["FREE"].trace
    assert trace is not None
    assert [step.action for step in trace][-1] == "writer_publishes_instant"
    assert "lock_is_lost" in [step.action for step in trace]


def test_where_no_lock_is_lost_neither_costs_anything() -> None:
    demo = specs.world("demo")
    fenced, plain = (search(Model(demo, Protocol(fencing=each))) for each in ("storage", "none"))
    assert (fenced.distinct, fenced.generated) == (plain.distinct, plain.generated)
    assert search(Model(demo, Protocol(decision="log"))).verdict is Verdict.HOLDS


@pytest.mark.parametrize("decision", ["lock", "log"])
def test_no_step_of_a_writer_looks_at_another(decision: str) -> None:
    """FREE by footprints: what a writer reads is its own, the lock, the clock, and what is published or decided."""
    model = Model(specs.world("crash_resume"), Protocol.from_mapping({"decision": decision}))
    shared = {"lock", "clock", "published", "decisions"}
    for row in model.transitions:
        if row.action.startswith("writer_"):
            assert set(row.reads) <= {row.actor, *shared}, row


@pytest.mark.parametrize(
    "world",
    [
        World(actors={"writer": 2}, lost_answers=1),
        World(actors={"writer": 1}, writes_per_writer=2, lost_answers=1),
        World(actors={"writer": 2}, lost_answers=1, lock_losses=1),
    ],
)
def test_a_writer_recognises_its_own_decision(world: World) -> None:
    """Its answer is lost. A writer that takes the entry for another one's reports a failure although it committed."""
    right = search(Model(world, Protocol(decision="log")))
    assert violated(right) == {}
    assert right.promises["ACK"].verdict is Verdict.HOLDS
    wrong = search(Model(world, Protocol(decision="log", lost_answer="reported_failed")))
    assert violated(wrong).keys() == {"ACK"}
    assert "writer_reports_failure" in [step.action for step in wrong.promises["ACK"].trace or ()]
