"""Decides which completed instants conflict with a write that is about to publish (RFC-22, "Concurrency Control", step
4).

By default, two writes conflict if both have files in the same bucket of the same partition. File ids are not compared,
because two writers that find a bucket empty may each start a file group. A compaction does not conflict with a writer
of log files, because the completion time of a log decides its file slice.
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
    """An unpublished write whose conflicts are to be checked.

    `groups` contains the file groups that the write changes, and `file_ids` their file ids. Instants published before
    the actor began cannot conflict; `sealed` is their number.
    """

    groups: tuple[int, ...]
    file_ids: Ids
    sealed: int


def concurrent(published: Published, sealed: int, protocol: Protocol) -> Published:
    """Return the instants that may conflict with an unpublished write, in the order of publication.

    By default, these are the instants that completed after the write began. With `conflict_window = requested`,
    instants that were requested earlier but complete after the write began are not checked.
    """
    if protocol[Occ].conflict_window == "completion":
        return published[sealed:]
    newest = max((entry.requested for entry in published[:sealed]), default=0)
    return tuple(entry for entry in published if entry.requested > newest)


def conflicting(published: Published, plans: Iterable[Plan], attempt: Attempt, protocol: Protocol) -> int | None:
    """Return the requested time of the first completed instant that conflicts with an unpublished write; None if there
    is no conflict.
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
    """For each clustered file group in `groups`, return a pair (file group, requested time of its newest clustering).
    """
    done = (entry for entry in published if isinstance(entry, Compaction))
    newest = {group: entry.requested for entry in done for group in clustered(entry)}
    return tuple((group, newest[group]) for group in groups if group in newest)
