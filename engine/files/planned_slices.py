"""Computes the file slices for the planning of table services, without reading commits that no plan needs any more.

The history of a table grows without limit, so a long-lived service process forgets old commits. A commit is retired,
that is, no longer read, if it is archived and its files are only in slices older than the horizon of a clean. The
horizon (the oldest readable time) never decreases, so no later plan needs the files of a retired commit. If a table has
been restored, no commit is retired, because a restore changes the set of live files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..rules import NBCC, Rules
from ..storage import Storage
from ..timeline.commits import Commits
from ..timeline.instant import Instant
from ..timeline.timeline import Timeline
from .log_compaction import input_logs
from .slices import FileSlice, load_slices

RETIRED: Final = frozenset({"commit", "deltacommit"})
"""The actions that are retired. A replacecommit is not: it hides file groups."""

_RULES: Final = ("archive_bound", "files", "plan_takes", "retention", "slicing", "tombstone_logs", "visibility")
"""Under weaker rules a slice that a clean has put before the horizon may be needed again."""


def planned_slices(storage: Storage, timeline: Timeline, commits: Commits, rules: Rules) -> tuple[FileSlice, ...]:
    """Return the table's current slices, like `load_slices`, and retire the commits that no later plan needs.
    `timeline` must be the current timeline, joined with the archived instants that are not retired (`unretired`).
    """
    slices = load_slices(storage, timeline, commits, rules)
    if not timeline.restores and all(getattr(rules, name) == getattr(NBCC, name) for name in _RULES):
        commits.retire(_not_needed(timeline, commits, slices), timeline)
    return slices


def _not_needed(timeline: Timeline, commits: Commits, slices: Iterable[FileSlice]) -> Iterable[Instant]:
    """Return the archived commits that completed before the horizon and before the newest compaction was planned, and
    that have no file in the given slices.

    Services count the commits since the newest compaction. The inputs of a log compaction are needed as long as the log
    compaction is, because they determine the place of its log.
    """
    bound = min(commits.horizon(timeline) or "", max((i.requested for i in timeline.compactions), default="~"))
    needed = {path for piece in slices for path in piece.paths}

    def is_needed(instant: Instant) -> bool:
        is_old = instant.action in RETIRED and instant.completed is not None and instant.completed < bound
        if not is_old or not commits.archive.holds(instant):
            return True
        return not needed.isdisjoint(stat.path for stat in commits.commit(instant).stats)

    for plan in reversed(timeline.log_compactions):  # a log compaction may have the log of an earlier one as its input
        if is_needed(plan):
            needed |= input_logs(plan, commits)
    return (instant for instant in timeline.instants if not is_needed(instant))
