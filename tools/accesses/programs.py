"""Computes the number of requests of each operation of the engine, as a linear function of what the operation touches.

An operation is recorded for several numbers of file groups, of log files in a slice, and of commits that the actor has
not read. The counts of requests must be linear in these numbers; otherwise an error is raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
from obstore.store import MemoryStore

from nbcc.engine.config.concurrency import NON_BLOCKING, OPTIMISTIC
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.data.tasks import WriteTask, WrittenFile
from nbcc.engine.definition.creation import table_config
from nbcc.engine.errors import Conflict
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.names import RandomNames
from nbcc.engine.rules import NBCC
from nbcc.engine.table import Table, create_table, open_table
from nbcc.simulator.lockstep.control.storage import MemoryStorage

from .recorder import RecordedClock, RecordedFiles, RecordedLock, RecordedObjects, Recorder, Stage

PATH: Final = Path(__file__).resolve().parents[2] / "specs" / "workload" / "accesses.json"

SCHEMA: Final = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())])
Decision = Literal["lock", "log"]
KEYS: Final = 64  # enough that each of a few buckets has some of them


class Point(NamedTuple):
    """The numbers of file groups, of log files in each slice, and of commits that the actor has not read.

    `commits` of a write: as many complete before its request, and as many again until its publication. Those of an
    aborted write precede the commit that conflicts.
    """

    groups: int
    logs: int
    commits: int

    @property
    def features(self) -> tuple[int, int, int, int]:
        """The features in which the counts of requests are linear: 1, file groups, all log files, commits."""
        return 1, self.groups, self.groups * self.logs, self.commits


WRITES: Final = [Point(groups, 0, commits) for groups, commits in product((1, 2, 4), (0, 1, 3))]
SERVICES: Final = [Point(*point) for point in product((1, 2, 4), (2, 3, 5), (1, 2))]


class Recorded:
    """A table in memory and its actors, each of which records its requests."""

    def __init__(self, is_object_store: bool, groups: int, mode: str, decision: Decision) -> None:
        self._memory: Any = MemoryStore() if is_object_store else MemoryStorage()
        self._storage = RecordedObjects if is_object_store else RecordedFiles
        self._now = [0]
        self._rules = replace(NBCC, decision=decision)
        config = table_config(
            "recorded", SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=groups,
            merge_mode="EVENT_TIME_ORDERING", table_type="MERGE_ON_READ", concurrency_mode=mode,
            options={"nbcc.decision": decision},
        )  # fmt: skip
        create_table(self._context(Recorder()), config)

    def actor(self) -> tuple[Recorder, Table]:
        recorder = Recorder()
        table = open_table(self._context(recorder))
        table.context = replace(table.context, rules=self._rules)
        return recorder, table

    def _context(self, recorder: Recorder) -> Context:
        storage, names = self._storage(recorder, self._memory), RandomNames()
        jobs = _Jobs(storage, names)
        return Context(storage, RecordedLock(recorder), RecordedClock(recorder, self._now), names, jobs, self._rules)


class _Jobs(InProcessJobs):
    then: Callable[[], object] = staticmethod(lambda: None)

    def write(self, data: pa.Table, task: WriteTask) -> list[WrittenFile]:
        files = super().write(data, task)
        then, self.then = self.then, lambda: None
        then()
        return files


def rows(partition: str) -> pa.Table:
    """Return a batch with rows of every bucket of one partition."""
    columns = {"id": [f"k{n}" for n in range(KEYS)], "part": [partition] * KEYS, "ts": [*range(KEYS)]}
    return pa.table(columns, schema=SCHEMA)


def upsert(is_object_store: bool, point: Point, mode: str, decision: Decision, conflicts: bool = False) -> list[Stage]:
    """Record a write; others commit before and during it. If it `conflicts`, the last one writes to its file groups."""
    table = Recorded(is_object_store, point.groups, mode, decision)
    (_, other), (recorder, writer) = table.actor(), table.actor()
    for actor, partition in ((writer, "a"), (other, "b"), (other, "a")):
        actor.upsert(rows(partition))  # the first write to a partition puts more
    writer.upsert(rows("a"))
    for _ in range(point.commits):
        other.upsert(rows("b"))
    jobs: Any = writer.context.jobs
    during = ["b"] * point.commits + (["a"] if conflicts else [])
    jobs.then = lambda: [other.upsert(rows(partition)) for partition in during]
    with recorder.operation():
        try:
            writer.upsert(rows("a"))
        except Conflict:
            assert conflicts, "a write without conflict completes"
        else:
            assert not conflicts, "a write with a conflict is aborted"
    return recorder.stages


def service(is_object_store: bool, point: Point, operation: str, decision: Decision) -> list[Stage]:
    """Record an operation of a service or a reader, on slices with a base file and `point.logs` log files."""
    table = Recorded(is_object_store, point.groups, NON_BLOCKING, decision)
    (_, writer), (recorder, actor) = table.actor(), table.actor()
    writer.upsert(rows("a"))
    actor.compact()
    for number in range(point.logs):
        if number == point.logs - point.commits:
            actor.snapshot()
            actor.context.active()  # a snapshot lists a local table in another way than a holder of the lock
        writer.upsert(rows("a"))
    if operation == "run_compaction":
        actor.run("schedule_compaction")
    if operation == "clean":
        actor.compact()
    arguments = {"policy": "KEEP_LATEST_FILE_VERSIONS", "retained": 1} if operation == "clean" else {}
    with recorder.operation():
        actor.run(operation, **arguments)
    return recorder.stages


PROGRAMS: Final[dict[str, tuple[Callable[[bool, Point], list[Stage]], Sequence[Point]]]] = {
    f"{name}{'' if decision == 'lock' else ' with decision log'}": (partial(operation, decision=decision), points)
    for decision in get_args(Decision)
    for name, operation, points in (
        ("nbcc write", partial(upsert, mode=NON_BLOCKING), WRITES),
        ("occ write", partial(upsert, mode=OPTIMISTIC), WRITES),
        ("occ abort", partial(upsert, mode=OPTIMISTIC, conflicts=True), WRITES),
        ("schedule compaction", partial(service, operation="schedule_compaction"), SERVICES),
        ("run compaction", partial(service, operation="run_compaction"), SERVICES),
        ("clean", partial(service, operation="clean"), SERVICES),
        ("snapshot", partial(service, operation="snapshot"), SERVICES),
    )
}
"""Name of a program -> the operation, and the points at which it is recorded."""


def linear(counts: Sequence[int], points: Sequence[Point]) -> list[int]:
    """Return the coefficients of `Point.features` that reproduce the counts. Raises ValueError if no such coefficients
    exist.
    """
    features = np.array([point.features for point in points])
    solution, *_ = np.linalg.lstsq(features, np.array(counts), rcond=None)
    whole = np.rint(solution).astype(int)
    if [*features @ whole] != [*counts]:
        raise ValueError(f"the counts {counts} at {[*points]} are not linear")
    return [int(number) for number in whole]


def program(operation: Callable[[bool, Point], list[Stage]], points: Sequence[Point], store: bool) -> list[Any]:
    """Return the stages of an operation, with counts by verb and kind of object."""
    runs = [operation(store, point) for point in points]
    stages = []
    for number, first in enumerate(runs[0]):
        same = [run[number] for run in runs]
        assert {(len(run), stage.locked, stage.takes) for run, stage in zip(runs, same, strict=True)} == {
            (len(runs[0]), first.locked, first.takes)
        }
        kinds = sorted({f"{request.verb} {request.kind}" for stage in same for request in stage.requests})
        counts = {
            kind: [sum(f"{r.verb} {r.kind}" == kind for r in stage.requests) for stage in same] for kind in kinds
        }
        stages.append(
            {
                "locked": first.locked,
                "takes": first.takes,
                "rounds": linear([stage.rounds for stage in same], points),
                "requests": {kind: linear(count, points) for kind, count in counts.items()},
            }
        )
    return stages


def lease() -> dict[str, dict[str, int]]:
    """Record the requests of a lease in the table's storage: acquisitions, a release, and attempts that fail.

    A former holder first tries the version that it has released, which another holder has replaced.
    """
    memory = MemoryStore()
    recorders = [Recorder(), Recorder()]
    one, other = (StorageLock(RecordedObjects(recorder, memory), 0.0, 300, 1_000) for recorder in recorders)
    counts = {}
    for name, recorder, call in (
        ("first acquisition", recorders[0], one.try_once),
        ("failed attempt", recorders[1], other.try_once),
        ("release", recorders[0], one.give_back),
        ("acquisition after another holder", recorders[1], other.try_once),
        ("failed attempt by a former holder", recorders[0], one.try_once),
        ("release again", recorders[1], other.give_back),
        ("acquisition by the last holder", recorders[1], other.try_once),
        ("", recorders[1], other.give_back),
        ("", recorders[0], one.try_once),
        ("", recorders[0], one.give_back),
        ("acquisition by a former holder", recorders[1], other.try_once),
    ):
        with recorder.operation():
            call()
        verbs = [request.verb for stage in recorder.stages for request in stage.requests]
        counts[name] = {verb: verbs.count(verb) for verb in sorted({*verbs})}
    del counts[""]
    return counts


def document() -> dict[str, Any]:
    """The programs of object stores and of local files, and the requests of the lease."""
    return {
        "format": 1,
        "about": "requests of the engine's operations: [constant, per file group, per log file, per unread commit]",
        "programs": {
            kind: {name: program(*recorded, store) for name, recorded in PROGRAMS.items()}
            for kind, store in (("object store", True), ("local", False))
        },
        "lease": lease(),
    }


def text() -> str:
    """Return the text of the file `PATH`."""
    lines = json.dumps(document(), indent=1)
    return _short_lists(lines) + "\n"


def _short_lists(text: str) -> str:
    return re.sub(r"\[\s+(-?\d+),\s+(-?\d+),\s+(-?\d+),\s+(-?\d+)\s+\]", r"[\1, \2, \3, \4]", text)
