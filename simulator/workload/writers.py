"""The simulated writers of a run, under NBCC, under OCC, or combined into a single writer. Each writer writes its
batches sequentially.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import simpy

from .announced import AnnouncedCommit
from .batches import batches
from .costs import StageCost, Touched
from .measures import PHASES
from .rules import conflicts
from .scenario import PlannedBatch
from .simulation import HEARTBEAT, Chosen, Events, Simulation


@dataclass(frozen=True, slots=True)
class WriterJob:
    """The options of a simulated writer. `occ` is True if the writer checks for conflicts; `cores` is the number of
    cores of its data phase.

    If `continuous` is True, the writer begins each batch as soon as the previous batch is done. A continuous writer
    begins no attempt after the time `ends`.
    """

    name: str
    occ: bool
    cores: int
    updates: float
    compute: float
    continuous: bool
    ends: float = float("inf")


def start_writers(run: Simulation) -> None:
    scenario, sources = run.scenario, []
    for number, recorded in enumerate(scenario.recorded):
        job = WriterJob("recorded", run.mode == "occ", 1, 0.5, 0.0, False)
        sources.append((job, iter(recorded), random.Random(number)))
    for group in () if scenario.recorded else scenario.writers:
        occ = (group.concurrency or run.mode) == "occ" and run.mode != "single"
        continuous = group.arrival == "continuous"
        job = WriterJob(group.name, occ, group.cores, group.updates, group.compute, continuous, group.ends)
        for number in range(group.count):
            chance = random.Random(run.chance.random())
            sources.append((job, batches(group, number, scenario.table, scenario.seconds, chance), chance))
    if run.mode == "single":
        _start_single(run, [(job, source) for job, source, _ in sources])
        return
    for job, source, chance in sources:
        run.env.process(_Writer(run, job, chance).write_all(source))


class _Writer:
    """The process of one simulated writer, which crashes at random times."""

    def __init__(self, run: Simulation, job: WriterJob, chance: random.Random) -> None:
        self._run, self._job, self._chance = run, job, chance
        run.measures.by_writer.setdefault(job.name, array("d"))
        self._crashes_at = self._next_crash()
        self._read = 0  # the commits that its newest listing has shown

    def write_all(self, source: Iterable[PlannedBatch]) -> Events:
        env, job = self._run.env, self._job
        for batch in source:
            if (pause := batch.at - env.now) > 0:
                yield env.timeout(pause)
            if job.continuous and env.now >= job.ends:
                return
            yield from self.write(batch, env.now if job.continuous else batch.at)

    def write(self, batch: PlannedBatch, arrived: float) -> Events:
        run, job, env, measures = self._run, self._job, self._run.env, self._run.measures
        measures.batches += 1
        measures.phases["queue"] += env.now - arrived
        if env.now >= self._crashes_at:  # it crashed while it was idle
            yield from self._restart()
        while True:
            began, spent = env.now, dict.fromkeys(PHASES, 0.0)
            done: bool = yield from self._attempt(batch, arrived, spent)
            if done:
                break
            measures.aborted += 1
            measures.aborts_by_writer[job.name] += 1
            measures.phases["aborted"] += env.now - began
            if job.continuous and env.now >= job.ends:
                return
            if env.now >= self._crashes_at:
                yield from self._restart()
        for phase, seconds in spent.items():
            measures.phases[phase] += seconds
        after, touched = run.program["nbcc write"][3], Touched(len(batch.groups))
        began = env.now
        yield env.timeout(run.requests(after, touched))
        yield run.compute(run.noisy(run.times.clean_up + run.handling(after, touched)))
        measures.phases["clean-up"] += env.now - began
        measures.latency.append(env.now - arrived)
        measures.by_writer[job.name].append(env.now - arrived)

    def _attempt(self, batch: PlannedBatch, arrived: float, spent: dict[str, float]) -> Events:
        run, job, table, measures = self._run, self._job, self._run.table, self._run.measures
        program, touched = run.program["occ write" if job.occ else "nbcc write"], Touched(len(batch.groups))

        def ask() -> Chosen:
            unread, self._read = table.commits - self._read, table.commits
            return program[0], Touched(len(batch.groups), 0, unread)

        yield run.compute(run.noisy(run.times.prepare))
        own, crash = run.times.request, self._crashes_at
        if run.scenario.lock.requests_without_lock:
            yield from run.unlocked(own, *ask())
        elif not (yield from run.locked(self, "requests", own, ask, crashes_at=crash, spent=spent)):
            return False
        if run.env.now >= crash:
            return False
        began = run.env.now
        if run.announcements is not None:
            run.announcements.looking_ahead(self)
        cores = yield from self._data(batch, program[1], touched)
        took = run.env.now - began
        spent["data"] += took
        measures.write_cores += cores
        if took > HEARTBEAT:
            measures.requests["put"] += int(took / HEARTBEAT)
        publish = self._publish if run.announcements is None else self._announce
        done = run.env.now < self._crashes_at and (yield from publish(batch, arrived, spent))
        if not done:
            measures.wasted_cores += cores
        return done

    def _publish(self, batch: PlannedBatch, arrived: float, spent: dict[str, float]) -> Events:
        """Check for conflicts and publish the instant, under the lock. If there is a conflict, roll back the write."""
        run, groups, has_conflict, sealed = self._run, batch.groups, False, self._read

        def check() -> Chosen:
            nonlocal has_conflict
            unread, has_conflict = self._later(groups, sealed)
            self._read = run.table.commits
            if has_conflict:
                return run.program["occ abort"][2], Touched(len(groups), 0, unread)
            return run.program["occ write" if self._job.occ else "nbcc write"][2], Touched(len(groups), 0, unread)

        def publish() -> None:
            if not has_conflict:
                self._complete(batch, arrived)

        own, crash = run.times.publish, self._crashes_at
        if not (yield from run.locked(self, "commits", own, check, publish, crash, spent)):
            return False
        if has_conflict:
            yield from self._undo(groups)
        return not has_conflict

    def _announce(self, batch: PlannedBatch, arrived: float, spent: dict[str, float]) -> Events:
        """Announce the commit, and wait until some actor has decided and published it, or it conflicts."""
        run, groups, sealed, began = self._run, batch.groups, self._read, self._run.env.now
        assert run.announcements is not None, "the caller has checked"
        later = partial(self._later, groups, sealed) if self._job.occ else None
        own = AnnouncedCommit(run.env, groups, partial(self._complete, batch, arrived), later)
        yield run.compute(run.noisy(run.times.publish))
        done: bool = yield from run.announcements.commit(self, own, self._crashes_at)
        spent["deciding"] += run.env.now - began
        if done and not own.settled.value:
            yield from self._undo(groups)
        return done and own.settled.value

    def _later(self, groups: tuple[int, ...], sealed: int) -> tuple[int, bool]:
        """Return how many commits the writer has not read, up to the first that conflicts, and whether one does."""
        table = self._run.table
        newest = [(group, table.newest.get(group, -1)) for group in groups] if self._job.occ else []
        later = [(group, number) for group, number in newest if number >= sealed]
        if later and conflicts(later, groups):
            return min(number for _, number in later) - sealed, True
        return table.commits - sealed, False

    def _complete(self, batch: PlannedBatch, arrived: float) -> None:
        run, measures = self._run, self._run.measures
        run.table.complete(batch.groups, batch.rows, self._job.updates)
        self._read = run.table.commits  # the requests of each stage include those for its own last commit
        measures.commits += 1
        measures.rows += batch.rows
        measures.fresh.append(run.env.now - arrived)

    def _undo(self, groups: tuple[int, ...]) -> Events:
        run = self._run
        run.measures.conflicts += 1
        _, _, _, deletes, undo = run.program["occ abort"]
        yield run.env.timeout(run.requests(deletes, Touched(len(groups))))
        yield run.compute(run.noisy(run.times.clean_up))
        yield from run.locked(self, "undone writes", 0.0, lambda: (undo, Touched(len(groups))))

    def _data(self, batch: PlannedBatch, stage: StageCost, touched: Touched) -> Generator[simpy.Event, Any, float]:
        run, times, job = self._run, self._run.times, self._job
        yield run.env.timeout(run.requests(stage, touched) + run.transfer(batch.rows, len(batch.groups)) + batch.took)
        if batch.took:
            return batch.took
        engine = batch.rows * times.per_row + len(batch.groups) * times.per_file
        own = times.write + engine / job.cores + run.handling(stage, touched)
        yield run.compute(run.noisy(own) + job.compute, job.cores)
        return times.write + engine + job.compute * job.cores

    def _restart(self) -> Events:
        self._run.measures.crashes += 1
        yield self._run.env.timeout(self._run.scenario.crashes.restart)
        self._crashes_at = self._next_crash()

    def _next_crash(self) -> float:
        every = self._run.scenario.crashes.every
        return self._run.env.now + self._chance.expovariate(1 / every) if every else float("inf")


def _start_single(run: Simulation, sources: list[tuple[WriterJob, Iterator[PlannedBatch]]]) -> None:
    """Start one writer that has as many cores as all writers together. The single writer writes all waiting batches in
    one commit.
    """
    waiting: list[tuple[float, PlannedBatch, Iterator[PlannedBatch] | None]] = []
    arrival = [run.env.event()]

    def put(at: float, batch: PlannedBatch, source: Iterator[PlannedBatch] | None) -> None:
        waiting.append((at, batch, source))
        if not arrival[0].triggered:
            arrival[0].succeed()

    def feed(job: WriterJob, source: Iterator[PlannedBatch]) -> Events:
        if job.continuous:
            put(run.env.now, next(source), source)
            return
        for batch in source:
            yield run.env.timeout(max(0.0, batch.at - run.env.now))
            put(run.env.now, batch, None)

    def write() -> Events:
        jobs = [job for job, _ in sources]
        cores = sum(job.cores for job in jobs)
        compute = sum(job.compute for job in jobs) / len(jobs)
        updates = sum(job.updates for job in jobs) / len(jobs)
        ends = max(job.ends for job in jobs)
        writer = _Writer(run, WriterJob("single writer", False, cores, updates, compute, False), run.chance)
        while True:
            if not waiting:
                arrival[0] = run.env.event()
                yield arrival[0]
            taken = [*waiting]
            waiting.clear()
            groups = tuple({group: None for _, batch, _ in taken for group in batch.groups})
            rows = sum(batch.rows for _, batch, _ in taken)
            took = sum(batch.took for _, batch, _ in taken) / cores  # of recorded batches
            yield from writer.write(PlannedBatch(taken[0][0], rows, groups, took), taken[0][0])
            run.measures.batches += len(taken) - 1
            run.measures.latency.extend(run.env.now - at for at, _, _ in taken[1:])
            for _, _, source in taken:
                if source is not None and run.env.now < ends:
                    put(run.env.now, next(source), source)

    for job, source in sources:
        run.env.process(feed(job, source))
    run.env.process(write())
