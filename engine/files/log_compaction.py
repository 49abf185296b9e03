"""Replaces the input logs of a log compaction with its output log, at the newest input log's position in the merge
order (RFC-66, `handle_log_compaction`).

The input logs of a log compaction are contiguous in completion order, so the output log can take the place of the
newest one. Incremental queries, and reads as of a time before the log compaction, use the input logs instead of the
output log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..file_names import in_partition
from ..rules import Rules
from ..timeline.commits import Commits
from ..timeline.history import Current
from ..timeline.instant import Instant
from ..timeline.timeline import Timeline
from .group_files import BaseFile, Group, LogFile, visible

Covers = Mapping[str, tuple[str, ...]]
"""Path of a log -> paths of the logs that it replaces, in merge order."""


def covers_of(
    timeline: Current, commits: Commits, rules: Rules, as_of: str | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the log files written by visible log compactions of nbcc, each with its input logs."""
    covers: dict[str, tuple[str, ...]] = {}
    for instant in timeline.completed:
        listed = rules.files == "listed" or timeline.is_log_compaction(instant)
        if instant.action == "deltacommit" and listed and visible(instant, as_of, rules):
            covers.update(commits.commit(instant).covers)
    return covers


def without_covered(
    files: Iterable[BaseFile | LogFile], covers: Covers, pending: frozenset[str], rules: Rules
) -> Iterator[BaseFile | LogFile]:
    """Yield the base files and logs that a read uses. Logs replaced by a log compaction are omitted.

    `pending` contains the requested times of pending log compactions, whose new logs are ignored.
    """
    logs: dict[str, LogFile] = {}
    for file in files:
        if isinstance(file, BaseFile):
            yield file
        elif file.requested not in pending:
            logs[file.path] = file
    # Only of logs that this read sees: without the new log, the logs that it replaces must be read.
    covered = {path for log, paths in covers.items() if log in logs for path in paths}
    for path, log in logs.items():
        if path not in covered and path not in covers:
            yield log
        elif path not in covered:
            yield _with_inputs(log, logs, covers, rules)


def _with_inputs(log: LogFile, logs: Mapping[str, LogFile], covers: Covers, rules: Rules) -> LogFile:
    inputs = tuple(_with_inputs(logs[path], logs, covers, rules) for path in covers.get(log.path, ()) if path in logs)
    if not inputs or rules.log_compaction_rank == "own":
        return log._replace(covers=inputs)
    return log._replace(covers=inputs, completed=inputs[-1].completed)


def requested_place(log: LogFile, rules: Rules) -> str:
    """Return the requested time that determines a log's place in the merge order. The output of a log compaction takes
    the place of the input log with the greatest requested time.
    """
    if not log.covers or rules.log_compaction_rank == "own":
        return log.requested
    return max(requested_place(each, rules) for each in log.covers)


def input_logs(instant: Instant, commits: Commits) -> frozenset[str]:
    """Return the paths of the logs that a pending or completed log compaction replaces."""
    if instant.completed:
        return frozenset(path for paths in commits.commit(instant).covers.values() for path in paths)
    operations = commits.log_plan(instant.requested).operations
    return frozenset(in_partition(each.partition, name) for each in operations for name in each.logs)


def pending_groups(timeline: Timeline, commits: Commits) -> frozenset[Group]:
    pending = (instant for instant in timeline.log_compactions if not instant.completed)
    return frozenset(group for instant in pending for group in commits.log_plan(instant.requested).groups)
