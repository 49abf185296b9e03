"""MUTEX and LEASE of the lock protocols, their mutants and the stores are what was accepted in specs/locks.json."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.search.jobs import try_job
from nbcc.simulator.search.locks import LockLimits, NumberedLockModel, StorageLockModel, StorageLockRules
from nbcc.simulator.search.verdicts import DEPTHS, Depth, judge_locks, load_locks, locks_data, up_to
from nbcc.simulator.search.verdicts.locks import LockVerdicts, rows

WORKERS = 1 if os.environ.get("PYTEST_XDIST_WORKER") else (os.cpu_count() or 1)


def label(row: LockVerdicts) -> str:
    return f"{row.name}-{row.lock}-{row.depth}"


def verdict_of(name: str, lock: str, promise: str) -> Any:
    rows_of = [row for row in load_locks()["rows"] if (row["name"], row["lock"]) == (name, lock)]
    return rows_of[0]["promises"][promise]


def steps_of(name: str, lock: str, promise: str) -> int | None:
    """The accepted length of a shortest run that breaks the promise."""
    steps: int | None = verdict_of(name, lock, promise).get("steps")
    return steps


LOCKS = [row for row in rows() if (row.kind, row.depth) == ("lock", "quick")]
BROKEN = [row for row in rows() if row.kind == "mutant" or row.name == "no-conditions"]


@pytest.mark.parametrize("row", LOCKS, ids=label)
def test_a_lock_of_the_engine_has_its_accepted_verdicts(row: Any) -> None:
    found = replace(row, results=tuple(try_job(job) for job in row.jobs))
    assert locks_data([found])["rows"][0] in load_locks()["rows"]


@pytest.mark.parametrize("row", BROKEN, ids=label)
def test_a_mutant_has_its_accepted_shortest_run(row: Any) -> None:
    """The nightly test searches its other promise, too."""
    accepted = {promise: steps for promise in ("MUTEX", "LEASE") if (steps := steps_of(row.name, row.lock, promise))}
    found = try_job(row.jobs[0], max_depth=max(accepted.values())).promises
    broken = {name: each.steps for name, each in found.items() if each.verdict is Verdict.VIOLATED}
    assert broken == accepted


@pytest.mark.nightly
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("depth", DEPTHS)
def test_the_verdicts_are_what_was_accepted(depth: Depth) -> None:
    """`nbcc verdicts --locks --accept` writes them again: find out why first."""
    assert locks_data(judge_locks(depth, workers=WORKERS)) == up_to(load_locks(), depth)


@pytest.mark.nightly
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("limits", [LockLimits(), LockLimits(attempts=2)])
@pytest.mark.parametrize("kind", [StorageLockModel, NumberedLockModel])
def test_a_lock_protocol_keeps_its_promises_in_larger_worlds(kind: Any, limits: LockLimits) -> None:
    result = explore(kind(limits), kind.promises, reduce=True)
    assert {promise.verdict for promise in result.promises.values()} == {Verdict.HOLDS}


def test_every_lock_and_mutant_of_the_file_has_accepted_verdicts() -> None:
    accepted = [(row["name"], row["lock"], row["depth"], row["about"]) for row in load_locks()["rows"]]
    assert accepted == [(row.name, row.lock, row.depth, row.about) for row in rows()]


def test_a_lock_of_the_engine_holds_and_each_mutant_is_violated() -> None:
    for row in load_locks()["rows"]:
        verdicts = {cell["verdict"] for cell in row["promises"].values()}
        if row["kind"] == "lock":
            assert verdicts == {"HOLDS"}, row["name"]
        if row["kind"] == "mutant":
            assert "VIOLATED" in verdicts, row["name"]


def test_a_store_without_conditions_gives_a_lock_to_two_and_a_store_with_failed_answers_does_not() -> None:
    for lock in ("storage-lock", "numbered-lock"):
        assert verdict_of("no-conditions", lock, "MUTEX")["verdict"] == "VIOLATED"
        assert verdict_of("failed-answers", lock, "MUTEX")["verdict"] == "HOLDS"


def test_the_decision_log_loses_no_row_to_a_late_put() -> None:
    assert verdict_of("late-puts", "table, lock", "SNAP") == {"verdict": "VIOLATED", "steps": 19}
    assert verdict_of("late-puts", "table, log", "SNAP") == {"verdict": "HOLDS"}


def test_two_contenders_take_the_lock_because_an_expired_lease_leaves_no_margin() -> None:
    system = StorageLockModel(LockLimits(faults=0, crashes=0), StorageLockRules(margin=0))
    found = explore(system, system.promises, max_depth=7).promises["MUTEX"]
    assert found.because == "c1 and c2 hold the lock at the same time"
    assert [f"{step.actor} {step.action}" for step in found.trace or ()] == [
        "c1 contender_finds_lease_free", "c1 put_is_answered", "c1 clock_ticks", "c2 clock_ticks", "c2 clock_ticks",
        "c2 contender_finds_lease_free", "c2 put_is_answered",
    ]  # fmt: skip


def test_a_search_that_is_cut_off_is_undetermined() -> None:
    row = next(iter(rows()))
    result = try_job(row.jobs[0], max_states=100)
    assert {each.verdict for each in result.promises.values()} == {Verdict.UNDETERMINED}
