"""One simulated run of a scenario: the state of the table, and the stages of writers and services."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final

import numpy as np
import simpy

from .announced import CLAIM, FLOOR, FLOORS, Announcements, FreeDecisions, SharedDecisions
from .cores import SharedCores
from .costs import Calibration, Sampler, StageCost, Touched, programs, store
from .lock import LEASE_DRIFT, ZOOKEEPER_SESSION, SimulatedLock
from .measures import PHASES, Measures
from .scenario import Decision, Mode, Scenario

Events = Generator[simpy.Event, Any, Any]
Chosen = tuple[StageCost, Touched]
DECIDERS: Final[Mapping[Decision, type[Announcements]]] = {"shared": SharedDecisions, "free": FreeDecisions}
NOISE_POOL: Final = 4096
ACTIVE: Final = 30  # commits on the active timeline of a table with automatic archiving (hoodie.keep.max.commits)
STATES: Final = 3  # objects of an instant on the timeline
PAGE: Final = 1000  # objects that one LIST request of an object store returns
EXACT_COMMITS: Final = 4  # the cost of more unread commits is that of this many and the mean of a get for each other
HEARTBEAT: Final = 60.0  # seconds between two renewals (engine.config.coordination.HeartbeatInterval)


class TableState:
    """The state of the simulated table's file groups. `logs` contains the number of completed but uncompacted log files
    in each file group.

    `newest` maps each file group to the sequence number of its last completed write, in order of completion. `pending`
    contains the file groups of pending compaction plans.
    """

    def __init__(self, groups: int, rows: int) -> None:
        self.logs = [0] * groups
        self.log_rows = [0.0] * groups
        self.new_rows = [0.0] * groups
        self.base_rows = [rows / groups] * groups
        self.has_base = [rows > 0] * groups
        self.pending: set[int] = set()
        self.newest: dict[int, int] = {}
        self.commits = 0
        self.planned = 0  # the commits that completed before the newest compaction plan
        self.superseded_groups = self.superseded_logs = 0  # files that a clean can delete

    @property
    def active(self) -> int:
        """The number of instants on the active timeline. Writes remain on the active timeline until their logs are
        compacted.
        """
        return min(self.commits, self.commits - self.planned + ACTIVE)

    def complete(self, groups: tuple[int, ...], rows: float, updates: float) -> None:
        """Record a completed write of `rows` rows to the given file groups."""
        share = rows / len(groups)
        for group in groups:
            self.logs[group] += 1
            self.log_rows[group] += share
            self.new_rows[group] += share * (1 - updates)
            self.newest[group] = self.commits
        self.commits += 1


class Simulation:
    """The shared state of one simulated run. Writers, services and readers are processes of the SimPy environment
    `env`.
    """

    def __init__(self, scenario: Scenario, mode: Mode, calibration: Calibration, seed: int) -> None:
        self.scenario, self.mode, self.times = scenario, mode, calibration
        self.env = simpy.Environment()
        self.chance = random.Random(f"{seed} {scenario.name}")
        self.store = store(scenario.store, calibration)
        numbers = np.random.default_rng([seed, len(scenario.name)])
        self.sampler = Sampler(self.store, numbers)
        self.lock = SimulatedLock(self.env, scenario.lock, self.sampler, self.chance)
        self.table = TableState(scenario.table.partitions * scenario.table.buckets, scenario.table.rows)
        self.measures = Measures(seconds=scenario.seconds, writers=scenario.writer_count)
        self._cores = SharedCores(self.env, scenario.cores) if scenario.cores else None
        decider = DECIDERS.get(scenario.lock.decision)
        self.announcements = None if decider is None else decider(self)
        log = " with decision log" if scenario.lock.decision == "log" else ""
        recorded = programs(self.store.kind)
        self.program = {name: recorded[name + log] for name in recorded if "with decision log" not in name}
        if log and scenario.lock.requests_without_lock:  # the stage has a claim after the listing; `unlocked` adds one
            self.program["nbcc write"] = (recorded["nbcc write"][0], *self.program["nbcc write"][1:])
        spread = calibration.noise  # the mean of the factors is 1
        factors = np.exp(numbers.standard_normal(NOISE_POOL) * spread - spread**2 / 2)
        self._noise = [float(value) for value in factors]
        self._noise_at = 0
        self._stages: dict[tuple[int, int, int, int], tuple[dict[str, int], int]] = {}
        self.used: Counter[tuple[int, int, int, int]] = Counter()
        self._get, self._list = self.sampler.mean("get"), self.sampler.mean("list")
        self._lists_pages = self.store.kind != "local"

    def noisy(self, seconds: float) -> float:
        """Multiply core-seconds by a random factor with the mean 1."""
        self._noise_at = (self._noise_at + 1) % NOISE_POOL
        return seconds * self._noise[self._noise_at]

    def compute(self, seconds: float, streams: int = 1) -> simpy.Event:
        """Return a SimPy event that triggers after `streams` threads have each computed for `seconds`."""
        return self.env.timeout(seconds) if self._cores is None else self._cores.compute(seconds, streams)

    def requests(self, stage: StageCost, touched: Touched) -> float:
        """Add the storage requests of a stage to the counts, and return how many seconds they take."""
        known = min(touched.commits, EXACT_COMMITS)
        key = (id(stage), touched.groups, touched.logs, known)
        counted = self._stages.get(key)
        if counted is None:
            exact = Touched(touched.groups, touched.logs, known)
            counted = self._stages[key] = (stage.count(exact), stage.depth(exact))
        self.used[key] += 1
        seconds = self.sampler.latency(*counted)
        if touched.commits > known and (each := stage.rounds[3]):
            more = (touched.commits - known) * each
            self.measures.requests["get"] += more
            seconds += more * self._get
        if self._lists_pages and (pages := stage.lists * (self.table.active * STATES // PAGE)):
            self.measures.requests["list"] += pages
            seconds += pages * self._list
        return seconds

    def round(self, requests: Mapping[str, int]) -> float:
        """Add requests that are sent at the same time to the counts, and return how many seconds they take."""
        self.measures.requests.update(requests)
        return self.sampler.latency(requests, 1)

    def handling(self, stage: StageCost, touched: Touched) -> float:
        """Return the core-seconds for which the requests of a stage occupy the machine."""
        return sum(stage.count(touched).values()) * self.store.core_seconds

    def work(self, stage: StageCost, touched: Touched) -> float:
        """Return the core-seconds that a stage needs to send its requests, and to list and decode the timeline."""
        listed = stage.lists * self.table.active * self.times.list_instant
        decoded = stage.decodes * self.times.decode + (stage.rounds[3] - stage.decodes) * self.times.unread
        return listed + touched.commits * decoded + self.handling(stage, touched)

    def transfer(self, rows: float, streams: int = 1) -> float:
        """Return how many seconds it takes to transfer the given number of rows to or from the store."""
        return rows * self.scenario.table.row_bytes / self.store.bytes_per_second / max(1, streams)

    def locked(
        self, actor: object, what: str, own: float, choose: Callable[[], Chosen],
        effect: Callable[[], object] = int, crashes_at: float = float("inf"), spent: dict[str, float] | None = None,
    ) -> Events:  # fmt: skip
        """Wait for the lock, perform one stage while holding it, run `effect`, and release the lock. Returns False if
        the wait timed out or the actor crashed, otherwise True.

        `own` is the number of core-seconds that the stage needs in addition to reading the timeline. `choose` selects
        the stage, and returns it with the quantities that determine its cost, such as numbers of log files. `choose` is
        called under the lock, so that no other actor can change the table. If the actor crashes at `crashes_at` while
        it holds the lock, `effect` does not run, and the lock is not released. The durations of the phases are added to
        `spent`; those of a service are not part of a commit's time.
        """
        spent = dict.fromkeys(PHASES, 0.0) if spent is None else spent
        measures, lock, env = self.measures, self.lock, self.env
        asked = env.now
        waited: bool | None = yield lock.ask(actor)
        spent["lock requests" if waited is False else "lock wait"] += env.now - asked
        if waited is None:
            measures.lock_timeouts += 1
            return False
        began = env.now
        stage, touched = choose()
        skew = stage.takes * (self.scenario.lock.skew + 0.001 * self.chance.random())  # a time is in whole milliseconds
        release = lock.released()
        yield env.timeout(skew + self.requests(stage, touched) + release)
        yield self.compute(self.noisy(own + self.work(stage, touched)))
        hold = env.now - began
        if began <= crashes_at <= env.now:
            env.process(self.expire(hold))
            return False
        effect()
        lock.free(hold)
        spent["lock requests"] += release
        spent["skew wait"] += skew
        spent["under lock"] += hold - skew - release
        measures.lock_skew += skew
        measures.lock_by[what] += hold
        return True

    def unlocked(self, own: float, stage: StageCost, touched: Touched) -> Events:
        """Request an instant without the lock, and without waiting until all clocks have passed its time."""
        self.measures.requests.update(CLAIM)
        yield self.env.timeout(self.requests(stage, touched))
        # With the floor it puts its inflight state, which the data stage counts: no file comes before both.
        yield self.env.timeout(self.round(FLOORS if self.scenario.lock.decision == "free" else FLOOR))
        yield self.compute(self.noisy(own + self.work(stage, touched)))

    def expire(self, held: float) -> Events:
        """Release the lock of a crashed holder when the lease or the ZooKeeper session expires. A file lock is released
        as soon as its holder crashes.
        """
        options = self.scenario.lock
        left = {"file": 0.0, "lease": options.lease + LEASE_DRIFT, "zookeeper": ZOOKEEPER_SESSION}[options.provider]
        yield self.env.timeout(left)
        self.measures.lock_by["crashed holders"] += held + left
        self.lock.free(held + left)

    def finish(self) -> Measures:
        """Run the simulation to the end of the scenario, and return its measurements."""
        self.env.run(until=self.scenario.seconds)
        measures, lock = self.measures, self.lock
        for key, times in self.used.items():
            for verb, count in self._stages[key][0].items():
                measures.requests[verb] += count * times
        measures.lock_busy, measures.lock_acquisitions = lock.busy, lock.acquisitions
        measures.lock_by["hand-overs"] = lock.hand_overs
        measures.lock_polls, measures.lock_waits, measures.lock_queue = lock.polls, lock.waits, lock.longest_queue
        measures.lock_requests.update(lock.requests)
        every = measures.requests + measures.lock_requests
        measures.dollars = sum(count * self.store.price[verb] for verb, count in every.items())
        return measures
