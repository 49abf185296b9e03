"""Log compaction: one log stands for others of its slice, where they stood (RFC-66, `handle_log_compaction`).

What a log compaction takes is contiguous in completion order, so that its log may rank where the newest of them did.
Whoever reads as of a time before its completion goes on with what it took, and so do incremental reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..rules import Rules
from ..timeline.commits import Commits
from ..timeline.timeline import Timeline
from .group_files import BaseFile, Group, LogFile, visible

Covers = Mapping[str, tuple[str, ...]]
"""Path of a log -> paths of those that it stands for, in merge order."""


def covers_of(
    timeline: Timeline, commits: Commits, rules: Rules, as_of: str | None = None
) -> dict[str, tuple[str, ...]]:
    """What the log compactions of ours that were visibly completed by then have taken."""
    found: dict[str, tuple[str, ...]] = {}
    for instant in timeline.completed:
        listed = rules.files == "listed" or timeline.is_log_compaction(instant)
        if instant.action == "deltacommit" and listed and visible(instant, as_of, rules):
            found.update(commits.commit(instant).covers)
    return found


def standing_in(
    files: Iterable[BaseFile | LogFile], covers: Covers, pending: frozenset[str], rules: Rules
) -> Iterator[BaseFile | LogFile]:
    """The files that are read: instead of logs that are covered the one that covers them.

    `pending`: requested times of log compactions that have not completed, whose logs count for nothing yet.
    """
    logs: dict[str, LogFile] = {}
    for file in files:
        if isinstance(file, BaseFile):
            yield file
        elif file.requested not in pending:
            logs[file.path] = file
    taken = {path: made for made, paths in covers.items() if made in logs for path in paths}
    for path, log in logs.items():
        if path not in taken and path not in covers:
            yield log
        elif path not in taken:
            yield _made_of(log, logs, covers, rules)


def _made_of(log: LogFile, logs: Mapping[str, LogFile], covers: Covers, rules: Rules) -> LogFile:
    inputs = tuple(_made_of(logs[path], logs, covers, rules) for path in covers.get(log.path, ()) if path in logs)
    if not inputs or rules.log_compaction_rank == "own":
        return log._replace(covers=inputs)
    return log._replace(covers=inputs, completed=inputs[-1].completed)


def requested_place(log: LogFile, rules: Rules) -> str:
    """The requested time by which a log takes its place: one that covers others has that of the latest of them."""
    if not log.covers or rules.log_compaction_rank == "own":
        return log.requested
    return max(requested_place(each, rules) for each in log.covers)


def pending_groups(timeline: Timeline, commits: Commits) -> frozenset[Group]:
    """The file groups in which a log compaction is pending."""
    pending = (instant for instant in timeline.pending if timeline.is_log_compaction(instant))
    return frozenset(group for instant in pending for group in commits.log_plan(instant.requested).groups)
