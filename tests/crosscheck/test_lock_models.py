"""The engine's locks take the same runs as the lock models; a wrong lock differs after some step."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from nbcc.engine.lock import numbered, storage_lock
from nbcc.engine.lock.waiting import Attempts
from nbcc.engine.storage.verified_puts import ReplaceResult
from nbcc.simulator.search.locks import LockLimits, NumberedLockModel, StorageLockModel
from tests.builders.lock_driver import LocksDiffer, NumberedLocks, StorageLocks, play

LIMITS = LockLimits(contenders=3, ticks=7, attempts=3, faults=2)
PAIRS = [(StorageLockModel, StorageLocks), (NumberedLockModel, NumberedLocks)]
RUNS = 100
STEPS = 60


@pytest.mark.parametrize(("model", "locks"), PAIRS)
def test_the_locks_of_the_engine_follow_the_models(model: Any, locks: Any) -> None:
    system, taken = model(LIMITS), Counter[str]()
    for seed in range(RUNS):
        taken += play(locks(system, random.Random(seed)), STEPS)
    assert {each.action for each in system.transitions} <= taken.keys(), "each action was taken"


def differs(model: Any, locks: Any) -> str:
    """The message of the first run after which the engine and the model differ."""
    system = model(LIMITS)
    for seed in range(RUNS):
        try:
            play(locks(system, random.Random(seed)), STEPS)
        except LocksDiffer as difference:
            return str(difference)
    return ""


@pytest.mark.parametrize(("model", "locks"), PAIRS)
def test_a_lock_that_leaves_no_margin_differs(model: Any, locks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (numbered, storage_lock):
        monkeypatch.setattr(module, "DRIFT_MS", 0)
    assert "contender_finds_lease" in differs(model, locks) or "contender_finds_number" in differs(model, locks)


@pytest.mark.parametrize(("model", "locks"), PAIRS)
def test_a_lock_that_forgets_its_failed_attempts_differs(
    model: Any, locks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Attempts, "include", lambda attempts, owner: False)
    assert "the access of" in differs(model, locks)


def test_a_lease_whose_put_is_not_recognised_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    def replaced(target: Any, data: bytes, known: Any) -> ReplaceResult:
        written = target.write(data, known)
        return ReplaceResult(written is not None, written or target.read())

    monkeypatch.setattr(storage_lock, "replace_verified", replaced)
    assert differs(StorageLockModel, StorageLocks)


def test_a_heartbeat_that_extends_an_expired_lease_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    original = numbered.NumberedLock.renew

    def renewed(lock: Any) -> bool:
        done = original(lock)
        if not done and not lock._over.is_set():
            lock._since = lock._now()
        return done

    monkeypatch.setattr(numbered.NumberedLock, "renew", renewed)
    assert "heartbeat_is_put: whether" in differs(NumberedLockModel, NumberedLocks)
