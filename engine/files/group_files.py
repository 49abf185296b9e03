"""Finds data files in commits or directories, and determines their requested and completion times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from ..errors import NotATable, Unsupported
from ..file_names import parse_base, parse_log, split_path
from ..rules import Rules
from ..storage import Entry
from ..timeline.archive import Archive
from ..timeline.commits import Commits
from ..timeline.history import Current
from ..timeline.instant import Instant
from ..timeline.metadata import WriteStat, decode_commit

Group = tuple[str, str]
"""(partition, file id)."""


class BaseFile(NamedTuple):
    """A base file of a file group. `requested` is the requested time of the commit that wrote the file. `requested` is
    also the barrier of the file's slice. `size` is the file size in bytes.
    """

    partition: str
    file_id: str
    requested: str
    completed: str | None
    path: str
    size: int


class LogFile(NamedTuple):
    """A log file, with the times of the write that created it.

    `requested` is the requested time of the write that created the log. `completed` is the completion time of the write
    that created the log, or None if the write is pending. If the log is the output of a log compaction, `completed` is
    the completion time of the newest input log, which determines the log's slice. `named` is the instant time in the
    file name, which is the requested time of the write. In timeline layout 1, `named` is the instant time of the
    slice's base file. `covers` contains the input logs if the log is the output of a log compaction. `appended` is True
    if several writes have appended blocks to the log (timeline layout 1). If `appended` is True, `size` is a lower
    bound. `checksum` is the checksum in the commit of the write; '' means unknown.
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
    appended: bool = False
    checksum: str = ""

    @property
    def files(self) -> Iterator[LogFile]:
        """Yield the log and, recursively, all logs that were merged into it by log compactions."""
        yield self
        for log in self.covers:
            yield from log.files


def visible(instant: Instant, as_of: str | None, rules: Rules) -> bool:
    """Return whether a read as of `as_of` uses the files of the instant. If `as_of` is None, the times of the instant
    do not matter.
    """
    if rules.visibility == "any":
        return as_of is None or instant.requested <= as_of
    return instant.completed is not None and (as_of is None or as_of_time(instant, rules) <= as_of)


def as_of_time(instant: Instant, rules: Rules) -> str:
    """Return the time by which as-of reads select an instant: its completion time or, depending on `rules`, its
    requested time.
    """
    if rules.as_of_axis == "requested" or instant.completed is None:
        return instant.requested
    return instant.completed


def listed_files(
    timeline: Current, commits: Commits, rules: Rules, as_of: str | None = None
) -> Iterator[BaseFile | LogFile]:
    """Yield the data files listed in the commits of instants that are visible as of `as_of`."""
    for instant in timeline.instants:
        if instant.writes and instant.completed and visible(instant, as_of, rules):
            for stat in commits.commit(instant).stats:
                if file := listed_file(stat, instant):
                    yield file


def directory_files(
    entries: Iterable[Entry],
    timeline: Current,
    commits: Commits,
    rules: Rules,
    as_of: str | None = None,
) -> Iterator[BaseFile | LogFile]:
    """Yield the data files in `entries` whose names contain the requested time of a visible instant.

    Instants that are not on the active timeline are looked up in the archive. An instant that is neither on the active
    timeline nor in the archive never completed. Unlike nbcc, Hudi's readers assume that every instant older than the
    active timeline has completed, and so return rows of failed writes. If a file is listed in a commit, the result has
    the file size from the commit.
    """
    instants: dict[str, Instant] = {}
    archive = commits.archive_now()
    listed = _listed_sizes(timeline, commits, rules, as_of)
    for entry in entries:
        requested = _requested(entry.path)
        if requested is None:
            continue
        # Looked up once for each instant, because an instant has many files and the look-up may read the archive.
        if requested not in instants:
            instants[requested] = _instant(requested, timeline, archive, listed)
        if not visible(instants[requested], as_of, rules):
            continue
        size, appended = listed.get(entry.path, (entry.size, False))
        file = data_file(entry.path, size, instants[requested])
        if file is not None:
            yield file._replace(appended=True) if appended and isinstance(file, LogFile) else file


Sizes = dict[str, tuple[int, bool]]
"""Path -> (listed size, whether several writes have appended to the file)."""


def _listed_sizes(timeline: Current, commits: Commits, rules: Rules, as_of: str | None) -> Sizes:
    """Return the recorded sizes of the files listed in visible commits of the active timeline. Raises `Unsupported` for
    an unknown kind of file name.
    """
    sizes: Sizes = {}
    for instant in timeline.completed:
        if not instant.writes or not visible(instant, as_of, rules):
            continue
        for stat in commits.commit(instant).stats:
            file = listed_file(stat, instant)
            # A second commit that lists the same file has appended to it.
            appended = stat.path in sizes or (isinstance(file, LogFile) and file.appended)
            sizes[stat.path] = (max(stat.size, sizes.get(stat.path, (0, False))[0]), appended)
    return sizes


def listed_file(stat: WriteStat, instant: Instant) -> BaseFile | LogFile | None:
    """Return the data file of a write stat, or None for a CDC file, which contains no rows of the table.

    Raises `Unsupported` for an unknown kind of file name; otherwise, reads would silently omit the file's rows. Unknown
    file names occur if a table was upgraded to table version 10 after the reader had opened the table.
    """
    file = data_file(stat.path, stat.size, instant)
    if file is None and not is_change_log(stat):
        raise Unsupported(
            f"read the files of the {instant}",
            f"it lists {stat.path}, which is neither a base file nor a log file of table versions 8 and 9",
            "open the table again; if it was upgraded, read it with the engine that did that",
        )
    return file._replace(checksum=stat.checksum) if stat.checksum and isinstance(file, LogFile) else file


def is_change_log(stat: WriteStat) -> bool:
    """Return whether a write stat describes a CDC file, which contains no rows of the table."""
    log = parse_log(stat.name)
    return log is not None and log.cdc


def data_file(path: str, size: int, instant: Instant) -> BaseFile | LogFile | None:
    """Return the data file at `path` written by `instant`. Returns None for CDC files, and for files that are neither
    base files nor log files.
    """
    return data_file_of(path, size, lambda named: instant)


def data_file_of(path: str, size: int, writer: Callable[[str], Instant]) -> BaseFile | LogFile | None:
    """Return the data file at `path`. Returns None for CDC files, and for files that are neither base files nor log
    files. `writer` maps the instant time in the file name to the instant that wrote the file.
    """
    partition, name = split_path(path)
    if base := parse_base(name):
        instant = writer(base.instant)
        return BaseFile(partition, base.file_id, instant.requested, instant.completed, path, size)
    log = parse_log(name)
    if log is None or log.cdc:
        return None
    instant = writer(log.instant)
    times = (instant.requested, instant.completed)
    file = LogFile(partition, log.file_id, *times, log.version, log.token or "", log.instant, path, size)
    return file if log.instant == instant.requested else file._replace(appended=True)


def _requested(path: str) -> str | None:
    if path.startswith(".hoodie/"):
        return None
    name = split_path(path)[1]
    parsed = parse_base(name) or parse_log(name)
    return parsed.instant if parsed else None


def _instant(requested: str, timeline: Current, archive: Archive, listed: Sizes) -> Instant:
    """Return the instant that wrote a data file. If the instant is archived, record the file sizes from its commit in
    `listed`.
    """
    active = timeline.find(requested)
    if active is not None:
        return active
    instant = archive.find(requested)
    archived = archive.row(instant) if instant else None
    if instant is None or archived is None:
        return Instant(requested, "deltacommit", "inflight")
    if archived.metadata is not None:
        with suppress(NotATable):  # an archive from before an upgrade may contain older metadata formats
            for stat in decode_commit(archived.metadata, instant.file_name).stats:
                listed.setdefault(stat.path, (stat.size, False))
    return instant
