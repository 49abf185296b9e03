"""Summarises simulated runs as statistics, each with its median and range over random seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .costs import Calibration
from .measures import PHASES, Measures
from .scenario import Scenario

CORE_HOUR: Final = 0.05
"""Dollars of a core for an hour: half of an m5.large with two cores (https://aws.amazon.com/ec2/pricing/on-demand/)."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One statistic over all seeds: the median, the least and the greatest value."""

    median: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class Line:
    """The definition of one statistic. `name` is the statistic's key in JSON; `digits` is the precision in the text
    report.
    """

    name: str
    words: str
    unit: str
    digits: int
    of: Callable[[Measures], float]


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile of samples, or 0 if there are no samples."""
    return float(np.percentile(values, share)) if len(values) else 0.0


def cost(measures: Measures) -> float:
    """Return the cost of requests and cores in dollars per simulated hour."""
    cores = measures.write_cores + measures.service_cores + measures.read_cores
    return (measures.dollars + cores / 3600 * CORE_HOUR) * 3600 / measures.seconds


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def _share(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


LINES: Final = (
    Line("rows_per_second", "committed rows", "rows/s", 0, lambda m: m.rows / m.seconds),
    Line("commits_per_minute", "commits", "a minute", 1, lambda m: 60 * m.commits / m.seconds),
    Line("late_batches", "batches begun and not committed", "", 0, lambda m: m.batches - len(m.latency)),
    Line("latency_p50", "commit latency, median", "s", 2, lambda m: percentile(m.latency, 50)),
    Line("latency_p95", "commit latency, 95th percentile", "s", 2, lambda m: percentile(m.latency, 95)),
    Line("latency_p99", "commit latency, 99th percentile", "s", 2, lambda m: percentile(m.latency, 99)),
    Line("fresh_p95", "age of a row when it becomes visible, 95th percentile", "s", 2,
         lambda m: percentile(m.fresh, 95)),
    Line("aborted_share", "attempts that did not commit", "%", 1, lambda m: _share(m.aborted, m.aborted + m.commits)),
    Line("conflict_share", "attempts that ended in a conflict", "%", 1,
         lambda m: _share(m.conflicts, m.aborted + m.commits)),
    Line("wasted_share", "core time of attempts that did not commit", "%", 1,
         lambda m: _share(m.wasted_cores, m.write_cores)),
    Line("lock_busy", "the lock is held", "% of the time", 1, lambda m: _share(m.lock_busy, m.seconds)),
    Line("lock_timeouts", "waits for the lock that timed out", "an hour", 1,
         lambda m: 3600 * m.lock_timeouts / m.seconds),
    Line("lock_requests", "requests to the lock", "an hour", 0,
         lambda m: 3600 * (m.lock_acquisitions * 2 + m.lock_polls) / m.seconds),
    Line("logs_per_slice", "log files of a slice that has some, mean", "", 1, lambda m: _mean([s[1] for s in m.logs])),
    Line("logs_greatest", "log files of the longest slice", "", 0, lambda m: max((s[2] for s in m.logs), default=0)),
    Line("compaction_seconds", "a compaction takes", "s", 1,
         lambda m: m.compaction_seconds / m.compactions if m.compactions else 0.0),
    Line("read_seconds", "a snapshot of the newest partitions, mean", "s", 2, lambda m: _mean([r[1] for r in m.reads])),
    Line("read_requests", "requests of such a snapshot, mean", "", 0, lambda m: _mean([r[2] for r in m.reads])),
    Line("requests_per_hour", "storage requests", "an hour", 0,
         lambda m: 3600 * (m.requests.total() + m.lock_requests.total()) / m.seconds),
    Line("request_dollars", "price of the storage requests", "$ a day", 2, lambda m: m.dollars * 86400 / m.seconds),
    Line("dollars", "price of requests and cores", "$ a day", 2, lambda m: 24 * cost(m)),
)  # fmt: skip


def figures(runs: Sequence[Measures]) -> dict[str, Figure]:
    """Map the name of each statistic to its median and range over the runs of one concurrency mode."""
    table = {line.name: [line.of(run) for run in runs] for line in LINES}
    return {name: Figure(float(np.median(values)), min(values), max(values)) for name, values in table.items()}


def phase_shares(runs: Sequence[Measures]) -> dict[str, float]:
    """Return the mean duration of each phase of a commit, in seconds."""
    commits = max(1, sum(len(run.latency) for run in runs))
    return {phase: sum(run.phases[phase] for run in runs) / commits for phase in PHASES}


def writer_figures(runs: Sequence[Measures], kind: str) -> tuple[float, float, float] | None:
    """Return statistics of one group of writers: mean commits per run, attempts per commit, and median latency.

    Returns None if any run has no group of writers called `kind`.
    """
    if any(kind not in run.by_writer for run in runs):
        return None
    latency = [seconds for run in runs for seconds in run.by_writer[kind]]
    aborted = sum(run.aborts_by_writer[kind] for run in runs)
    return len(latency) / len(runs), (len(latency) + aborted) / max(1, len(latency)), percentile(latency, 50)


def bottleneck(runs: Sequence[Measures], scenario: Scenario) -> str:
    """Return a sentence that names the bottleneck of the simulated workload."""
    seconds = sum(run.seconds for run in runs)
    busy, held = _share(sum(run.lock_busy for run in runs), seconds), sum(run.lock_busy for run in runs)
    skew = _share(sum(run.lock_skew for run in runs), held)
    aborted = _share(sum(run.conflicts for run in runs), sum(run.aborted + run.commits for run in runs))
    shares = phase_shares(runs)
    longest, total = max(shares, key=lambda phase: shares[phase]), sum(shares.values())
    every = scenario.compaction.every
    behind = any(run.compaction_seconds > run.compactions * every for run in runs)
    lock = f"the lock is held {busy:.0f} % of the time; the skew wait is {skew:.0f} % of that"
    if busy > 60:
        by = max(((kind, sum(run.lock_by[kind] for run in runs)) for kind in runs[0].lock_by), key=lambda each: each[1])
        return f"{lock}, and {by[0]} are {_share(by[1], held):.0f} %"
    if aborted > 20:
        return f"{aborted:.0f} % of the attempts end in a conflict, and their work is repeated; {lock}"
    if behind:
        return f"a compaction takes longer than the {every:.0f} s between two of them; {lock}"
    return f"{longest} takes {_share(shares[longest], total):.0f} % of a commit's time; {lock}"


def warnings(scenario: Scenario, calibration: Calibration) -> list[str]:
    """Return warnings about values in the scenario that are not based on measurements."""
    found = []
    low, high = calibration.ranges["rows"]
    for group in scenario.writers:
        if not low <= group.rows <= high:
            measured = f"times were measured from {low:,.0f} to {high:,.0f}"
            found.append(f"{group.name} writes {group.rows:,} rows in a batch; {measured}")
    writers = calibration.ranges["writers"][1]
    if scenario.writer_count > writers:
        found.append(f"{scenario.writer_count:,} writers; at most {writers:.0f} were compared with real ones")
    if scenario.store != "local":
        found.append(f"the latencies of {scenario.store} are published figures, not measured ones")
    if scenario.lock.provider == "zookeeper":
        found.append("the times of ZooKeeper are assumptions")
    return found


def falls_behind(runs: Sequence[Measures], mode: str) -> str:
    """Return a warning if writers cannot keep up with arriving batches, otherwise ''."""
    waits = sum(run.phases["queue"] for run in runs) / max(1, sum(len(run.latency) for run in runs))
    spans = sum(run.seconds for run in runs) / len(runs)
    if waits < 0.02 * spans:
        return ""
    return f"{mode}: the writers fall behind; a batch waits {waits / 60:.0f} minutes until its writer begins it"
