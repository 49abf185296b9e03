"""Stop watches: wall time of an operation, and how much of it passed while no Spark job ran."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pyspark.sql import SparkSession

T = TypeVar("T")


@dataclass
class Timings:
    """Seconds of each round of one operation, and of them those outside Spark jobs."""

    seconds: list[float] = field(default_factory=list)
    outside: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def median_outside(self) -> float:
        return statistics.median(self.outside)


class Clock:
    """Times operations under names, over any number of rounds."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.timings: dict[str, Timings] = {}

    def time(self, name: str, operation: Callable[[], T]) -> T:
        """What `operation` returns; its time is kept under `name`."""
        known = len(self._jobs())
        start = time.time()
        answer = operation()
        end = time.time()
        timings = self.timings.setdefault(name, Timings())
        timings.seconds.append(end - start)
        timings.outside.append(end - start - covered(self._jobs()[known:], start, end))
        return answer

    def _jobs(self) -> list[tuple[float, float]]:
        """Beginning and end (seconds since 1970) of every job so far, in the order in which they began."""
        context: Any = self._spark.sparkContext._jsc
        context.sc().listenerBus().waitUntilEmpty()
        store = context.sc().statusStore()
        found = store.jobsList(None)
        jobs = [found.apply(place) for place in range(found.size())]
        times = [
            (job.submissionTime().get().getTime() / 1000, job.completionTime().get().getTime() / 1000) for job in jobs
        ]
        return sorted(times)


def covered(intervals: list[tuple[float, float]], start: float, end: float) -> float:
    """How much of [start, end] at least one of the intervals (rising) covers."""
    total, reached = 0.0, start
    for begin, finish in intervals:
        first, last = max(begin, reached), min(finish, end)
        if last > first:
            total += last - first
            reached = last
    return total
