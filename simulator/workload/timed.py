"""A local table whose storage requests and lock phases are measured."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.lock import Lock
from nbcc.engine.storage import ByteRange, Entry, LocalStorage, open_storage
from nbcc.engine.table import Table

SCHEMA: Final = pa.schema(
    [("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("amount", pa.float64()), ("note", pa.string())]
)


class Stopwatch:
    """Measures the duration of each kind of storage request, and records the processor time used so far at each
    acquisition and release of the lock.

    Processor time does not grow while the process sleeps or waits, or while other processes use the cores.
    """

    def __init__(self) -> None:
        self.requests: dict[str, list[float]] = defaultdict(list)
        self.marks: list[tuple[float, float]] = []  # (processor time, that of requests until then)
        self._sum = 0.0

    def mark(self) -> None:
        """Record the processor time used so far, and the part of it that storage requests used."""
        self.marks.append((time.process_time(), self._sum))

    @contextmanager
    def request(self, verb: str) -> Iterator[None]:
        """Measure the duration of the storage request in the `with` block."""
        began, used = time.perf_counter(), time.process_time()
        yield
        self.requests[verb].append(time.perf_counter() - began)
        self._sum += time.process_time() - used

    def between(self) -> list[float]:
        """Return the processor seconds between consecutive calls of `mark`, excluding time spent on storage requests.
        """
        return [max(0.0, (b[0] - a[0]) - (b[1] - a[1])) for a, b in zip(self.marks, self.marks[1:], strict=False)]


class TimedStorage(LocalStorage):
    """A local storage whose requests are measured."""

    def __init__(self, url: str, watch: Stopwatch) -> None:
        super().__init__(url)
        self._watch = watch

    def put_if_absent(self, path: str, data: bytes) -> bool:
        with self._watch.request("put"):
            return super().put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        with self._watch.request("put"):
            super().put(path, data)

    def get(self, path: str) -> bytes:
        with self._watch.request("get"):
            return super().get(path)

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        with self._watch.request("get"):
            return super().get_ranges(path, ranges)

    def list(self, prefix: str) -> list[Entry]:
        with self._watch.request("list"):
            return super().list(prefix)

    def paths(self, prefix: str) -> Sequence[str]:
        with self._watch.request("list"):
            return super().paths(prefix)

    def delete_all(self, paths: Sequence[str]) -> None:
        with self._watch.request("delete"):
            super().delete_all(paths)


class TimedLock:
    """A lock whose acquisitions and releases a stopwatch records."""

    def __init__(self, lock: Lock, watch: Stopwatch) -> None:
        self._lock, self._watch = lock, watch

    def acquire(self) -> None:
        self._watch.mark()
        self._lock.acquire()

    def release(self) -> None:
        self._lock.release()
        self._watch.mark()


def batch(rows: int, number: int, partition: str = "p0") -> pa.Table:
    """Return a batch with the given number of rows. Keys are numbered consecutively, starting with `number`."""
    columns = {
        "id": [f"key-{number + n}" for n in range(rows)], "part": [partition] * rows, "ts": [*range(rows)],
        "amount": [n * 0.5 for n in range(rows)], "note": [f"note of the row {n}" for n in range(rows)],
    }  # fmt: skip
    return pa.table(columns, schema=SCHEMA)


def timed_table(path: Path, buckets: int) -> tuple[Stopwatch, Table]:
    """Create a table with the given number of buckets, and a stopwatch that measures its storage requests and the
    phases under its lock.
    """
    Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=buckets)
    watch = Stopwatch()
    table = Table.open(None, path)
    storage = TimedStorage(open_storage(path).url, watch)
    context = replace(table.context, storage=storage, lock=TimedLock(table.context.lock, watch))
    jobs: Any = type(context.jobs)
    table.context = replace(context, jobs=jobs(storage, context.names))
    return watch, table
