"""Raw measurements of one simulated run, before they are summarised."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field

PHASES = ("queue", "lock wait", "lock requests", "skew wait", "under lock", "data", "deciding", "aborted", "clean-up")
"""Where the time of a commit goes. queue: a batch waits until its writer has written the previous one.
deciding: from the announcement of a commit to its publication."""


@dataclass(slots=True)
class Measures:
    """The counts, totals and samples that were measured in one simulated run. Times are in seconds.

    `latency` contains the time from each batch's arrival to the acknowledgement of its commit. `fresh` contains the
    time from each batch's arrival until readers see its rows. `phases` contains the total time that commits spent in
    each phase. `wasted_cores` is the number of core-seconds spent on aborted attempts to write a batch. `logs` contains
    samples (time, mean log files per slice with logs, maximum log files per slice, total log files). `reads` contains
    one tuple per read: (end time, duration, requests, core-seconds).
    """

    seconds: float = 0.0
    writers: int = 0
    batches: int = 0
    commits: int = 0
    rows: int = 0
    aborted: int = 0
    conflicts: int = 0
    lock_timeouts: int = 0
    crashes: int = 0
    latency: array[float] = field(default_factory=lambda: array("d"))
    fresh: array[float] = field(default_factory=lambda: array("d"))
    by_writer: dict[str, array[float]] = field(default_factory=dict)
    aborts_by_writer: Counter[str] = field(default_factory=Counter)
    phases: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    write_cores: float = 0.0
    wasted_cores: float = 0.0
    service_cores: float = 0.0
    read_cores: float = 0.0
    lock_busy: float = 0.0
    lock_skew: float = 0.0
    lock_by: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    lock_acquisitions: int = 0
    lock_polls: float = 0.0
    lock_waits: int = 0
    lock_queue: int = 0
    compactions: int = 0
    compaction_seconds: float = 0.0
    logs: list[tuple[float, float, int, int]] = field(default_factory=list)
    reads: list[tuple[float, float, int, float]] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    lock_requests: Counter[str] = field(default_factory=Counter)
    dollars: float = 0.0
