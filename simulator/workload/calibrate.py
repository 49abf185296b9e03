"""Measures the engine on this machine and fits the times in `costs.Calibration`. A calibration takes one to two
minutes.
"""

from __future__ import annotations

import json
import math
import os
import platform
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from nbcc.engine.table import Table

from .costs import VERBS
from .listings import ListingCosts, measured_listings, of_listings
from .timed import Stopwatch, batch, timed_table

ROWS: Final = (200, 2_000, 8_000, 20_000)
BUCKETS: Final = (2, 8)
REPEATS: Final = 6
LOGS: Final = (1, 3, 6)

Watch = Callable[[str, int, int], None]


class OperationCost(NamedTuple):
    """The measured core-seconds of an operation, excluding storage requests, and its numbers of rows and files."""

    seconds: float
    rows: int
    files: int


class Samples:
    """Measurements of the engine, to which a calibration is fitted."""

    def __init__(self) -> None:
        self.writes: list[OperationCost] = []
        self.compactions: list[OperationCost] = []
        self.reads: list[OperationCost] = []
        self.stages: dict[str, list[float]] = defaultdict(list)
        self.listings: list[ListingCosts] = []
        self.latencies: dict[str, list[float]] = defaultdict(list)
        self.rows: set[int] = set()

    def measure(self, progress: Watch, rows: Sequence[int], repeats: int) -> None:
        """Measure writes, compactions and reads of tables in a temporary folder. `rows` lists the numbers of rows per
        write.
        """
        points = [(count, buckets) for count in rows for buckets in BUCKETS]
        self.rows.update(rows)
        with tempfile.TemporaryDirectory(prefix="nbcc-calibrate-") as folder:
            for number, point in enumerate(points):
                progress("measuring the engine", number, len(points))
                self._writes(Path(folder) / f"w{number}", *point, repeats)
                self._services(Path(folder) / f"s{number}", *point)
            self.listings.append(measured_listings(Path(folder) / "listed"))

    def text(self) -> str:
        """Fit computation times to the measured samples. Returns the content of a calibration file (JSON)."""
        constant, per_row, per_file, noise = _fit(self.writes)
        _, compact_row, compact_log, _ = _fit(self.compactions)
        _, read_row, read_log, _ = _fit(self.reads)
        seconds = {
            "write": constant, "per_row": per_row, "per_file": per_file, "compact_row": compact_row,
            "compact_log": compact_log, "read_row": read_row, "read_log": read_log, "noise": noise,
            **{name: float(np.mean(values)) for name, values in self.stages.items()},
            **of_listings(self.listings),
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
        watch, table = timed_table(path, buckets)
        for repeat in range(repeats + 1):
            before, request, data, publish, clean_up = _write(table, watch, rows, repeat)
            if repeat:  # the first one also loads code
                self.writes.append(OperationCost(data, rows, buckets))
                times = {"prepare": before, "request": request, "publish": publish, "clean_up": clean_up}
                for name, took in times.items():
                    self.stages[name].append(took)
        self._merge(watch)

    def _services(self, path: Path, rows: int, buckets: int) -> None:
        watch, table = timed_table(path, buckets)
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
    """Measure the engine and return the content of a calibration file (JSON)."""
    samples = Samples()
    samples.measure(progress, ROWS, REPEATS)
    return samples.text()


def machine() -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}{load}"


def _write(table: Table, watch: Stopwatch, rows: int, number: int) -> list[float]:
    """Return the seconds that each part of a write takes, excluding storage requests.

    A write has five parts: the time before the request, requesting the instant, writing data, publishing, and cleaning
    up.
    """
    data = batch(rows, number * rows // 2)
    watch.marks.clear()
    watch.mark()
    table.upsert(data)
    watch.mark()
    return watch.between()


def _timed(watch: Stopwatch, operation: Callable[[], object], rows: int, logs: int) -> OperationCost:
    watch.marks.clear()
    watch.mark()
    operation()
    watch.mark()
    return OperationCost(sum(watch.between()), rows, logs)


def _fit(parts: Sequence[OperationCost]) -> tuple[float, float, float, float]:
    """Fit a linear cost model. Returns the constant cost of an operation, the cost per row and the cost per file, in
    seconds, and the spread of the residuals.

    The ratios of measured to fitted times are assumed to be log-normal; the spread is their sigma, estimated from
    quartiles. The fit minimises relative errors, so that small operations count as much as large ones. The costs are
    then scaled so that the total fitted time equals the total measured time, because the total determines the
    throughput.
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
    """Fit a log-normal distribution to durations, and return its median and 99th percentile."""
    middle, late = (float(np.percentile(seconds, share)) for share in (50, 99))
    sigma = math.log(max(late / middle, 1.0001)) / 2.326
    median = float(np.mean(seconds)) / math.exp(sigma**2 / 2)
    return [float(f"{median:.3g}"), float(f"{median * math.exp(2.326 * sigma):.3g}")]
