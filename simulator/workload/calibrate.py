"""Measures the times of the engine on this machine and fits the figures of `costs.Calibration`, in a minute or two."""

from __future__ import annotations

import json
import math
import os
import platform
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from nbcc.engine.lock import Lock
from nbcc.engine.storage import Entry, Storage, open_storage
from nbcc.engine.table import Table

from .costs import VERBS

SCHEMA: Final = pa.schema(
    [("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("amount", pa.float64()), ("note", pa.string())]
)
ROWS: Final = (200, 2_000, 8_000, 20_000)
BUCKETS: Final = (2, 8)
REPEATS: Final = 6
LOGS: Final = (1, 3, 6)
ONE_MS: Final = 0.001  # a clock without skew waits this long for each time

Watch = Callable[[str, int, int], None]


class Part(NamedTuple):
    """A measured part of an operation: seconds without its requests, and what it worked on."""

    seconds: float
    rows: int
    files: int


class Stopwatch:
    """The seconds of requests by verb, and the moments at which the lock was taken and released."""

    def __init__(self) -> None:
        self.requests: dict[str, list[float]] = defaultdict(list)
        self.marks: list[tuple[float, float]] = []  # (moment, seconds of requests until then)
        self._sum = 0.0

    def mark(self) -> None:
        """Remember this moment."""
        self.marks.append((time.perf_counter(), self._sum))

    @contextmanager
    def request(self, verb: str) -> Iterator[None]:
        """Measure one request."""
        began = time.perf_counter()
        yield
        took = time.perf_counter() - began
        self.requests[verb].append(took)
        self._sum += took

    def between(self) -> list[float]:
        """The seconds between marks, without those of requests."""
        return [max(0.0, (b[0] - a[0]) - (b[1] - a[1])) for a, b in zip(self.marks, self.marks[1:], strict=False)]


class TimedStorage:
    """A storage that measures each request."""

    def __init__(self, storage: Storage, watch: Stopwatch) -> None:
        self._storage, self._watch = storage, watch
        self.url = storage.url

    def put_if_absent(self, path: str, data: bytes) -> bool:
        with self._watch.request("put"):
            return self._storage.put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        with self._watch.request("put"):
            self._storage.put(path, data)

    def get(self, path: str) -> bytes:
        with self._watch.request("get"):
            return self._storage.get(path)

    def list(self, prefix: str) -> list[Entry]:
        with self._watch.request("list"):
            return self._storage.list(prefix)

    def delete(self, path: str) -> None:
        with self._watch.request("delete"):
            self._storage.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.delete(path)


class _TimedLock:
    """A lock that marks each acquisition and release."""

    def __init__(self, lock: Lock, watch: Stopwatch) -> None:
        self._lock, self._watch = lock, watch

    def acquire(self) -> None:
        self._watch.mark()
        self._lock.acquire()

    def release(self) -> None:
        self._lock.release()
        self._watch.mark()


def batch(rows: int, number: int, partition: str = "p0") -> pa.Table:
    """A batch of so many rows, with keys that begin at `number`."""
    columns = {
        "id": [f"key-{number + n}" for n in range(rows)], "part": [partition] * rows, "ts": [*range(rows)],
        "amount": [n * 0.5 for n in range(rows)], "note": [f"note of the row {n}" for n in range(rows)],
    }  # fmt: skip
    return pa.table(columns, schema=SCHEMA)


class Samples:
    """Measurements of the engine, from which the figures of a calibration are fitted."""

    def __init__(self) -> None:
        self.writes: list[Part] = []
        self.compactions: list[Part] = []
        self.reads: list[Part] = []
        self.stages: dict[str, list[float]] = defaultdict(list)
        self.latencies: dict[str, list[float]] = defaultdict(list)
        self.rows: set[int] = set()

    def measure(self, progress: Watch, rows: Sequence[int], repeats: int) -> None:
        """Measure writes, compactions and reads in a temporary folder, each of so many rows."""
        points = [(count, buckets) for count in rows for buckets in BUCKETS]
        self.rows.update(rows)
        with tempfile.TemporaryDirectory(prefix="nbcc-calibrate-") as folder:
            for number, point in enumerate(points):
                progress("measuring the engine", number, len(points))
                self._writes(Path(folder) / f"w{number}", *point, repeats)
                self._services(Path(folder) / f"s{number}", *point)

    def text(self) -> str:
        """Fit the figures. Returns the text of a calibration file."""
        constant, per_row, per_file, noise = _fit(self.writes)
        _, compact_row, compact_log, _ = _fit(self.compactions)
        _, read_row, read_log, _ = _fit(self.reads)
        seconds = {
            "write": constant, "per_row": per_row, "per_file": per_file, "compact_row": compact_row,
            "compact_log": compact_log, "read_row": read_row, "read_log": read_log, "noise": noise,
            **{name: max(0.0, float(np.mean(values)) - (ONE_MS if name != "clean_up" else 0.0))
               for name, values in self.stages.items()},
        }  # fmt: skip
        document = {
            "format": 1,
            "machine": machine(),
            "seconds": {name: float(f"{value:.3g}") for name, value in sorted(seconds.items())},
            "latency": {verb: _pair(self.latencies[verb]) for verb in VERBS},
            "ranges": {"rows": [min(self.rows), max(self.rows)], "writers": [1, 8]},
        }
        return json.dumps(document, indent=1) + "\n"

    def _writes(self, path: Path, rows: int, buckets: int, repeats: int) -> None:
        watch, table = _table(path, buckets)
        for repeat in range(repeats + 1):
            before, request, data, publish, clean_up = _write(table, watch, rows, repeat)
            if repeat:  # the first one also loads code
                self.writes.append(Part(before + data, rows, buckets))
                for name, took in (("request", request), ("publish", publish), ("clean_up", clean_up)):
                    self.stages[name].append(took)
        self._merge(watch)

    def _services(self, path: Path, rows: int, buckets: int) -> None:
        watch, table = _table(path, buckets)
        for logs in LOGS:
            for repeat in range(logs):
                table.upsert(batch(rows, repeat * rows // 2))
            self.reads.append(_timed(watch, table.snapshot, rows * logs, buckets * logs))
            self.compactions.append(_timed(watch, table.compact, rows * logs, buckets * logs))
        self._merge(watch)

    def _merge(self, watch: Stopwatch) -> None:
        for verb, seconds in watch.requests.items():
            self.latencies[verb] += seconds


def calibrate(progress: Watch) -> str:
    """Measure the engine. Returns the text of a calibration file."""
    samples = Samples()
    samples.measure(progress, ROWS, REPEATS)
    return samples.text()


def machine() -> str:
    """The machine in a few words."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}{load}"


def _table(path: Path, buckets: int) -> tuple[Stopwatch, Table]:
    Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=buckets)
    watch = Stopwatch()
    table = Table.open(None, path)
    storage: Any = TimedStorage(open_storage(path), watch)
    context = replace(table.context, storage=storage, lock=_TimedLock(table.context.lock, watch))
    jobs: Any = type(context.jobs)
    table.context = replace(context, jobs=jobs(storage, context.names))
    return watch, table


def _write(table: Table, watch: Stopwatch, rows: int, number: int) -> list[float]:
    """The seconds of a write, without requests: before the request, its stage, the data, publication, clean-up."""
    data = batch(rows, number * rows // 2)
    watch.marks.clear()
    watch.mark()
    table.upsert(data)
    watch.mark()
    return watch.between()


def _timed(watch: Stopwatch, operation: Callable[[], object], rows: int, logs: int) -> Part:
    watch.marks.clear()
    watch.mark()
    operation()
    watch.mark()
    return Part(sum(watch.between()), rows, logs)


def _fit(parts: Sequence[Part]) -> tuple[float, float, float, float]:
    """Constant, seconds a row, seconds a file, and the spread of the logarithm of the residual ratio.

    The fit minimises relative errors, so that small operations count as much as large ones. Then it is scaled to the
    mean of what was measured, because means decide the throughput.
    """
    took = np.array([part.seconds for part in parts])
    features = np.array([(1.0, part.rows, part.files) for part in parts])
    relative, ones = features / took[:, None], np.ones(len(parts))
    solution, *_ = np.linalg.lstsq(relative, ones, rcond=None)
    if (solution < 0).any():  # a constant below 0 is noise
        solution[1:], *_ = np.linalg.lstsq(relative[:, 1:], ones, rcond=None)
        solution[0] = 0.0
    solution = np.maximum(solution, 0.0)
    ratios = np.log(took / np.maximum(features @ solution, 1e-9))
    solution *= took.sum() / (features @ solution).sum()
    quarter, three_quarters = np.percentile(ratios, (25, 75))
    constant, row, file = (float(value) for value in solution)
    return constant, row, file, float(three_quarters - quarter) / 1.35  # a normal distribution's sigma


def _pair(seconds: Sequence[float]) -> list[float]:
    """Median and 99th percentile of the log-normal distribution with the measured mean and tail."""
    middle, late = (float(np.percentile(seconds, share)) for share in (50, 99))
    sigma = math.log(max(late / middle, 1.0001)) / 2.326
    median = float(np.mean(seconds)) / math.exp(sigma**2 / 2)
    return [float(f"{median:.3g}"), float(f"{median * math.exp(2.326 * sigma):.3g}")]
