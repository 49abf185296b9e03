"""Extracts a workload from the timeline of a Hudi table: arrivals, sizes, file groups and the interval of compactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Final

from nbcc.engine.audit import Commit, gather
from nbcc.engine.audit.record import SERVICES
from nbcc.engine.clock import to_millis
from nbcc.engine.config.concurrency import NON_BLOCKING, OPTIMISTIC, OPTION, SINGLE_WRITER
from nbcc.engine.config.coordination import coordination_of, is_shared
from nbcc.engine.errors import BadInput
from nbcc.engine.storage import Storage

from .past import groups_of, past_figures, seconds_of
from .scenario import LockOptions, Mode, PlannedBatch, Scenario, Service, TableLoad

LEAST: Final = 2
"""The fewest completed writes from which a workload can be taken."""

MODE_OF: Final[Mapping[str, Mode]] = {NON_BLOCKING: "nbcc", OPTIMISTIC: "occ", SINGLE_WRITER: "single"}
"""A table's concurrency mode -> the mode of the simulation."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The workload that a table's timeline records, with the concurrency mode, the number of compactions, and
    statistics of the recorded commits.

    `mode` is None if the table properties do not record the concurrency mode. `every` is the median interval between
    compactions in seconds, or 0 without compactions. The time from the first write to the first compaction counts as an
    interval between compactions. `figures` contains the statistics that `past_figures` computes from the timeline.
    """

    scenario: Scenario
    mode: Mode | None
    compactions: int
    every: float
    figures: Mapping[str, float]


def recording(storage: Storage, base: Scenario | None = None) -> Recorded:
    """Derive a workload and its statistics from the timeline of the table in `storage`. The store, lock, services and
    readers are taken from `base`, if given.

    Writes that overlap in time are assigned to different writers. The data phase of a simulated write takes as long as
    the recorded write without its wait for clock skew. Raises `BadInput` if the table has too few completed writes.
    """
    audit = gather(storage)
    commits = [commit for commit in audit.commits.values() if seconds_of(commit) is not None]
    writes = sorted(
        (commit for commit in commits if commit.operation.upper() not in SERVICES),
        key=lambda commit: commit.instant.requested,
    )
    if len(writes) < LEAST:
        exists = f"it has {len(writes)} completed writes with both times"
        raise BadInput(f"simulate {storage.url}", exists, f"a workload needs {LEAST} or more; name a scenario instead")
    own = _defaults(storage, audit.properties, commits, to_millis(writes[0].instant.requested))
    wait = own.lock.skew + 0.001
    numbers: dict[tuple[str, str], int] = {}
    start = to_millis(writes[0].instant.requested)
    batches = []
    for commit in writes:
        groups = tuple(sorted({numbers.setdefault(group, len(numbers)) for group in groups_of(commit)}))
        rows = sum(stat.writes + stat.deletes for stat in commit.stats)
        at = (to_millis(commit.instant.requested) - start) / 1000
        if groups:
            batches.append(PlannedBatch(at, rows, groups, max(0.001, (seconds_of(commit) or 0.0) - wait)))
    end = max(to_millis(commit.instant.completed or "0") for commit in writes)
    stats = [stat for commit in writes for stat in commit.stats]
    size, rows = sum(stat.size for stat in stats), sum(stat.writes for stat in stats)
    scenario = replace(
        base or own,
        name=audit.properties.get("hoodie.table.name", "table"),
        about=f"{len(batches):,} recorded writes to {len(numbers):,} file groups",
        hours=max(1.0, (end - start) / 1000 + 1) / 3600,
        table=TableLoad(1, max(1, len(numbers)), 0, max(1, round(size / max(1, rows)))),
        writers=(),
        recorded=tuple(tuple(lane) for lane in _lanes(batches)),
    )
    compactions = [commit for commit in commits if commit.operation.upper() == "COMPACT"]
    mode = MODE_OF.get(audit.properties.get(OPTION, ""))
    figures = past_figures(writes, compactions, scenario.seconds)
    return Recorded(scenario, mode, len(compactions), own.compaction.every, figures)


def _defaults(storage: Storage, properties: Mapping[str, str], commits: Iterable[Commit], start: int) -> Scenario:
    """Return a scenario derived from the table's properties and compactions. `start` is the requested time of the
    table's first write, in milliseconds.
    """
    shared = is_shared(storage.url)
    agreed = coordination_of(properties, BadInput)
    skew = 200 if agreed.skew_ms is None and shared else agreed.skew_ms or 0
    zookeeper = agreed.lock.startswith("Zookeeper")
    lock = LockOptions(
        "zookeeper" if zookeeper else "lease" if shared else "file", skew / 1000, agreed.lock_wait_ms / 1000,
        float(agreed.lease_seconds), agreed.decision,
    )  # fmt: skip
    planned = sorted(to_millis(c.instant.requested) for c in commits if c.operation.upper() == "COMPACT")
    gaps = [max(0.001, (later - earlier) / 1000) for earlier, later in pairwise([start, *planned])]
    return Scenario(
        name="", store="s3" if shared else "local", lock=lock, compaction=Service(every=median(gaps) if gaps else 0.0)
    )


def _lanes(batches: Iterable[PlannedBatch]) -> list[list[PlannedBatch]]:
    """Distribute batches over writers: each batch is assigned to the first writer that is free when the batch arrives.
    """
    lanes: list[list[PlannedBatch]] = []
    for batch in batches:
        free = next((lane for lane in lanes if lane[-1].at + lane[-1].took <= batch.at), None)
        if free is None:
            lanes.append(free := [])
        free.append(batch)
    return lanes
