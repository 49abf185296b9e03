"""Groups the files of each file group into file slices, and orders the logs of each slice (RFC-66, "file slicing").

The guarantee PART (docs/contract.md) states that each completed log is in exactly one slice, on which all readers
agree. The guarantee TRAVEL states that a read as of T uses exactly the files that had completed by T. A compaction that
completes after T does not change a read as of T, because the read merges the input files of the compaction instead.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import html
from ..file_names import TOMBSTONES
from ..rules import Rules
from ..storage import Storage
from ..timeline.commits import Commits
from ..timeline.history import Current, Whole
from ..timeline.instant import Instant
from ..timeline.timeline import Timeline
from .group_files import BaseFile, Group, LogFile, directory_files, listed_files, visible
from .log_compaction import covers_of, requested_place, without_covered
from .metadata_table import cross_checked_files, metadata_files

_UNKNOWN = "~"  # greater than every instant: the completion time of a pending instant


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A file slice: an optional base file and its logs in merge order.

    `barrier` is the requested time of the base file, or of the pending compaction that will write the base file.
    `barrier` is None if the slice has neither. `tombstones` contains the logs with the deletes that the compaction kept
    when it wrote `base`.
    """

    partition: str
    file_id: str
    barrier: str | None
    base: BaseFile | None = None
    tombstones: tuple[LogFile, ...] = ()
    logs: tuple[LogFile, ...] = ()

    @property
    def group(self) -> Group:
        return self.partition, self.file_id

    @property
    def files(self) -> list[BaseFile | LogFile]:
        """All files in the slice, including logs that were replaced by a log compaction."""
        logs = [*self.tombstones, *(file for log in self.logs for file in log.files)]
        return [self.base, *logs] if self.base else [*logs]

    @property
    def paths(self) -> list[str]:
        return [file.path for file in self.files]

    def __str__(self) -> str:
        """Return a description such as ``part=eu/00000000-…: slice 2026…, base file and 2 logs``."""
        where = f"{self.partition}/{self.file_id}" if self.partition else self.file_id
        name = f"slice {self.barrier}" if self.barrier else "slice before every barrier"
        base = "base file" if self.base else "base file planned" if self.barrier else "no base file"
        logs = f"{len(self.logs)} log{'' if len(self.logs) == 1 else 's'}"
        return f"{where}: {name}, {base} and {logs}"

    def _repr_html_(self) -> str:
        named = [("base", self.base), *(("kept", log) for log in self.tombstones)]
        files = [*named, *(("log", log) for log in self.logs)]
        rows = [(kind, f.path, f.size, f.requested, f.completed) for kind, f in files if f is not None]
        return html.table(("file", "path", "bytes", "requested", "completed"), rows, str(self))


def load_slices(
    storage: Storage,
    timeline: Current,
    commits: Commits,
    rules: Rules,
    as_of: str | None = None,
    *,
    with_absent: bool = False,
) -> tuple[FileSlice, ...]:
    """Return the file slices as of `as_of`, without slices that are needed only by reads before the clean horizon (the
    oldest readable time).
    """
    slices = _slices(storage, timeline, commits, rules, as_of, with_absent)
    bound = commits.horizon(timeline) if rules.files == "listed" else None
    return slices if bound is None else kept_since(slices, bound, rules)


def all_slices(
    storage: Storage,
    timeline: Whole,
    commits: Commits,
    rules: Rules,
    as_of: str | None = None,
    *,
    with_absent: bool = False,
) -> tuple[FileSlice, ...]:
    """Return all file slices as of `as_of` (None means the whole timeline), sorted by partition, file id and barrier.

    The time `as_of` must be settled: no pending instant can still complete at or before `as_of`. File groups replaced
    by a completed replacecommit are omitted. Slices with deleted files are included, so that reading them fails instead
    of returning fewer rows. In a table whose files are found in folders, they are included if `with_absent` is True.
    """
    return _slices(storage, timeline, commits, rules, as_of, with_absent)


def _slices(
    storage: Storage, timeline: Current, commits: Commits, rules: Rules, as_of: str | None, with_absent: bool
) -> tuple[FileSlice, ...]:
    files = _files(storage, timeline, commits, rules, as_of, with_absent)
    hidden = replaced_groups(timeline, commits, rules, as_of)
    plans = pending_plans(timeline, commits, rules, as_of)
    if hidden:  # a plan for a replaced group may stay pending; its slice would have no file
        plans = {group: barriers for group, barriers in plans.items() if group not in hidden}
    return build_slices((file for file in files if (file.partition, file.file_id) not in hidden), plans, rules)


def kept_since(slices: tuple[FileSlice, ...], horizon: str, rules: Rules) -> tuple[FileSlice, ...]:
    """Return the slices that reads at or after `horizon` need.

    In each file group, reads need the slice that was the newest at `horizon`, and all newer slices.
    """
    first: dict[Group, str] = {}
    for piece in slices:  # barriers rise within a group
        if piece.barrier is not None and _starts(piece, horizon, rules):
            first[piece.group] = piece.barrier
    return tuple(piece for piece in slices if (piece.barrier or "") >= first.get(piece.group, ""))


def _starts(piece: FileSlice, horizon: str, rules: Rules) -> bool:
    if rules.retention == "any_barrier":
        return piece.barrier is not None and piece.barrier <= horizon
    if piece.base is None:
        return False
    return (piece.base.requested if rules.retention == "barrier" else piece.base.completed or _UNKNOWN) <= horizon


def find_files(storage: Storage, timeline: Whole, commits: Commits, rules: Rules) -> Iterable[BaseFile | LogFile]:
    """Return the visible data files. `rules` determine whether commits, directories or Hudi's metadata table are
    searched.

    Logs replaced by a visible log compaction are omitted.
    """
    return _files(storage, timeline, commits, rules, None, with_absent=False)


def _files(
    storage: Storage, timeline: Current, commits: Commits, rules: Rules, as_of: str | None, with_absent: bool
) -> Iterable[BaseFile | LogFile]:
    """Return what `find_files` returns, as of `as_of`. If `with_absent` is True, files that completed commits list are
    added if the search does not find them.
    """
    files: Iterable[BaseFile | LogFile]
    if rules.files == "cross_checked":
        files = cross_checked_files(storage, timeline, commits, rules, as_of)
    elif rules.files == "metadata_table":
        files = directory_files(metadata_files(storage), timeline, commits, rules, as_of)
    elif rules.files == "directory" or rules.visibility == "any":
        files = directory_files(storage.list(""), timeline, commits, rules, as_of)
    else:
        files, with_absent = listed_files(timeline, commits, rules, as_of), False
    if with_absent:
        there = {file.path: file for file in files}
        listed = listed_files(timeline, commits, rules, as_of)
        files = [*there.values(), *(file for file in listed if file.path not in there)]
    covers = covers_of(timeline, commits, rules, as_of)
    pending = frozenset(i.requested for i in timeline.log_compactions if not i.completed)
    return without_covered(files, covers, pending, rules) if covers or pending else files


def pending_plans(
    timeline: Timeline, commits: Commits, rules: Rules, as_of: str | None = None
) -> dict[Group, list[str]]:
    """For each file group, return the requested times (barriers) of the compactions that were pending as of `as_of`."""
    plans: dict[Group, list[str]] = {}
    for instant in timeline.compactions:
        planned = as_of is None or instant.requested <= as_of
        if planned and not _done(instant, as_of, rules):
            for group in commits.plan(instant.requested).groups:
                plans.setdefault(group, []).append(instant.requested)
    return plans


def _done(instant: Instant, as_of: str | None, rules: Rules) -> bool:
    return instant.completed is not None and visible(instant, as_of, rules)


def replaced_groups(timeline: Current, commits: Commits, rules: Rules, as_of: str | None = None) -> frozenset[Group]:
    """Return the file groups that were replaced by replacecommits visible as of `as_of`."""
    return frozenset(
        group
        for instant in timeline.completed
        if instant.action == "replacecommit" and visible(instant, as_of, rules)
        for group in commits.commit(instant).groups_replaced
    )


def build_slices(
    files: Iterable[BaseFile | LogFile], plans: Mapping[Group, Iterable[str]], rules: Rules
) -> tuple[FileSlice, ...]:
    """Build the file slices of the given files and pending plans, sorted by partition, file id and barrier (None
    first).
    """
    bases: dict[Group, dict[str, BaseFile]] = {}
    logs: dict[Group, list[LogFile]] = {}
    for file in files:
        group = file.partition, file.file_id
        if isinstance(file, BaseFile):
            bases.setdefault(group, {})[file.requested] = file
        else:
            logs.setdefault(group, []).append(file)
    return tuple(
        piece
        for group in sorted({*bases, *logs, *plans})
        for piece in _slice_group(group, bases.get(group, {}), logs.get(group, []), plans.get(group, ()), rules)
    )


def _slice_group(
    group: Group, bases: Mapping[str, BaseFile], logs: Iterable[LogFile], plans: Iterable[str], rules: Rules
) -> list[FileSlice]:
    limits = barriers(bases.values(), plans)
    inside: dict[str | None, list[LogFile]] = {limit: [] for limit in limits}
    tombstones: dict[str | None, list[LogFile]] = {}
    for log in sorted(logs, key=lambda log: merge_position(log, rules)):
        if holds_tombstones(log, bases.get(log.requested), rules):
            tombstones.setdefault(log.requested, []).append(log)
        else:
            inside.setdefault(barrier_of(log, limits, rules), []).append(log)
    return [
        FileSlice(*group, limit, bases.get(limit or ""), tuple(tombstones.get(limit, ())), tuple(inside[limit]))
        for limit in sorted(inside, key=lambda limit: limit or "")
    ]


def holds_tombstones(log: LogFile, base: BaseFile | None, rules: Rules) -> bool:
    """Return whether a log contains the deletes that a compaction kept when it wrote `base`.

    `log` and `base` must have the same requested time. If times are not claimed, a write and a compaction may have the
    same requested time, but then have different completion times.
    """
    if base is None or log.version != TOMBSTONES:
        return False
    return rules.tombstone_logs == "by_time" or base.completed == log.completed


def barriers(bases: Iterable[BaseFile], plans: Iterable[str]) -> list[str]:
    """Return the sorted barriers of a file group: the requested times of its base files and pending compactions."""
    return sorted({*(base.requested for base in bases), *plans})


def barrier_of(log: LogFile, limits: Sequence[str], rules: Rules) -> str | None:
    """Return the barrier of a log's slice: the greatest barrier in `limits` that is not later than the log's
    `slice_time`. Return None if all barriers are later. `limits` must be sorted.
    """
    place = bisect_right(limits, slice_time(log, rules))
    return limits[place - 1] if place else None


def slice_time(log: LogFile, rules: Rules) -> str:
    """Return the time that determines the slice of a log: its completion time, requested time or base instant,
    depending on `rules`.
    """
    if rules.slicing == "requested":
        return log.requested
    if rules.slicing == "base_instant":
        return log.named
    return log.completed or _UNKNOWN


def merge_position(log: LogFile, rules: Rules) -> tuple[str, str, int, str]:
    """Return the sort key of a log in its slice: the time of the write, then the log version, then the write token."""
    time = requested_place(log, rules) if rules.merge_order == "requested" else log.completed or _UNKNOWN
    return time, log.requested, log.version, log.token


def to_read(slices: Iterable[FileSlice], rules: Rules) -> tuple[FileSlice, ...]:
    """For each file group, return the slice that a snapshot query merges.

    A snapshot query uses the newest slice of each file group. If the base file of the newest slice is not yet written,
    the logs of the newest slice are added to the previous slice.
    """
    newest: dict[Group, FileSlice] = {}
    for piece in slices:  # barriers rise within a group
        before = newest.get(piece.group)
        newest[piece.group] = piece if piece.base or before is None else _onto(before, piece, rules)
    return tuple(newest.values())


def _onto(before: FileSlice, planned: FileSlice, rules: Rules) -> FileSlice:
    logs = sorted((*before.logs, *planned.logs), key=lambda log: merge_position(log, rules))
    return replace(before, logs=tuple(logs))


def newest_bases(slices: Iterable[FileSlice]) -> tuple[FileSlice, ...]:
    """Return the newest base file of each file group as a slice without logs, for read-optimized queries."""
    newest = {piece.group: replace(piece, tombstones=(), logs=()) for piece in slices if piece.base}
    return tuple(newest.values())
