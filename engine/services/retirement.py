"""Determines which archived commits no plan of a table service needs any more.

The history of a table grows without limit, so a long-lived service process forgets old commits. A commit is retired,
that is, no longer read, if it is archived and its files are only in slices older than the horizon of a clean. The
horizon (the oldest readable time) never decreases, so no later plan needs the files of a retired commit. If a table has
been restored, no commit is retired, because a restore changes the set of live files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..context import Context
from ..files.log_compaction import input_logs
from ..files.slices import FileSlice
from ..rules import NBCC, Rules
from ..timeline.commits import Commits
from ..timeline.history import Current
from ..timeline.instant import Instant
from .plan import current_slices

RETIRED: Final = frozenset({"commit", "deltacommit"})
"""The actions that are retired. A replacecommit is not: it hides file groups."""

_RULES: Final = ("archive_bound", "files", "plan_takes", "retention", "slicing", "tombstone_logs", "visibility")
"""Under weaker rules a slice that a clean has put before the horizon may be needed again."""


def retire_unneeded(context: Context, timeline: Current, rules: Rules) -> tuple[FileSlice, ...]:
    """Retire the commits that no later plan needs, and return the slices from which that follows: `current_slices`.

    A service that runs for months plans often. Each planning has decoded the commits of `timeline`, so it is also the
    time at which the process can forget some of them.
    """
    slices = current_slices(context, timeline, rules)
    context.commits.retire(not_needed(timeline, context.commits, slices, rules), timeline)
    return slices


def not_needed(timeline: Current, commits: Commits, slices: Iterable[FileSlice], rules: Rules) -> tuple[Instant, ...]:
    """Return the archived commits that completed before the horizon and before the newest compaction was planned, and
    that have no file in the table's current slices.

    Services count the commits since the newest compaction. The inputs of a log compaction are needed as long as the log
    compaction is, because they determine the place of its log.
    """
    if timeline.restores or any(getattr(rules, name) != getattr(NBCC, name) for name in _RULES):
        return ()
    # Without a clean the bound is '', so that nothing is retired. Without a compaction the horizon alone counts.
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
    return tuple(instant for instant in timeline.instants if not is_needed(instant))
