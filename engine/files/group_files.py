"""Data files with the times by which they are sliced, and the two places to find them: commits and directories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..rules import Rules
from ..storage import Entry
from ..timeline.archive import Archive
from ..timeline.commits import Commits
from ..timeline.instant import Instant
from ..timeline.timeline import Timeline
from .names import parse_base, parse_log, split_path

Group = tuple[str, str]
"""(partition, file id)."""


class BaseFile(NamedTuple):
    """A base file. `requested` is its barrier; `size` in bytes. (A tuple is made four times as fast as a dataclass.)"""

    partition: str
    file_id: str
    requested: str
    completed: str | None
    path: str
    size: int


class LogFile(NamedTuple):
    """A log file of the write requested and completed then (None: not completed, which only odd rules let be seen).

    `named` is the instant in its name: the write's own, or in the old layout the base instant its writer looked up.
    `covers`: the logs that a log compaction made it of; then `completed` is that of the newest write among them, by
    which it lies in its slice.
    """

    partition: str
    file_id: str
    requested: str
    completed: str | None
    version: int
    token: str
    named: str
    path: str
    size: int
    covers: tuple[LogFile, ...] = ()

    @property
    def files(self) -> Iterator[LogFile]:
        """It, and all that it covers."""
        yield self
        for log in self.covers:
            yield from log.files


def visible(instant: Instant, as_of: str | None, rules: Rules) -> bool:
    """Whether a read as of then (None: of all the timeline holds) sees what the instant wrote."""
    if rules.visibility == "any":
        return as_of is None or instant.requested <= as_of
    return instant.completed is not None and (as_of is None or as_of_time(instant, rules) <= as_of)


def as_of_time(instant: Instant, rules: Rules) -> str:
    """The time of a completed instant that is held against the T of a read."""
    if rules.as_of_by == "requested" or instant.completed is None:
        return instant.requested
    return instant.completed


def listed_files(
    timeline: Timeline, commits: Commits, rules: Rules, as_of: str | None = None
) -> Iterator[BaseFile | LogFile]:
    """The files that visible instants list in their commits. What nobody lists does not exist."""
    for instant in timeline.instants:
        if instant.writes and instant.completed and visible(instant, as_of, rules):
            for stat in commits.commit(instant).stats:
                if file := data_file(stat.path, stat.size, instant):
                    yield file


def directory_files(
    entries: Iterable[Entry], timeline: Timeline, archive: Archive, rules: Rules, as_of: str | None = None
) -> Iterator[BaseFile | LogFile]:
    """The files that lie in the partitions and whose names say that a visible instant wrote them.

    An instant that is not active is looked up in the archive; what is in neither never completed. (Hudi's readers
    believe everything older than the active timeline instead, and so show the rows of failed writes.)
    """
    known: dict[str, Instant] = {}
    for entry in entries:
        requested = _requested(entry.path)
        if requested is None:
            continue
        if requested not in known:
            known[requested] = _instant(requested, timeline, archive)
        if visible(known[requested], as_of, rules) and (file := data_file(entry.path, entry.size, known[requested])):
            yield file


def data_file(path: str, size: int, instant: Instant) -> BaseFile | LogFile | None:
    """The data file at `path`, written by `instant`; None for files that hold no rows (changes of CDC, others)."""
    return data_file_of(path, size, lambda named: instant)


def data_file_of(path: str, size: int, writer: Callable[[str], Instant]) -> BaseFile | LogFile | None:
    """As `data_file`, by the instant that `writer` knows for the one in its name."""
    partition, name = split_path(path)
    if base := parse_base(name):
        instant = writer(base.instant)
        return BaseFile(partition, base.file_id, instant.requested, instant.completed, path, size)
    log = parse_log(name)
    if log is None or log.cdc:
        return None
    instant = writer(log.instant)
    times = (instant.requested, instant.completed)
    return LogFile(partition, log.file_id, *times, log.version, log.token or "", log.instant, path, size)


def _requested(path: str) -> str | None:
    """The instant in a data file's name."""
    if path.startswith(".hoodie/"):
        return None
    name = split_path(path)[1]
    parsed = parse_base(name) or parse_log(name)
    return parsed.instant if parsed else None


def _instant(requested: str, timeline: Timeline, archive: Archive) -> Instant:
    active = timeline.find(requested)
    if active is not None:
        return active
    archived = archive.find(requested)
    if archived is not None:
        return Instant(requested, archived.action, "completed", archived.completed)
    return Instant(requested, "deltacommit", "inflight")
