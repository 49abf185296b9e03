"""The mapping names every action, and no observer sees what it leaves out of the comparison."""

from __future__ import annotations

import random

import pytest

from nbcc.engine.actions import operations
from nbcc.model import Model, Protocol, Query, World
from nbcc.model.mechanisms import actions
from nbcc.simulator import specs
from nbcc.simulator.lockstep.control.clock import EPOCH, instant_of, tick_of
from nbcc.simulator.lockstep.control.footprints import is_unobserved
from nbcc.simulator.lockstep.crosscheck.generators import draw_batches, draw_world, keys_of
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.readers import AS_HUDI_RS
from nbcc.simulator.lockstep.mapping import MAPPING, by_action
from nbcc.simulator.lockstep.mechanism import CRASH, FAULT, SPARK
from nbcc.simulator.lockstep.schedule import Random
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.observables import final_queries


def test_every_action_of_the_model_has_a_row_and_every_row_an_operation() -> None:
    rows = by_action(MAPPING)
    assert rows.keys() == actions().keys()
    assert {row.operation for row in MAPPING} - {CRASH, FAULT, SPARK} <= operations().keys()


def test_two_rows_for_an_action_are_an_error() -> None:
    with pytest.raises(ValueError, match="two rows for writer_takes_lock"):
        by_action([*MAPPING, by_action(MAPPING)["writer_takes_lock"]])


def test_instants_and_ticks_are_the_same_number() -> None:
    assert instant_of(0) == EPOCH.strftime("%Y%m%d%H%M%S") + "000"
    for tick in (0, 1, 999, 1000, 61_001, 86_400_000):
        assert tick_of(instant_of(tick)) == tick
    assert [instant_of(n) for n in range(3000)] == sorted(instant_of(n) for n in range(3000))


def test_the_setting_of_hudi_rs_is_the_protocol_file() -> None:
    assert specs.protocol("hudi-rs-0.5.0") == AS_HUDI_RS


def test_keys_live_in_their_file_group_and_nowhere_else() -> None:
    world = World(buckets=3, partitions=2, keys=2)
    keys = [keys_of(world, group) for group in range(world.groups)]
    assert len({key for some in keys for key in some}) == 2 * world.groups


def test_no_observer_reads_unobserved_objects() -> None:
    """Without inflight files, markers and partition metadata every read answers the same."""
    choose = random.Random(7).randrange
    world = draw_world(choose)
    batches = draw_batches(choose, world)
    system = EngineSystem(world, Protocol())
    history = PlayedHistory(Model(world), system, batches)
    schedule = Random()
    while enabled := history.enabled():
        step = schedule.next(choose, enabled)
        assert step is not None
        history.take(step)
    queries = [Query("snapshot"), *final_queries(history.timeline)]
    before = [system.rows(query) for query in queries]
    unobserved = [entry.path for entry in system.harness.storage.list("") if is_unobserved(entry.path)]
    assert any(path.endswith(".inflight") for path in unobserved)
    for path in unobserved:
        system.harness.storage.delete(path)
    assert [system.rows(query) for query in queries] == before
    assert any(before)
