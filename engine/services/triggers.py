"""Decides which table services are due under a maintenance policy. A service is due when a count, such as the number of
new commits, reaches its limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import NamedTuple

from ..clock import to_millis
from ..config.maintenance import MaintenancePolicy
from ..config.table_properties import MOST_BUCKETS
from ..context import Context
from ..files.slices import FileSlice, newest_bases, to_read
from ..reads.checkpointed import has_checkpoints
from ..timeline import Instant, completion_of
from ..timeline.history import Active, Current
from ..timeline.state_checkpoint import WRITES_BETWEEN, checkpoint_paths, writes_since
from .cleaning import is_write
from .plan import current_slices, worth_compacting, worth_log_compacting

Reasons = Mapping[str, int]
"""The triggers that fired, each with the number that it counted; empty if the service is not due."""


class Logs(NamedTuple):
    """The logs of one file slice: their number, their total bytes, and the completion time of the oldest one."""

    number: int
    size: int
    oldest: str


def logs_of(slices: Iterable[FileSlice]) -> list[Logs]:
    """Count the completed logs of each slice; slices without completed logs are omitted."""
    done = ([log for log in piece.logs if log.completed] for piece in slices)
    return [
        Logs(len(logs), sum(log.size for log in logs), min(log.completed or "" for log in logs))
        for logs in done
        if logs
    ]


def compaction_due(context: Context, timeline: Current, policy: MaintenancePolicy) -> Reasons:
    """Return the compaction triggers of the policy that have fired, with their counts. Only file groups without a
    pending plan are counted, because a pending plan is run before a new one is made.
    """
    logs = logs_of(worth_compacting(context, timeline))
    newest = timeline.greatest_completion
    if not logs or newest is None:
        return {}
    since = max((i.requested for i in timeline.compactions), default="")
    age = (to_millis(newest) - to_millis(min(each.oldest for each in logs))) // 1000
    counted = {
        "commits": (_writes_since(context, timeline, since), policy.compact_commits),
        "logs": (max(each.number for each in logs), policy.compact_logs),
        "bytes": (max(each.size for each in logs), policy.compact_bytes),
        "seconds": (age, policy.compact_seconds),
    }
    return {name: count for name, (count, most) in counted.items() if most is not None and count >= most}


def resize_due(context: Context, timeline: Current, policy: MaintenancePolicy, buckets: int) -> tuple[int, Reasons]:
    """Return the number of buckets with which no partition exceeds `policy.resize_bytes` per bucket, and the bytes per
    bucket that it has with `buckets` now. The reasons are empty if no partition exceeds them.

    Only base files count. Logs hold several versions of a row, and a resize for them would not be needed after the next
    compaction.
    """
    if (most := policy.resize_bytes) is None:
        return buckets, {}
    sizes = Counter[str]()
    for piece in newest_bases(current_slices(context, timeline, context.rules)):
        sizes[piece.partition] += piece.base.size if piece.base else 0
    largest, wanted = max(sizes.values(), default=0), buckets
    # Doubling splits each file group into two and moves no key between old groups.
    while largest > most * wanted and 2 * wanted < MOST_BUCKETS:
        wanted *= 2
    return wanted, {"bytes_per_bucket": largest // buckets} if wanted > buckets else {}


def log_compaction_due(context: Context, timeline: Current, policy: MaintenancePolicy) -> Reasons:
    """If some slice has at least `policy.log_compact_logs` logs, return the greatest number of logs in a slice;
    otherwise, return an empty result.
    """
    most = max((each.number for each in logs_of(worth_log_compacting(context, timeline))), default=0)
    return {"logs": most} if most >= policy.log_compact_logs else {}


def clean_due(context: Context, timeline: Current, policy: MaintenancePolicy) -> Reasons:
    """If there were at least `policy.clean_commits` writes since the newest clean, return their number; otherwise,
    return an empty result.
    """
    since = next((instant.requested for instant in reversed(timeline.cleans)), "")
    writes = _writes_since(context, timeline, since)
    return {"commits": writes} if writes >= policy.clean_commits else {}


def archive_due(timeline: Active, policy: MaintenancePolicy) -> Reasons:
    """If archiving is due, return the number of completed writes on the active timeline; otherwise, return an empty
    result.

    Archiving is due only if it would move more than ``archive_most - archive_least`` writes. Writes that cannot be
    archived yet (see `held_writes`) are not counted.
    """
    writes = [instant for instant in timeline.completed if instant.writes]
    stay = max(len(held_writes(timeline)), policy.archive_least)
    is_due = len(writes) - stay > policy.archive_most - policy.archive_least
    return {"commits": len(writes)} if is_due else {}


def checkpoint_due(context: Context) -> Reasons:
    """If at least `WRITES_BETWEEN` writes and compactions have completed since the newest state checkpoint, return
    their number; otherwise, return an empty result.
    """
    if not has_checkpoints(context.rules):
        return {}
    writes = writes_since(checkpoint_paths(context.storage), context.active())
    return {"commits": writes} if writes >= WRITES_BETWEEN else {}


def held_writes(timeline: Active) -> list[Instant]:
    """Return the writes that cannot be archived yet: those that completed after a pending instant or a savepoint was
    requested.
    """
    oldest = min((instant.requested for instant in (*timeline.pending, *timeline.savepoints)), default="~")
    return [instant for instant in timeline.completed if instant.writes and completion_of(instant) >= oldest]


def _writes_since(context: Context, timeline: Current, time: str) -> int:
    since = takewhile(lambda instant: completion_of(instant) > time, reversed(timeline.completed))
    return sum(instant.writes and is_write(timeline, context.commits, instant) for instant in since)


def measure(context: Context, timeline: Active, slices: Iterable[FileSlice]) -> dict[str, int]:
    """Return the quantities that a maintenance policy limits: active instants, active writes, pending instants, and
    logs per slice. `slices` are the current ones.

    `held_writes` counts the writes that a pending instant or savepoint keeps on the active timeline. A dead writer's
    instant remains pending until its heartbeat has expired and a rollback has ended.
    """
    logs = logs_of(to_read(slices, context.rules))
    return {
        "active_instants": len(timeline.instants),
        "active_writes": sum(instant.writes for instant in timeline.completed),
        "held_writes": len(held_writes(timeline)),
        "pending_instants": len(timeline.pending),
        "logs_per_slice": max((each.number for each in logs), default=0),
    }
