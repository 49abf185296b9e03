"""Takes a workload from the timeline of a Hudi table: arrivals, sizes, file groups and the interval of compactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from nbcc.engine.audit import Commit, gather
from nbcc.engine.audit.record import SERVICES
from nbcc.engine.clock import to_millis
from nbcc.engine.config.coordination import coordination_of, is_shared
from nbcc.engine.errors import BadInput
from nbcc.engine.file_names import split_path
from nbcc.engine.files.group_files import data_file
from nbcc.engine.storage import Storage

from .scenario import Batch, LockOptions, Scenario, Service, TableShape

LEAST: Final = 2
"""The fewest completed writes from which a workload can be taken."""


def recorded(storage: Storage, base: Scenario | None = None) -> Scenario:
    """The workload of the table in `storage`. `base`: the scenario whose store, lock, services and readers apply.

    Writes that overlap in time belong to different writers. The data phase of a write takes as long as it took. Raises
    `BadInput` if the table has too few completed writes.
    """
    audit = gather(storage)
    commits = [*audit.commits.values()]
    writes = sorted(
        (commit for commit in commits if commit.operation.upper() not in SERVICES and _took(commit) is not None),
        key=lambda commit: commit.instant.requested,
    )
    if len(writes) < LEAST:
        exists = f"it has {len(writes)} completed writes with both times"
        raise BadInput(f"simulate {storage.url}", exists, f"a workload needs {LEAST} or more; name a scenario instead")
    numbers: dict[tuple[str, str], int] = {}
    start = to_millis(writes[0].instant.requested)
    batches = []
    for commit in writes:
        groups = tuple(sorted({numbers.setdefault(group, len(numbers)) for group in _groups(commit)}))
        rows = sum(stat.rows + stat.deletes for stat in commit.stats)
        at = (to_millis(commit.instant.requested) - start) / 1000
        if groups:
            batches.append(Batch(at, rows, groups, _took(commit) or 0.0))
    end = max(to_millis(commit.instant.completed or "0") for commit in writes)
    size, rows = (sum(getattr(stat, name) for commit in writes for stat in commit.stats) for name in ("size", "rows"))
    scenario = base or _defaults(storage, audit.properties, commits)
    return replace(
        scenario,
        name=audit.properties.get("hoodie.table.name", "table"),
        about=f"{len(batches):,} recorded writes to {len(numbers):,} file groups",
        hours=max(1.0, (end - start) / 1000 + 1) / 3600,
        table=TableShape(1, max(1, len(numbers)), 0, max(1, round(size / max(1, rows)))),
        writers=(),
        recorded=tuple(tuple(lane) for lane in _lanes(batches)),
    )


def _defaults(storage: Storage, properties: Mapping[str, str], commits: Iterable[Commit]) -> Scenario:
    """The store, lock and compactions of the table itself."""
    shared = is_shared(storage.url)
    agreed = coordination_of(properties, BadInput)
    skew = 200 if agreed.skew_ms is None and shared else agreed.skew_ms or 0
    zookeeper = agreed.lock.startswith("Zookeeper")
    lock = LockOptions(
        "zookeeper" if zookeeper else "lease" if shared else "file", skew / 1000, agreed.lock_wait_ms / 1000,
        float(agreed.lease_seconds), agreed.decision,
    )  # fmt: skip
    planned = sorted(to_millis(c.instant.requested) for c in commits if c.operation.upper() == "COMPACT")
    gaps = [(later - earlier) / 1000 for earlier, later in pairwise(planned)]
    return Scenario(
        name="", store="s3" if shared else "local", lock=lock, compaction=Service(every=median(gaps) if gaps else 0.0)
    )


def _took(commit: Commit) -> float | None:
    """The seconds from the request to the completion; None if a time is unknown."""
    if not commit.instant.completed:
        return None
    return max(0.0, (to_millis(commit.instant.completed) - to_millis(commit.instant.requested)) / 1000)


def _groups(commit: Commit) -> Iterator[tuple[str, str]]:
    for stat in commit.stats:
        if (file := data_file(stat.path, stat.size, commit.instant)) is not None:
            yield split_path(stat.path)[0], file.file_id


def _lanes(batches: Iterable[Batch]) -> list[list[Batch]]:
    """The batches of each writer: each batch goes to the first writer that is free when it arrives."""
    lanes: list[list[Batch]] = []
    for batch in batches:
        free = next((lane for lane in lanes if lane[-1].at + lane[-1].took <= batch.at), None)
        if free is None:
            lanes.append(free := [])
        free.append(batch)
    return lanes
