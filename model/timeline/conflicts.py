"""Which completed writes conflict with a write that is about to publish (RFC-22, "Concurrency Control", step 4).

Two writes conflict if both have files in one bucket of one partition: the names of the files do not matter, for two
writers that find a bucket empty may each begin a file group of their own. A compaction takes nothing from a writer,
whose logs belong to whatever slice they complete in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..kernel.table import Compaction, Plan, Write
from ..mechanisms.clustering import clustered
from ..mechanisms.file_ids import minted_ids
from ..protocol import Protocol

Published = tuple[Write | Compaction, ...]


class Attempt(NamedTuple):
    """A write that is not published: the file groups that it touches, with the file id of each (`file_id_of`).

    `mark` counts what was published when its timeline was sealed.
    """

    groups: tuple[int, ...]
    file_ids: tuple[tuple[int, int], ...]
    mark: int


def since_its_beginning(published: Published, mark: int, protocol: Protocol) -> Published:
    """What an attempt is held against, in the order of publication.

    By start time it is what was requested after the newest instant that was complete when it began: of two that
    overlap, one that was requested earlier and completes later is not looked at.
    """
    if protocol.conflict_window == "completion":
        return published[mark:]
    newest = max((entry.requested for entry in published[:mark]), default=0)
    return tuple(entry for entry in published if entry.requested > newest)


def conflicting(published: Published, plans: Iterable[Plan], attempt: Attempt, protocol: Protocol) -> int | None:
    """The requested time of the first completed instant that conflicts with an attempt; None: it may publish."""
    groups = {plan.requested: {part.group for part in plan.groups} for plan in plans}
    for entry in since_its_beginning(published, attempt.mark, protocol):
        if isinstance(entry, Compaction):
            taken = groups.get(entry.requested, set()) if protocol.priority == "first" else set(clustered(entry))
            if taken & set(attempt.groups):
                return entry.requested
        elif isinstance(entry, Write) and any(_same(entry, attempt, group, protocol) for group in attempt.groups):
            return entry.requested
    return None


def _same(write: Write, attempt: Attempt, group: int, protocol: Protocol) -> bool:
    if group not in write.groups:
        return False
    return protocol.conflict_by == "bucket" or file_id_of(write, group) == file_id_of(attempt, group)


def file_id_of(write: Write | Attempt, group: int) -> int:
    """The file id under which a write puts its files in a bucket: 0 is the fixed one, others are named by the
    requested time of the write that began them."""
    ids = write.file_ids if isinstance(write, Attempt) else minted_ids(write)
    return dict(ids).get(group, 0)


def clusterings(published: Published, groups: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """(group, requested time of the newest clustering whose file group took its place), as far as there is one."""
    done = (entry for entry in published if isinstance(entry, Compaction))
    newest = {group: entry.requested for entry in done for group in clustered(entry)}
    return tuple((group, newest[group]) for group in groups if group in newest)


def file_ids(
    published: Published, groups: Iterable[int], requested: int, protocol: Protocol
) -> tuple[tuple[int, int], ...]:
    """(group, file id) of a write that has looked at what is published; none where the bucket fixes the id."""
    if protocol.file_ids == "fixed":
        return ()
    return tuple((group, _newest(published, group, requested)) for group in groups)


def _newest(published: Published, group: int, requested: int) -> int:
    writes = (entry for entry in reversed(published) if isinstance(entry, Write) and group in entry.groups)
    return next((file_id_of(write, group) for write in writes), requested)
