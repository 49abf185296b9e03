"""The lock of the simulated table, which behaves like the engine's locks (engine.lock).

An actor that fails to acquire the lock pauses before it tries again. A released lock stays free until the next attempt
of any actor. The last holder often acquires the lock again, because the other actors are still pausing.
"""

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
    __slots__ = ("actor", "event", "since", "waited")

    def __init__(self, actor: object, event: simpy.Event, since: float) -> None:
        self.actor, self.event, self.since, self.waited = actor, event, since, False


class SimulatedLock:
    """The lock of a simulated table. Waiting actors poll a lease or a file lock; ZooKeeper serves waiting actors in
    order.

    `busy` is the total time in seconds during which some actor holds the lock or waits for it.
    """

    def __init__(self, env: simpy.Environment, options: LockOptions, sampler: Sampler, choose: random.Random) -> None:
        self._env, self._options, self._sampler, self._random = env, options, sampler, choose
        self._in_order = options.provider == "zookeeper"
        self._waiting: list[_Waiter] = []
        self._by_age: deque[_Waiter] = deque()
        self._first: _Waiter | None = None  # whose attempt will take the free lock
        self._takes_at = 0.0
        self._timer = 0  # the number of the newest timer; an older one has no effect
        self._freed_at: float | None = None  # if actors waited when it was released
        self._last: object = None
        self._former: set[int] = set()
        self._held = False
        self.busy = self.hand_overs = 0.0
        self.acquisitions = self.waits = self.timeouts = self.longest_queue = 0
        self.polls = 0.0
        self._lease = lease_requests() if options.provider == "lease" else {}
        self._failed, self._pause = self._lease.get("failed attempt", {}), POLL.get(options.provider, 0.0)
        self.requests: dict[str, int] = {}

    def ask(self, actor: object) -> simpy.Event:
        """Request the lock for an actor. Returns a SimPy event that triggers when the actor has acquired the lock, or
        when the wait times out.

        The event's value is True if the actor had to wait for another actor, False if not, and None after a timeout.
        """
        waiter = _Waiter(actor, self._env.event(), self._env.now)
        if self._held or (self._in_order and (self._waiting or self._first)):
            self._fail(waiter)
        elif self._in_order:
            self._offer(waiter, 2 * ZOOKEEPER)
        else:
            self._offer(waiter, self._sent(self._attempt(actor)))
        return waiter.event

    def poll_for(self, requests: dict[str, int], pause: float) -> None:
        """Let waiting actors send these requests, one after the other, at each attempt, and pause so many seconds."""
        self._pause = pause
        if self._lease:
            self._failed = requests

    def withdraw(self, event: simpy.Event) -> None:
        """Forget an actor that no longer waits: the event of `ask` has not triggered, and never does."""
        waiter = next((each for each in self._waiting if each.event is event), None)
        if waiter is not None:
            self._waiting.remove(waiter)
            self._by_age.remove(waiter)
            self._polled(waiter)

    def is_next(self, event: simpy.Event) -> bool:
        """Return whether the actor of the event is about to take the lock, which its last attempt has found free."""
        return self._first is not None and self._first.event is event

    def released(self) -> float:
        """Return the duration in seconds of the requests that release the lock."""
        return ZOOKEEPER if self._in_order else self._sent(self._lease.get("release", {}))

    def free(self, held: float) -> None:
        """Release the lock, which was held for `held` seconds."""
        self.busy += held
        self._held = False
        self._expire()
        if not self._waiting:
            return
        self._freed_at = self._env.now
        place, delay = self._next()
        waiter = self._waiting[place]
        if self._in_order:
            del self._waiting[0]
        else:
            self._waiting[place] = self._waiting[-1]
            self._waiting.pop()
        self._offer(waiter, delay)

    def _attempt(self, actor: object) -> dict[str, int]:
        if actor is self._last:
            return self._lease.get("acquisition by the last holder", {})
        former = id(actor) in self._former
        return self._lease.get(f"acquisition {'by a former' if former else 'after another'} holder", {})

    def _next(self) -> tuple[int, float]:
        """Choose the waiting actor that acquires the free lock: the first in the queue, or the one with the earliest
        attempt. Returns its index and delay.
        """
        if self._in_order:
            return 0, ZOOKEEPER
        if not self._lease:  # the attempts of an actor follow each other in equal intervals
            pause, now = POLL[self._options.provider], self._env.now
            return min(enumerate((w.since - now) % pause for w in self._waiting), key=lambda each: each[1])
        crowd = len(self._waiting)
        first: float = 1 - self._random.random() ** (1 / crowd)  # the least of so many uniform numbers
        taking = self._sent(self._lease.get("acquisition after another holder", {}))
        return self._random.randrange(crowd), self.interval() * first + taking

    def _offer(self, waiter: _Waiter, delay: float) -> None:
        """Let an actor acquire the free lock after a delay, unless another actor acquires it first."""
        if self._first is not None and self._takes_at <= self._env.now + delay:
            self._fail(waiter)
            return
        if self._first is not None:
            self._fail(self._first)
        self._first, self._takes_at = waiter, self._env.now + delay
        self._timer += 1
        if delay:
            timer = self._env.timeout(delay, self._timer)
            timer.callbacks.append(self._take)
        else:
            self._taken(waiter)

    def _take(self, timer: simpy.Event) -> None:
        if timer.value == self._timer and self._first is not None:
            self._taken(self._first)

    def _taken(self, waiter: _Waiter) -> None:
        self._first, self._held, self._last = None, True, waiter.actor
        self._former.add(id(waiter.actor))
        self.acquisitions += 1
        if waiter.waited:
            self._polled(waiter)
        if self._freed_at is not None:
            self.hand_overs += self._env.now - self._freed_at
            self.busy += self._env.now - self._freed_at
            self._freed_at = None
        waiter.event.succeed(waiter.waited)

    def _fail(self, waiter: _Waiter) -> None:
        if not waiter.waited:
            waiter.waited = True
            self._by_age.append(waiter)
            self.waits += 1
            if id(waiter.actor) in self._former:
                self._sent(self._lease.get("failed attempt by a former holder", {}))
        self._waiting.append(waiter)
        self.longest_queue = max(self.longest_queue, len(self._waiting))

    def interval(self) -> float:
        """Return the seconds between two attempts of a waiting actor."""
        return self._pause + (self._sampler.latency(self._failed, sum(self._failed.values())) if self._failed else 0.0)

    def _polled(self, waiter: _Waiter) -> None:
        if self._in_order:
            return
        polls = (self._env.now - waiter.since) / self.interval()
        self.polls += polls
        for verb, count in self._failed.items():
            self.requests[verb] = self.requests.get(verb, 0) + round(polls * count)

    def _expire(self) -> None:
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
