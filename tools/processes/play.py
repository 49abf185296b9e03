"""Starts processes, kills and replaces them during operations, and judges the table at the end.

SIGKILL runs no handler and no ``finally``. The kernel releases the `flock` of a killed process; everything else
remains.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant, completion_of
from nbcc.engine.writes.idempotency import EXTRA
from nbcc.simulator.interrupts import deferred
from nbcc.simulator.lockstep.s3.server import s3_server
from tools.processes.checkers import Chronicle, Published, batches_in, judge

from .notes import LATE, Notes, beats, interrupted, lines, reads_of, writes_of
from .report import Report
from .workers import BEAT_SECONDS, MISSES, SCHEMA, Place, look, opened, rows_of, work

_FORKED = multiprocessing.get_context("forkserver")
"""A server that has imported the engine forks the processes in milliseconds; it never opens a table."""

PATIENCE_SECONDS = 10.0
MOMENT_SECONDS = 0.02


MODES: Final[tuple[dict[str, str], ...]] = (
    {"nbcc.decision": "lock"},
    {"nbcc.decision": "log"},
    {"nbcc.decision": "shared"},
    {"nbcc.decision": "free"},
    {"nbcc.decision": "free", "nbcc.publication": "parallel"},
)
"""The options of what makes a commit, all that a table may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The numbers of processes and kills; `writes_between` two kills is an average.

    If `store` is True, the table is on an S3 server of this process, and the clocks of its processes differ by
    `apart_ms`.
    """

    writers: int = 3
    compactors: int = 1
    rollbackers: int = 1
    readers: int = 1
    kills: int = 20
    writes_between: float = 1.5
    buckets: int = 2
    seed: int = 0
    store: bool = False
    apart_ms: int = 150
    options: dict[str, str] = field(default_factory=dict)


class Workers:
    """The living processes, each with its notes. A killed process is replaced by a process with a new name."""

    def __init__(self, plan: Plan, place: Place, notes: Path) -> None:
        self.kills: Counter[str] = Counter()
        self._place, self._notes = place, notes
        self._started = 0
        self._alive: dict[BaseProcess, tuple[str, Path]] = {}
        kinds = {"writer": plan.writers, "compactor": plan.compactors, "rollbacker": plan.rollbackers}
        for kind, count in {**kinds, "reader": plan.readers}.items():
            for _ in range(count):
                self.start(kind)

    def start(self, kind: str, before: Path | None = None) -> None:
        """Start a process of a kind. The process replaces the one that wrote the notes `before`."""
        self._started += 1
        name = f"{kind}-{self._started}"
        notes = self._notes / f"{name}.jsonl"
        process = _FORKED.Process(target=work, args=(kind, name, self._place, notes, before), name=name, daemon=True)
        with deferred():
            process.start()
            self._alive[process] = (kind, notes)

    def kill(self, chance: random.Random, again: bool = True) -> None:
        """Kill a process during an operation, and start another process of its kind."""
        process = chance.choice(list(self._alive))
        kind, notes = self._alive.pop(process)
        _stop_in_operation(process, notes)
        process.kill()
        process.join()
        self.kills[interrupted(notes)] += 1
        if again:
            self.start(kind, notes)

    def end(self) -> None:
        """Kill the remaining processes; these kills are not counted."""
        for process in self._alive:
            process.kill()
        for process in self._alive:
            process.join()
        self._alive.clear()


def play(plan: Plan, folder: Path, progress: Callable[[int], None] = lambda kills: None) -> Report:
    """Execute a plan on a new table in an empty folder or on an S3 server, and judge the promises. The notes of the
    processes are in the folder.
    """
    if not plan.store:
        return _play(plan, folder, Place(str(folder / "table")), progress)
    with s3_server() as bucket:
        return _play(plan, folder, Place("s3://lake/table", bucket.options, plan.apart_ms), progress)


def _play(plan: Plan, folder: Path, place: Place, progress: Callable[[int], None]) -> Report:
    began = time.monotonic()
    _FORKED.set_forkserver_preload(["tools.processes.workers"])
    notes = folder / "notes"
    notes.mkdir(parents=True)
    Table.create(
        None, place.url, SCHEMA, record_key="id", ordering_fields="ts", buckets=plan.buckets, options=plan.options,
        storage_options=place.options or None,
    )  # fmt: skip
    chance = random.Random(plan.seed)
    workers = Workers(plan, place, notes)
    try:
        for kill in range(plan.kills):
            _let_them_work(notes, chance, plan)
            workers.kill(chance)
            progress(kill + 1)
    finally:
        workers.end()
    table = opened(place)
    errors = _afterwards(table, Notes(notes / "after.jsonl"))
    return _judged(table, notes, plan, workers.kills, errors=errors, took=time.monotonic() - began)


def _stop_in_operation(process: BaseProcess, notes: Path) -> None:
    """Stop a process until it is within an operation, because a kill between operations tests nothing.

    While the process is stopped, it cannot finish the operation between the check of its notes and the kill.
    """
    latest = time.monotonic() + PATIENCE_SECONDS
    while process.pid is not None and process.is_alive():
        os.kill(process.pid, signal.SIGSTOP)
        if interrupted(notes) or time.monotonic() > latest:
            return
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(random.uniform(0, MOMENT_SECONDS))


def _let_them_work(notes: Path, chance: random.Random, plan: Plan) -> None:
    """Wait for a number of writes instead of a time, so that a slow machine does not kill more often."""
    enough = beats(notes) + chance.expovariate(1 / plan.writes_between)
    latest = time.monotonic() + PATIENCE_SECONDS
    while beats(notes) < enough and time.monotonic() < latest:
        time.sleep(0.005)
    time.sleep(chance.random() * MOMENT_SECONDS)


def _afterwards(table: Table, note: Notes) -> tuple[str, ...]:
    """Run every operation on the table that the killed processes left; return the errors."""
    ordering = time.time_ns()

    def writes() -> None:
        note.add("begins", what="write", batch="after.1", size=2, ordering=ordering)
        table.upsert(rows_of("after.1", 2, ordering))
        note.add("wrote", batch="after.1")

    def rolls_back() -> None:
        time.sleep(BEAT_SECONDS * MISSES)  # until the heartbeat of the last killed process has expired
        table.rollback()
        left = [instant for instant in table.timeline() if not instant.completed and instant.action != "compaction"]
        if left:
            raise ValueError(f"{left[0].file_name} is still pending")

    def compacts() -> None:
        while table.run_compaction() is not None:
            pass
        table.compact()

    def windows() -> None:
        last = table.settled() or ""
        table.incremental("0", last)
        table.changes("0", last)
        table.read_optimized()

    reads = partial(look, table, note)
    found = []
    for step in (reads, writes, rolls_back, compacts, reads, windows):
        try:
            step()
        except Exception as error:  # any error is a finding
            found.append(f"afterwards: {type(error).__name__}: {error}")
    return tuple(found)


def _judged(
    table: Table, notes: Path, plan: Plan, kills: Counter[str], *, errors: tuple[str, ...], took: float
) -> Report:
    paths = sorted(notes.glob("*.jsonl"))
    entries = [(path.stem, line) for path in paths for line in lines(path)]
    completed = table.context.history().whole.completed  # also archived ones
    done = [Published(i.requested, completion_of(i), i.action, _batch(table, i)) for i in completed]
    history = Chronicle(
        tuple(writes_of(*paths)),
        tuple(read for path in paths for read in reads_of(path)),
        tuple(done),
    )
    acked = {write.batch for write in history.writes if write.acked is not None}
    seen = {batch for read in history.reads for batch in batches_in(read)}
    return Report(
        kills=dict(kills.most_common()),
        writes=len(history.writes),
        acknowledged=len(acked),
        visible_unacknowledged=len(seen - acked),
        reads=len(history.reads),
        compactions=sum(instant.action == "commit" for instant in done),
        resumed=sum(line["kind"] == "resumed" for _, line in entries),
        rolled_back=sum(instant.action == "rollback" for instant in done),
        resent=sum(line["kind"] == "resent" for _, line in entries),
        late=sum(line["kind"] == LATE for _, line in entries),
        seconds=took,
        seed=plan.seed,
        breaches=judge(history),
        failures=(*errors, *(f"{name}: {line['error']}" for name, line in entries if line["kind"] == "failed")),
    )


def _batch(table: Table, instant: Instant) -> str:
    return table.context.commits.commit(instant).extra.get(EXTRA, "") if instant.writes else ""
