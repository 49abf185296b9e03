"""Decides which instants an archiver may move: the oldest completed instants that no actor needs on the active
timeline.

Instants are archived in the order of requested times, because actors assume that instants older than the active
timeline are completed. An instant requested or completed after the request of a pending instant stays on the active
timeline. An optimistic writer therefore finds there every instant that completed after the writer began. The newest
writes, the newest clean and all restores stay on the active timeline. A write stays on the active timeline while
snapshot queries merge its logs, because hudi-rs searches for it only there.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any, Literal

from ...kernel.table import Table
from ...machine.options import Limits, Options, limit, option
from ...rules import Rules
from ..cleaning.rules import CompletedClean
from ..log_compaction.rules import ADDS_FILES, with_inputs
from ..restores.rules import Restored


class Archiving(Options):
    """The options of archiving: which instants may be archived, and when a reader reads the archive."""

    archive_bound: Literal["pending", "none"] = option(
        "pending",
        "whether a pending instant stops archiving. pending: an instant stays if it was requested or completed after "
        "the request of the pending one; none: pending instants are ignored",
    )
    archive_lookup: Literal["after_listing", "before_listing", "never"] = option(
        "after_listing",
        "when a reader reads the archive. after_listing: after each listing; before_listing: once, before the "
        "first listing; never: it reads the active timeline alone",
    )


class ArchiveLimits(Limits):
    """The limits of archiving: how often instants are archived, and how many of the newest instants stay on the active
    timeline.
    """

    archives: int = limit(0, "how often instants may be archived")
    instants_retained: int = limit(0, "how many of the newest writes and compactions stay on the active timeline")


def archivable(rules: Rules, active: Iterable[Any], pending: Iterable[int], stay: frozenset[int]) -> tuple[int, ...]:
    """Return the requested times of the completed instants that may be archived now, in ascending order.

    `pending` contains the requested times of pending instants. `stay` contains the requested times of instants that
    must stay on the active timeline.
    """
    bound = min(pending, default=inf) if rules[Archiving].archive_bound == "pending" else inf
    found: list[int] = []
    for entry in sorted(active, key=lambda entry: entry.requested):
        stays = entry.requested in stay or entry.requested >= bound or entry.completed >= bound
        # Cleans and restores that stay do not end it: the newest clean always stays, and nothing would be archived
        # again.
        if stays and isinstance(entry, ADDS_FILES):
            break
        if not stays:
            found.append(entry.requested)
    return tuple(found)


def staying(rules: Rules, active: list[Any], table: Table, groups: int, retained: int) -> frozenset[int]:
    """Return the requested times of the completed instants that stay on the active timeline even if no instant is
    pending.
    """
    by_completion = sorted(active, key=lambda entry: entry.completed)
    newest = [entry.requested for entry in by_completion if isinstance(entry, ADDS_FILES)][-retained:]
    cleans = [entry.requested for entry in by_completion if isinstance(entry, CompletedClean)][-1:]
    restores = [entry.requested for entry in active if isinstance(entry, Restored)]
    merged = (instant for group in range(groups) for instant in _merged(rules, table, group))
    return frozenset((*newest, *cleans, *restores, *merged))


def last_decided(decisions: tuple[Any, ...]) -> frozenset[int]:
    """Return the requested time of the last entry in a decision log (an append-only log of commit decisions). An
    archiver must leave the last decided instant on the active timeline, because the next actor to append an entry
    searches for it there.
    """
    return frozenset(entry if isinstance(entry, int) else entry.requested for entry in decisions[-1:])


def _merged(rules: Rules, table: Table, group: int) -> Iterable[int]:
    writes = rules.base_and_writes(table, group, inf)[1]
    logs = (log for write in writes for log in rules.logs_of(write, group))
    read = rules.merged_logs(table, group, writes, inf)
    return (requested for requested, _ in (*logs, *with_inputs(table, group, read)))
