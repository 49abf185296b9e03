"""The cores of one simulated machine. All computing processes share the cores equally.

A process uses no core while it sleeps, waits for the lock, or waits for storage.
"""

from __future__ import annotations

import heapq
from itertools import count

import simpy


class SharedCores:
    """Processor sharing among the processes of one simulated machine. A computation with `streams` threads uses at most
    `streams` cores.

    `_served` is the processor time that a thread running since the start of the simulation would have received.
    """

    def __init__(self, env: simpy.Environment, cores: int) -> None:
        self._env, self._cores = env, cores
        self._served, self._since = 0.0, 0.0
        self._streams = 0
        self._running: list[tuple[float, int, int, simpy.Event]] = []
        self._numbers = count()
        self._timer = 0  # the number of the newest timer; an older one has no effect

    def compute(self, seconds: float, streams: int = 1) -> simpy.Event:
        """Return a SimPy event that triggers after `streams` threads have each computed for `seconds`."""
        self._advance()
        done = self._env.event()
        heapq.heappush(self._running, (self._served + seconds, next(self._numbers), streams, done))
        self._streams += streams
        self._set_timer()
        return done

    def _rate(self) -> float:
        return min(1.0, self._cores / self._streams)

    def _advance(self) -> None:
        if self._streams:
            self._served += (self._env.now - self._since) * self._rate()
        self._since = self._env.now

    def _set_timer(self) -> None:
        self._timer += 1
        if self._running:
            left = max(0.0, self._running[0][0] - self._served) / self._rate()
            timer = self._env.timeout(left, self._timer)
            timer.callbacks.append(self._ended)

    def _ended(self, timer: simpy.Event) -> None:
        if timer.value != self._timer:
            return
        self._advance()
        first = self._running[0][0]
        self._served = max(self._served, first)  # rounding must not leave the first computation unfinished
        while self._running and self._running[0][0] <= self._served:
            _, _, streams, done = heapq.heappop(self._running)
            self._streams -= streams
            done.succeed()
        self._set_timer()
