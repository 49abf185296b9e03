"""The lock protocols keep MUTEX and LEASE in every interleaving; each mutant of a rule breaks one in a short run."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.simulator.explore import Verdict, explore
from nbcc.simulator.locks import LockLimits, NumberedLockModel, NumberedLockRules, StorageLockModel, StorageLockRules

NO_CRASH = LockLimits(crashes=0)
NO_FAULT = LockLimits(faults=0)
NEITHER = LockLimits(faults=0, crashes=0)


@pytest.mark.parametrize("limits", [NO_CRASH, NO_FAULT])
@pytest.mark.parametrize("kind", [StorageLockModel, NumberedLockModel])
def test_a_lock_protocol_keeps_its_promises(kind: Any, limits: LockLimits) -> None:
    result = explore(kind(limits), kind.promises, reduce=True)
    assert {promise.verdict for promise in result.promises.values()} == {Verdict.HOLDS}


@pytest.mark.nightly
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("limits", [LockLimits(), LockLimits(attempts=2)])
@pytest.mark.parametrize("kind", [StorageLockModel, NumberedLockModel])
def test_a_lock_protocol_keeps_its_promises_in_larger_worlds(kind: Any, limits: LockLimits) -> None:
    result = explore(kind(limits), kind.promises, reduce=True)
    assert {promise.verdict for promise in result.promises.values()} == {Verdict.HOLDS}


MUTANTS: list[tuple[Any, LockLimits, Any, str, int]] = [
    (StorageLockModel, NO_CRASH, StorageLockRules(recognises_own=False), "LEASE", 8),
    (StorageLockModel, NO_CRASH, StorageLockRules(renews_after_412=False), "LEASE", 11),
    (StorageLockModel, NEITHER, StorageLockRules(margin=0), "MUTEX", 7),
    (NumberedLockModel, NO_CRASH, NumberedLockRules(recognises_own=False), "LEASE", 8),
    (NumberedLockModel, NEITHER, NumberedLockRules(margin=0), "MUTEX", 12),
    (NumberedLockModel, NEITHER, NumberedLockRules(tidies_newest=True), "MUTEX", 8),
    (NumberedLockModel, NEITHER, NumberedLockRules(renews_late=True), "MUTEX", 16),
]


@pytest.mark.parametrize(("kind", "limits", "rules", "promise", "steps"), MUTANTS)
def test_a_mutant_of_a_lock_protocol_is_violated(
    kind: Any, limits: LockLimits, rules: Any, promise: str, steps: int
) -> None:
    (asked,) = (each for each in kind.promises if each.name == promise)
    found = explore(kind(limits, rules), [asked], max_depth=steps).promises[promise]
    assert (found.verdict, len(found.trace or ())) == (Verdict.VIOLATED, steps), found.because


def test_two_contenders_take_the_lock_because_an_expired_lease_leaves_no_margin() -> None:
    system = StorageLockModel(NEITHER, StorageLockRules(margin=0))
    found = explore(system, system.promises, max_depth=7).promises["MUTEX"]
    assert found.because == "c1 and c2 hold the lock at the same time"
    assert [f"{step.actor} {step.action}" for step in found.trace or ()] == [
        "c1 contender_finds_lease_free", "c1 put_is_answered", "c1 clock_ticks", "c2 clock_ticks", "c2 clock_ticks",
        "c2 contender_finds_lease_free", "c2 put_is_answered",
    ]  # fmt: skip
