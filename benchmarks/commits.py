"""Writer processes that commit to one table in an object store.

Each writer upserts small batches into the same file groups of a table on the S3 server of `nbcc.simulator.lockstep.s3`,
which answers each request after 20 ms. In the phase `commit` the data files are ready: a writer requests an instant and
commits files that it put before, so that the processors of one machine do not bound the rate. In the phase `write` it
puts the data files of each instant, too. A writer whose commit conflicts writes the batch again.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Literal, NamedTuple, get_args, get_type_hints

import pyarrow as pa

from nbcc.engine.config.coordination import Coordination
from nbcc.engine.config.options import COORDINATION, DECISION, PUBLICATION, REQUESTS, SKEW
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.data.tasks import WriteTask, WrittenFile
from nbcc.engine.errors import Conflict
from nbcc.engine.file_names import marker
from nbcc.engine.names import Names
from nbcc.engine.storage import Storage, together
from nbcc.engine.table import Table
from nbcc.simulator.lockstep.s3.server import Bucket, s3_server
from tools.writers.modes import mode_name

from .processes import busy

Phase = Literal["commit", "write"]
NBCC: Final = "NON_BLOCKING_CONCURRENCY_CONTROL"
OCC: Final = "OPTIMISTIC_CONCURRENCY_CONTROL"
LATENCY_SECONDS: Final = 0.02
SKEW_MS: Final = 5
SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64())])
ROWS: Final = 8
BUCKETS: Final = 2
COMPLETED: Final = re.compile(r"\.hoodie/timeline/\d+_\d+\.deltacommit$")
CHOICES: Final = (DECISION, PUBLICATION, REQUESTS)
"""The options that make a mode."""

_SPAWNED: Final = multiprocessing.get_context("spawn")


class Commits(NamedTuple):
    """The commits of one writer: when each returned, the seconds of the call and of its part after the data files, the
    conflicts, and the core-seconds of the process.
    """

    returned: list[float]
    took: list[float]
    committing: list[float]
    conflicts: int
    cores: float


def modes() -> dict[str, dict[str, str]]:
    """The modes of the engine: their names, and the options of the table. The first one is the default. Only with the
    first decision are requests measured in each way, and only with the last one publication.
    """
    kinds, found = get_type_hints(Coordination), list[tuple[str, ...]]([()])
    options = [option for option in COORDINATION if option.name in CHOICES]
    for option in options:
        values = [value for value in get_args(kinds[option.field]) if option.parse(value) is not None]
        found = [(*chosen, value) for chosen in found for value in values]
    (first, usual, _), (last, _, newer) = found[0], found[-1]
    return {
        mode_name(*chosen): {option.name: value for option, value in zip(options, chosen, strict=True)}
        for chosen in found
        if (chosen[0] == first or chosen[2] == newer) and (chosen[0] == last or chosen[1] == usual)
    }


class Run(NamedTuple):
    """One run: the commits of the writers that live, when it began and when a writer died, the requests, and the
    core-seconds of the server and of all programs of the machine.
    """

    commits: list[Commits]
    began: float
    died: float
    requests: int
    server: float
    machine: float


class Writers:
    """Writer processes, which stay alive between the tables of a run."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket, self._members = bucket, list[tuple[Any, Connection]]()
        self._tables = 0

    def commit(
        self, count: int, seconds: float, options: Mapping[str, str], phase: Phase, mode: str = NBCC, dies: bool = False
    ) -> Run:
        """Let `count` writers commit to a new table. If one `dies`, it is killed at its first publication.
        """
        self._tables += 1
        url, bucket = f"s3://lake/t{self._tables}", self._bucket
        bucket.latency_seconds = 0.0
        bucket.objects.clear()
        Table.create(
            None, url, SCHEMA, record_key="id", ordering_fields="ts", buckets=BUCKETS, concurrency_mode=mode,
            options={SKEW: str(SKEW_MS), **options}, storage_options=bucket.options,
        )  # fmt: skip
        members = [self._member(number) for number in range(count)]
        for number, (_, pipe) in enumerate(members):
            mortal = dies and number == count - 1
            pipe.send((url, bucket.options, seconds, phase, number, mortal))
        for _, pipe in members:
            pipe.recv()
        bucket.latency_seconds = LATENCY_SECONDS
        bucket.requests.clear()
        began, cores, machine = time.monotonic(), time.process_time(), busy()
        for _, pipe in members:
            pipe.send("go")
        died = self._died(members) if dies else 0.0
        time.sleep(max(0.0, began + seconds - time.monotonic()))
        requests, server = len(bucket.sent), time.process_time() - cores
        machine = busy() - machine
        found = [pipe.recv() for _, pipe in members[: len(members) - dies]]
        returned = sum(len(each.returned) for each in found) + count  # each writer commits once before the run
        completed = sum(bool(COMPLETED.search(key)) for key in [*bucket.objects])
        if completed < returned or (completed > returned and not dies):  # a dead writer's commits have no answer
            raise RuntimeError(f"{returned} commits returned, and the timeline has {completed}")
        return Run(found, began, died, requests, server, machine)

    def close(self) -> None:
        """End the processes."""
        for process, pipe in self._members:
            pipe.close()
            process.join()

    def _member(self, number: int) -> tuple[Any, Connection]:
        while len(self._members) <= number:
            here, there = _SPAWNED.Pipe()
            process = _SPAWNED.Process(target=_serve, args=(there,), daemon=True)
            process.start()
            there.close()
            self._members.append((process, here))
        return self._members[number]

    def _died(self, members: list[tuple[Any, Connection]]) -> float:
        victim, pipe = members[-1]
        if not wait([victim.sentinel], 60):
            raise RuntimeError("the writer that was to die has not reached its publication in a minute")
        died = time.monotonic()
        victim.join()
        pipe.close()
        self._members.remove(members[-1])
        return died


@contextmanager
def writers() -> Iterator[Writers]:
    """Writers on a server of their own."""
    with s3_server() as bucket:
        made = Writers(bucket)
        try:
            yield made
        finally:
            made.close()


def _serve(pipe: Connection) -> None:
    """Commit to one table after another, as the other end of the pipe says."""
    with suppress(EOFError):
        while True:
            url, options, seconds, phase, number, dies = pipe.recv()
            table = Table.open(None, url, options)
            jobs = _Timed(table.context.storage, table.context.names, phase)
            table.context = replace(table.context, jobs=jobs)
            _commit(table, f"{number}.warm")
            pipe.send("ready")
            pipe.recv()
            if dies:
                _die_at_publication(table)
            pipe.send(_commits(table, jobs, number, seconds))


def _commits(table: Table, jobs: _Timed, number: int, seconds: float) -> Commits:
    made, began_cores = Commits([], [], [], 0, 0.0), time.process_time()
    conflicts, until = 0, time.monotonic() + seconds
    while (began := time.monotonic()) < until:
        conflicts += _commit(table, f"{number}.{len(made.returned)}")
        now = time.monotonic()
        made.returned.append(now)
        made.took.append(now - began)
        made.committing.append(now - jobs.ready)
    return made._replace(conflicts=conflicts, cores=time.process_time() - began_cores)


def _commit(table: Table, keys: str) -> int:
    """Write one batch, again after each conflict, and return the number of conflicts."""
    conflicts = 0
    batch = pa.table({"id": [f"{keys}.{row}" for row in range(ROWS)], "ts": [time.time_ns()] * ROWS}, schema=SCHEMA)
    while True:
        try:
            table.upsert(batch)
        except Conflict as conflict:
            if conflict.against is None:
                raise
            conflicts += 1
        else:
            return conflicts


class _Timed(InProcessJobs):
    """Data tasks that record when the data files are ready. In the phase `commit` only the first batch of a table puts
    files; later commits put the markers alone, and name the files as if they were files of their own instants.
    """

    def __init__(self, storage: Storage, names: Names, phase: Phase) -> None:
        super().__init__(storage, names)
        self._phase, self._files, self._instant, self.ready = phase, list[WrittenFile](), "", 0.0

    def write(self, data: pa.Table, task: WriteTask) -> list[WrittenFile]:
        if self._phase == "write" or not self._files:
            self._files, self._instant = super().write(data, task), task.instant
        files = [replace(file, path=file.path.replace(self._instant, task.instant)) for file in self._files]
        if self._instant != task.instant:
            puts = [partial(self._storage.put_if_absent, marker(task.instant, "", file.path), b"") for file in files]
            together(self._storage, puts)
        self.ready = time.monotonic()
        return files


def _die_at_publication(table: Table) -> None:
    storage = table.context.storage
    asked: Callable[..., Any] = vars(type(storage))["_ask"]

    def ask(operation: str, path: str, request: Callable[[Any], Any]) -> Any:
        if COMPLETED.search(path):
            os.kill(os.getpid(), signal.SIGKILL)
        return asked(storage, operation, path, request)

    vars(storage)["_ask"] = ask  # the engine copies the attributes of an object store into other objects
