"""Locks lost at any step: engine and model lose the same rows with a lock alone, and none with the decision log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.model import Protocol, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems import System
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.engine_rules import rules_of
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.trace import Batches

LOST = specs.world("lost_lock")
ROLLBACK, LOADS = specs.world("lost_lock_rollback"), specs.world("lost_lock_loads")
RESTORES, REPLACES = specs.world("lost_lock_restores"), specs.world("lost_lock_replaces")
TWO_RESTORE = {"writer": 2, "savepointer": 1, "restorer": 2, "compactor": 1}
SEVERAL = RESTORES.replace(actors=TWO_RESTORE, compactions=1, crashes=1)
LOG_COMPACTIONS = specs.world("lost_lock_log_compaction")
TWO_UNDO = ROLLBACK.replace(actors={"writer": 1, "rollbacker": 2}, crashes=1, lock_losses=2)
MANY = LOST.replace(actors={"writer": 3, "compactor": 2}, lock_losses=2, crashes=1, compactions=2)


SKEWED = specs.world("lost_lock_skewed")


@pytest.mark.parametrize("seed", [0, 1])
def test_the_engine_without_claims_is_seen_within_200_histories(seed: int) -> None:
    def unclaimed(world: World, protocol: Protocol, batches: Batches) -> System:
        rules = replace(rules_of(protocol), claims="none", tombstone_logs="by_time")
        return EngineSystem(world, protocol, rules=rules)

    setting = CheckOptions(unclaimed, protocol=Protocol(decision="log"), world=SKEWED, readers=())
    report = run(setting, examples=200, seed=seed, shrinks=False)
    assert report.disagreement is not None, f"not seen with seed {seed} in {report.histories} histories"


@pytest.mark.parametrize(
    ("world", "decision", "histories"),
    [
        (LOST, "lock", 25),
        (LOST, "log", 25),
        (MANY, "log", 15),
        (ROLLBACK, "lock", 10),
        (ROLLBACK, "log", 20),
        (TWO_UNDO, "log", 10),
        (LOADS, "log", 10),
        (RESTORES, "log", 8),
        (SEVERAL, "log", 5),
        (REPLACES, "log", 8),
        (LOG_COMPACTIONS, "log", 6),
        (SKEWED, "log", 40),
        (SKEWED, "lock", 15),
    ],
    ids=[
        "by lock",
        "by log",
        "by log, with crashes",
        "rollback by lock",
        "rollback by log",
        "two undo",
        "bulk insert",
        "restore by log",
        "restores, with crashes",
        "replace",
        "log compaction",
        "skewed clocks by log",
        "skewed clocks by lock",
    ],
)
def test_engine_and_model_agree_where_locks_are_lost(world: World, decision: str, histories: int) -> None:
    protocol = Protocol.from_mapping({"decision": decision})
    report = run(
        CheckOptions(factory("engine"), protocol=protocol, world=world, readers=()), examples=histories, seed=0
    )
    assert report.disagreement is None, report.text
    assert report.histories >= histories
