"""What archiving may move: the oldest completed instants that nobody needs to find on the active timeline.

In the order of requested times, so that what stays is the newer part: whoever takes an instant older than the active
timeline for completed is right then. Nothing goes that was requested or completed after the request of a pending
instant: what a failed write has put is recognised by it, and an optimistic writer finds all that completed since it
began. The newest writes stay, the newest clean, restores, and writes whose logs a snapshot merges, which some readers
look for on the active timeline alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from ..files.covering import covered, standing_in
from ..protocol import Protocol
from ..reads.definitions import taken
from ..table import Cleaned, Compaction, LogCompaction, Restored, Table, Write

WRITES = (Write, Compaction, LogCompaction)
"""What adds data files."""


def archivable(
    active: Iterable[Any], pending: Iterable[int], stay: frozenset[int], protocol: Protocol
) -> tuple[int, ...]:
    """The requested times of the completed instants on the active timeline that may go now, ascending.

    `pending`: those of what is not completed; `stay`: of what stays anyway.
    """
    bound = min(pending, default=inf) if protocol.archive_bound == "pending" else inf
    found: list[int] = []
    for entry in sorted(active, key=lambda entry: entry.requested):
        stays = entry.requested in stay or entry.requested >= bound or entry.completed >= bound
        if stays and isinstance(entry, WRITES):
            break
        if not stays:
            found.append(entry.requested)
    return tuple(found)


def staying(active: list[Any], table: Table, groups: int, retained: int, protocol: Protocol) -> frozenset[int]:
    """The completed instants that stay whatever is pending, by requested time."""
    by_completion = sorted(active, key=lambda entry: entry.completed)
    newest = [entry.requested for entry in by_completion if isinstance(entry, WRITES)][-retained:]
    cleans = [entry.requested for entry in by_completion if isinstance(entry, Cleaned)][-1:]
    restores = [entry.requested for entry in active if isinstance(entry, Restored)]
    merged = (instant for group in range(groups) for instant in _merged(table, group, protocol))
    return frozenset((*newest, *cleans, *restores, *merged))


def last_decided(decisions: tuple[Any, ...]) -> frozenset[int]:
    """Where a log decides, the requested time of its last entry: whoever decides next looks on the active timeline
    whether that is published."""
    return frozenset(entry if isinstance(entry, int) else entry.requested for entry in decisions[-1:])


def _merged(table: Table, group: int, protocol: Protocol) -> Iterable[int]:
    """The instants whose logs a snapshot merges in a file group, and those of the logs that these stand for."""
    logs = tuple(log for write in taken(table, group, inf, protocol)[1] for log in write.logs(group))
    read = standing_in(table, group, logs, protocol)
    return (requested for requested, _ in (*logs, *covered(table, group, read)))
