"""The simulated lock and cores alone, in cases with a known answer."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
import simpy

from nbcc.simulator.workload.cores import SharedCores
from nbcc.simulator.workload.costs import Sampler, calibration, store, verb_of
from nbcc.simulator.workload.lock import POLL, SimulatedLock
from nbcc.simulator.workload.scenario import LockOptions, Provider

Process = Generator[simpy.Event, Any, None]


class Case:
    """A lock, and the times at which each actor held it."""

    def __init__(self, provider: Provider, wait: float = 60.0) -> None:
        self.env = simpy.Environment()
        latencies = store("local" if provider == "file" else "s3", calibration())
        sampler = Sampler(latencies, np.random.default_rng(1))
        self.lock = SimulatedLock(self.env, LockOptions(provider, wait=wait), sampler, random.Random(1))
        self.held: list[tuple[str, float]] = []

    def hold(self, actor: str, begins: float, seconds: float, again_after: float | None = None) -> None:
        """Let an actor hold the lock, and ask for it again some seconds after its release."""

        def act() -> Process:
            yield self.env.timeout(begins)
            for pause in [0.0] if again_after is None else [0.0, again_after]:
                yield self.env.timeout(pause)
                if (yield self.lock.ask(actor)) is None:
                    return
                self.held.append((actor, self.env.now))
                yield self.env.timeout(seconds)
                self.lock.free(seconds)

        self.env.process(act())

    def order(self) -> list[str]:
        self.env.run()
        return [actor for actor, _ in self.held]


def test_the_last_holder_takes_a_lock_again_that_the_waiting_actors_do_not_find_yet() -> None:
    soon, late = Case("file"), Case("file")
    for case, pause in ((soon, POLL["file"] / 1000), (late, 2 * POLL["file"])):
        case.hold("a", 0.0, 1.0, again_after=pause)
        case.hold("b", 0.503, 1.0)  # it tries again 3 ms after the release
    assert soon.order() == ["a", "a", "b"]
    assert late.order() == ["a", "b", "a"]


def test_waiting_actors_find_a_free_lock_within_one_interval() -> None:
    case = Case("file")
    case.hold("a", 0.0, 1.0)
    for place, actor in enumerate("bcd"):
        case.hold(actor, 0.501 + place / 1000, 1.0)
    assert sorted(case.order()) == ["a", "b", "c", "d"]
    waits = [late - early - 1.0 for (_, early), (_, late) in zip(case.held, case.held[1:], strict=False)]
    assert all(0 <= wait <= POLL["file"] for wait in waits)
    assert case.lock.busy == pytest.approx(4.0 + sum(waits))


def test_zookeeper_lets_no_actor_overtake() -> None:
    case = Case("zookeeper")
    case.hold("a", 0.0, 1.0, again_after=0.0)
    case.hold("b", 0.5, 1.0)
    assert case.order() == ["a", "b", "a"]


def test_a_former_holder_of_a_lease_sends_one_more_put() -> None:
    """It first tries to replace the version that it has released (engine.lock.storage_lock)."""
    new, former = Case("lease"), Case("lease")
    for case in (new, former):
        case.hold("a", 0.0, 1.0)
        case.hold("b", 10.0, 1.0)
        case.hold("a" if case is former else "c", 20.0, 1.0)
        case.order()
    assert former.lock.requests == {**new.lock.requests, "put": new.lock.requests["put"] + 1}


def test_a_wait_ends_at_the_wait_time_of_the_lock() -> None:
    case = Case("file", wait=2.0)
    case.hold("a", 0.0, 5.0)
    case.hold("b", 1.0, 1.0)
    assert case.order() == ["a"]
    assert case.lock.timeouts == 1


def test_computations_share_the_cores_and_sleepers_do_not() -> None:
    env = simpy.Environment()
    cores = SharedCores(env, 2)
    ended: dict[str, float] = {}

    def compute(name: str, begins: float, seconds: float, streams: int = 1) -> Process:
        yield env.timeout(begins)
        yield cores.compute(seconds, streams)
        ended[name] = env.now

    for name, begins, seconds in (("a", 0.0, 3.0), ("b", 0.0, 3.0), ("late", 1.0, 1.0)):
        env.process(compute(name, begins, seconds))
    env.process(compute("four threads", 10.0, 1.0, streams=4))
    env.run()
    # From 1 s on three computations share two cores until the short one ends, 1.5 s later.
    assert ended == pytest.approx({"a": 3.5, "b": 3.5, "late": 2.5, "four threads": 12.0})


def test_a_delete_on_a_file_system_costs_as_much_as_a_put_if_it_is_durable() -> None:
    assert verb_of("delete log", is_local=True) == "put"
    assert verb_of("delete marker", is_local=True) == verb_of("delete log", is_local=False) == "delete"
