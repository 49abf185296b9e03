"""The files that the writes of a window made, for incremental reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..rules import Rules
from ..timeline.commits import Commits
from ..timeline.instant import Instant
from ..timeline.metadata import CommitMetadata
from ..timeline.timeline import Timeline
from .group_files import BaseFile, Group, LogFile, listed_file
from .slices import merge_position

_SERVICES = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX"})
"""Operations that rewrite rows without changing any."""


@dataclass(frozen=True, slots=True)
class WindowFiles:
    """What one group gained in a window: logs in merge order, and base files that a write itself made."""

    partition: str
    file_id: str
    bases: tuple[BaseFile, ...]
    logs: tuple[LogFile, ...]


def window_files(timeline: Timeline, commits: Commits, rules: Rules, after: str, until: str) -> tuple[WindowFiles, ...]:
    """The files of the writes in (after, until], by group. Table services are left out."""
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
                bases.setdefault((file.partition, file.file_id), []).append(file)
            else:
                logs.setdefault((file.partition, file.file_id), []).append(file)
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
    """The writes in (after, until] of the active timeline, with their metadata; no table services."""
    for instant in timeline.completed:
        if instant.writes and after < incremental_time(instant, rules) <= until:
            commit = commits.commit(instant)
            if commit.replaces or (commit.operation not in _SERVICES and not timeline.is_compaction(instant)):
                yield instant, commit


def last_replaced(writes: Iterable[tuple[Instant, CommitMetadata]]) -> dict[Group, str]:
    """File group -> the greatest requested time of a replace that one of these writes is."""
    found: dict[Group, str] = {}
    for instant, commit in writes:
        for stat in commit.stats if commit.replaces else ():
            group = stat.partition, stat.file_id
            found[group] = max(instant.requested, found.get(group, ""))
    return found


def is_replaced(file: BaseFile | LogFile, replaced: Mapping[Group, str]) -> bool:
    """Whether a replace hides a file: it completed, or as part of another replace was requested, before that."""
    barrier = replaced.get((file.partition, file.file_id), "")
    return file.requested < barrier and (isinstance(file, BaseFile) or (file.completed or "") < barrier)


def incremental_time(instant: Instant, rules: Rules) -> str:
    """The time of a completed instant that is held against a window."""
    if rules.incremental_axis == "requested" or instant.completed is None:
        return instant.requested
    return instant.completed
