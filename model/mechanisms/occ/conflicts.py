"""Decides which completed instants conflict with a write that is about to publish (RFC-22, "Concurrency Control", step
4).

Two writes conflict if both have files in one bucket of one partition, under any file ids. The file ids do not count,
because two writers that find a bucket empty may each begin a file group. A compaction does not conflict with a writer
of log files, because a log belongs to the slice in which it completes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...kernel.table import Compaction, Plan, Write
from ...protocol import Protocol
from ..clustering import clustered
from ..file_ids import Ids, file_id_of, new_file_ids
from .options import Occ

Published = tuple[Write | Compaction, ...]


class Attempt(NamedTuple):
    """An unpublished write. `groups` lists the file groups that the write touches, and `file_ids` its file ids.

    `sealed` counts the instants that were published when the actor recorded the state of the timeline.
    """

    groups: tuple[int, ...]
    file_ids: Ids
    sealed: int


def concurrent(published: Published, sealed: int, protocol: Protocol) -> Published:
    """The instants that may conflict with an attempt, in the order of publication.

    With the option value `conflict_window = requested`, an instant may conflict only if it was requested after the
    newest instant that the attempt saw. The option value excludes an instant that was requested before the newest
    instant that the attempt saw, but completes after it.
    """
    if protocol[Occ].conflict_window == "completion":
        return published[sealed:]
    newest = max((entry.requested for entry in published[:sealed]), default=0)
    return tuple(entry for entry in published if entry.requested > newest)


def conflicting(published: Published, plans: Iterable[Plan], attempt: Attempt, protocol: Protocol) -> int | None:
    """The requested time of the first completed instant that conflicts with an attempt; None if no instant conflicts.
    """
    groups = {plan.requested: {part.group for part in plan.groups} for plan in plans}
    for entry in concurrent(published, attempt.sealed, protocol):
        if isinstance(entry, Compaction):
            by_plan = protocol[Occ].priority == "first"
            taken = groups.get(entry.requested, set()) if by_plan else set(clustered(entry))
            if taken & set(attempt.groups):
                return entry.requested
        elif isinstance(entry, Write) and any(_same(entry, attempt, group, protocol) for group in attempt.groups):
            return entry.requested
    return None


def _same(write: Write, attempt: Attempt, group: int, protocol: Protocol) -> bool:
    if group not in write.groups:
        return False
    by_bucket = protocol[Occ].conflict_by == "bucket"
    return by_bucket or file_id_of(new_file_ids(write), group) == file_id_of(attempt.file_ids, group)


def clusterings(published: Published, groups: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return (file group, requested time of the newest clustering that replaced it) for each file group with a
    clustering.
    """
    done = (entry for entry in published if isinstance(entry, Compaction))
    newest = {group: entry.requested for entry in done for group in clustered(entry)}
    return tuple((group, newest[group]) for group in groups if group in newest)
