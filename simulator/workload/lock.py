"""The lock of the simulated table: its waiting actors, the delay of its hand-over, and its requests."""

from __future__ import annotations

import random
from collections import deque
from typing import Final

import simpy

from .costs import Sampler, lease_requests
from .scenario import LockOptions

POLL: Final = {"file": 0.005, "lease": 0.02}
"""Seconds between two attempts at a lock (engine.lock.between_processes, engine.lock.waiting)."""
ZOOKEEPER: Final = 0.005
"""Seconds of a write of ZooKeeper: a quorum and an fsync. An assumption; Netdata's guide to zk_updatelatency names the
steps of a write."""
ZOOKEEPER_SESSION: Final = 60.0
"""Seconds until the lock of a dead process ends (hoodie.write.lock.zookeeper.session_timeout_ms)."""
LEASE_DRIFT: Final = 0.5  # seconds for which an expired lease is still respected (engine.lock.storage_lock.DRIFT_MS)


class _Waiter:
    __slots__ = ("event", "since")

    def __init__(self, event: simpy.Event, since: float) -> None:
        self.event, self.since = event, since


class SimulatedLock:
    """The one lock of a table. `ask` returns None if the lock is free, and otherwise an event.

    The value of the event is the delay of the hand-over in seconds, or None if the wait ended without the lock. Waiting
    actors poll a lease or a file lock, so the next holder is random. ZooKeeper serves them in order.
    """

    def __init__(self, env: simpy.Environment, options: LockOptions, sampler: Sampler, choose: random.Random) -> None:
        self._env, self._options, self._sampler, self._random = env, options, sampler, choose
        self._waiting: list[_Waiter] = []
        self._by_age: deque[_Waiter] = deque()
        self._last: object = None
        self.held = False
        self.busy = 0.0
        self.acquisitions = self.waits = self.timeouts = self.longest_queue = 0
        self.polls = 0.0
        lease = lease_requests() if options.provider == "lease" else {}
        self._again = lease.get("acquisition by the last holder", {})
        self._other = lease.get("acquisition after another holder", {})
        self._release = lease.get("release", {})
        self._failed = lease.get("failed attempt", {})
        self.requests: dict[str, int] = {}

    def ask(self) -> simpy.Event | None:
        """Take the lock, or begin to wait for it."""
        if not self.held:
            self.held = True
            return None
        waiter = _Waiter(self._env.event(), self._env.now)
        self._waiting.append(waiter)
        self._by_age.append(waiter)
        self.waits += 1
        self.longest_queue = max(self.longest_queue, len(self._waiting))
        return waiter.event

    def acquired(self, actor: object) -> float:
        """The seconds of the requests of an acquisition, and its count."""
        self.acquisitions += 1
        sent = self._again if actor is self._last else self._other
        self._last = actor
        return self._sent(sent) if self._options.provider != "zookeeper" else 2 * ZOOKEEPER

    def released(self) -> float:
        """The seconds of the requests of a release."""
        return self._sent(self._release) if self._options.provider != "zookeeper" else ZOOKEEPER

    def free(self, held: float) -> None:
        """Release the lock after it was held for some seconds, and choose the next holder."""
        self.busy += held
        self._expire()
        if not self._waiting:
            self.held = False
            return
        crowd = len(self._waiting)
        place = 0 if self._options.provider == "zookeeper" else self._random.randrange(crowd)
        waiter = self._waiting[place]
        self._waiting[place] = self._waiting[-1]
        self._waiting.pop()
        if self._options.provider == "zookeeper":
            self._waiting.sort(key=_since)
        self._polled(waiter)
        waiter.event.succeed(self._hand_over(crowd))

    def _hand_over(self, crowd: int) -> float:
        """The seconds until one of `crowd` waiting actors finds the lock free."""
        if self._options.provider == "zookeeper":
            return ZOOKEEPER
        first: float = 1 - self._random.random() ** (1 / crowd)  # the least of so many uniform numbers
        return self._interval() * first

    def _interval(self) -> float:
        pause = POLL[self._options.provider]
        return pause + (self._sampler.latency(self._failed, 1) if self._failed else 0.0)

    def _polled(self, waiter: _Waiter) -> None:
        """Count the attempts of an actor that waited."""
        if self._options.provider != "zookeeper":
            polls = (self._env.now - waiter.since) / self._interval()
            self.polls += polls
            for verb, count in self._failed.items():
                self.requests[verb] = self.requests.get(verb, 0) + round(polls * count)

    def _expire(self) -> None:
        """End the waits that lasted for longer than the lock's wait time."""
        oldest = self._env.now - self._options.wait
        while self._by_age and (self._by_age[0].event.triggered or self._by_age[0].since < oldest):
            waiter = self._by_age.popleft()
            if not waiter.event.triggered:
                self._waiting.remove(waiter)
                self._polled(waiter)
                self.timeouts += 1
                waiter.event.succeed(None)

    def _sent(self, requests: dict[str, int]) -> float:
        for verb, count in requests.items():
            self.requests[verb] = self.requests.get(verb, 0) + count
        return self._sampler.latency(requests, sum(requests.values())) if requests else 0.0


def _since(waiter: _Waiter) -> float:
    return waiter.since
