"""Finds the files of the writes in the time interval (window) of an incremental query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..rules import Rules
from ..timeline.commits import Commits
from ..timeline.history import Whole
from ..timeline.instant import Instant
from ..timeline.metadata import CommitMetadata
from ..timeline.timeline import Timeline
from .group_files import BaseFile, Group, LogFile, listed_file
from .slices import merge_position

_SERVICES = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX"})
"""Operations that rewrite files without a change of rows."""


@dataclass(frozen=True, slots=True)
class WindowFiles:
    """The files that writes added to one file group in the time interval of an incremental query. `logs` is in merge
    order, and `bases` contains the base files of copy-on-write or bulk insert writes.
    """

    partition: str
    file_id: str
    bases: tuple[BaseFile, ...]
    logs: tuple[LogFile, ...]


def window_files(
    timeline: Whole, commits: Commits, rules: Rules, after: str, until: str,
    group_of: Callable[[str, str], Group] = lambda partition, file_id: (partition, file_id),
) -> tuple[WindowFiles, ...]:  # fmt: skip
    """Return the files of the writes that completed in (after, until], by file group, without files of table services.
    `group_of` maps file groups that can hold the same key, before and after a resize, to one name.
    """
    bases: dict[Group, list[BaseFile]] = {}
    logs: dict[Group, list[LogFile]] = {}
    writes = tuple(writes_between(timeline, commits, rules, after, until))
    replaced = last_replaced(writes)
    for instant, commit in writes:
        for stat in commit.stats:
            file = listed_file(stat, instant)
            if file is None or is_replaced(file, replaced):
                continue
            if isinstance(file, BaseFile):
                bases.setdefault(group_of(file.partition, file.file_id), []).append(file)
            else:
                logs.setdefault(group_of(file.partition, file.file_id), []).append(file)
    return tuple(
        WindowFiles(
            *group,
            tuple(sorted(bases.get(group, ()), key=lambda base: base.completed or "")),
            tuple(sorted(logs.get(group, ()), key=lambda log: merge_position(log, rules))),
        )
        for group in sorted({*bases, *logs})
    )


def writes_between(
    timeline: Timeline, commits: Commits, rules: Rules, after: str, until: str
) -> Iterator[tuple[Instant, CommitMetadata]]:
    """Yield each write that completed in (after, until], with its commit metadata. Table services are omitted."""
    for instant in timeline.completed:
        if instant.writes and after < incremental_time(instant, rules) <= until:
            commit = commits.commit(instant)
            if commit.replaces or (commit.operation not in _SERVICES and not timeline.is_compaction(instant)):
                yield instant, commit


def last_replaced(writes: Iterable[tuple[Instant, CommitMetadata]]) -> dict[Group, str]:
    """For each file group, return the greatest requested time of the replacing writes (insert overwrite or delete
    partition) in `writes`.
    """
    latest: dict[Group, str] = {}
    for instant, commit in writes:
        for stat in commit.stats if commit.replaces else ():
            group = stat.partition, stat.file_id
            latest[group] = max(instant.requested, latest.get(group, ""))
    return latest


def is_replaced(file: BaseFile | LogFile, replaced: Mapping[Group, str]) -> bool:
    """Return whether a replacing write (insert overwrite or delete partition) hides a file. Such a write hides logs
    that completed before its requested time, and base files with an earlier requested time.
    """
    barrier = replaced.get((file.partition, file.file_id), "")
    return file.requested < barrier and (isinstance(file, BaseFile) or (file.completed or "") < barrier)


def incremental_time(instant: Instant, rules: Rules) -> str:
    """Return the time by which incremental queries select an instant: its completion time or, depending on `rules`, its
    requested time.
    """
    if rules.incremental_axis == "requested" or instant.completed is None:
        return instant.requested
    return instant.completed
