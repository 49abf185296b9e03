"""Computes a table's file slices from an audit, and the reason why each unused file is in no slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..errors import BadInput
from ..file_names import parse_log, split_path
from ..files.group_files import Group, LogFile, data_file
from ..files.log_compaction import without_covered
from ..files.slices import FileSlice, build_slices, kept_since, to_read
from ..reads.times import Time, instant_of
from ..reads.travel import refuse_before_first, refuse_requested_time
from ..timeline import Instant, Timeline
from ..timeline.history import Active, ArchivedInstants, History, Whole
from ..timeline.index import Index
from .record import Audit, Commit, DamagedFile, File, listed_data_file


@dataclass(frozen=True)
class TableSnapshot:
    """The file slices of a table as of the completion time `time`, or as of the newest completion time if `time` is
    None.

    `timeline` also contains the archived instants of an nbcc table, because nbcc's readers use archived instants.
    """

    audit: Audit
    timeline: Whole
    time: str | None

    @cached_property
    def shown(self) -> Timeline:
        """The timeline as of the snapshot's time. An instant that completed after the snapshot's time counts as
        inflight. Instants requested after the snapshot's time are omitted.
        """
        if self.time is None:
            return self.timeline
        until = self.timeline.until(self.time)
        return Timeline(Index.of(i for i in until.instants if i.requested <= self.time), until.begun_as)

    @cached_property
    def slices(self) -> tuple[FileSlice, ...]:
        """The file slices sorted by partition, file id and barrier (requested time of the base file), without slices
        that are no longer readable after a clean. In a table of another engine, only existing files are in slices.
        """
        slices = self.listed_slices if self.audit.rules.files == "listed" else self._built(self._named_files())
        return self._readable(slices)

    @cached_property
    def listed_slices(self) -> tuple[FileSlice, ...]:
        """The file slices with all files that completed commits list, including missing and cleaned files."""
        if self.audit.rules.files == "listed":
            return self._built(self._listed_files())
        named = {file.path: file for file in self._named_files()}
        # Hudi's readers go by names, and cannot miss a file whose name is not there. For a check it is missing all the
        # same.
        absent = (file for file in self._listed_files() if file.path not in self.audit.files)
        return self._built((*named.values(), *absent))

    @cached_property
    def missing_or_cut(self) -> tuple[DamagedFile, ...]:
        """A fault for each data file that a completed commit lists, that a read needs, and that is missing or cut.

        Files of slices from before the newest one are needed by as-of reads. Whether Hudi has cleaned such a slice is
        not recorded for each file, so in a table of another engine only the slices of a snapshot are checked.
        """
        # A read as of a time needs its own slices only.
        every = self.audit.rules.files == "listed" and self.time is None
        pieces = self._readable(self.listed_slices) if every else to_read(self.listed_slices, self.audit.rules)
        files = (file for piece in pieces for file in (piece.base, *piece.tombstones, *piece.logs) if file)
        return tuple(DamagedFile("data", file.path, because) for file in files if (because := self._damage(file)))

    def _damage(self, file: File) -> str | None:
        size = self.audit.listing.get(file.path)
        if size is None:
            return "it is missing, and a completed commit lists it"
        appended = isinstance(file, LogFile) and file.appended
        # A log that several commits have appended to may grow, and size 0 means that the commit records none.
        if file.size and (size < file.size if appended else size != file.size):
            return f"it has {size:,} bytes, and its commit lists {file.size:,}"
        return None

    def _built(self, files: Iterable[File]) -> tuple[FileSlice, ...]:
        there = (file for file in self._uncovered(files) if (file.partition, file.file_id) not in self.replaced)
        return build_slices(there, self._pending_plans(), self.audit.rules)

    def _readable(self, slices: tuple[FileSlice, ...]) -> tuple[FileSlice, ...]:
        plans = (self.audit.clean_plans.get(i.requested) for i in self.timeline.instants if i.action == "clean")
        horizon = max((plan.horizon for plan in plans if plan and plan.horizon), default=None)
        return slices if horizon is None else kept_since(slices, horizon, self.audit.rules)

    @cached_property
    def replaced(self) -> frozenset[Group]:
        """The file groups that a completed replacecommit hides."""
        replaces = (commit for commit in self._commits if commit.instant.action == "replacecommit")
        return frozenset(group for commit in replaces for group in commit.groups_replaced)

    def unused(self, slices: tuple[FileSlice, ...]) -> Iterator[tuple[File, str]]:
        """Yield every data file that is in none of the file slices, and the reason."""
        used = {file.path for piece in slices for file in (piece.base, *piece.tombstones, *piece.logs) if file}
        # A log compaction's inputs are files of its log, but no longer files of the slice.
        covered = {
            file.path: f"the log of the log compaction {log.requested} replaces it"
            for piece in slices
            for log in piece.logs
            for file in log.files
            if file is not log
        }
        for path, file in self.audit.files.items():
            if path not in used:
                checksum = self.audit.checksums.get(path, "")
                checked = file._replace(checksum=checksum) if isinstance(file, LogFile) else file
                yield checked, covered.get(path) or self._reason(file)

    @cached_property
    def unknown_names(self) -> tuple[DamagedFile, ...]:
        """A fault for each file in a commit whose name is neither a data file name nor a CDC file name."""
        stats = ((stat.path, commit.instant) for commit in self._commits for stat in commit.stats)
        unknown = ((path, instant) for path, instant in stats if data_file(path, 0, instant) is None)
        return tuple(
            DamagedFile("data", path, f"the {instant} lists it, and it is not a data file of table versions 8 and 9")
            for path, instant in unknown
            if (log := parse_log(split_path(path)[1])) is None or not log.cdc
        )

    @cached_property
    def _commits(self) -> tuple[Commit, ...]:
        """The commits that had completed by the snapshot's time. In a table written by Hudi, only commits on the active
        timeline are included.
        """
        commits = {
            (commit.instant.requested, commit.instant.action): commit
            for commit in (*self.audit.twins, *self.audit.commits.values())
        }
        visible = (i for i in self.timeline.instants if i.writes and self._is_visible(i))
        return tuple(commit for i in visible if (commit := commits.get((i.requested, i.action))))

    def _is_visible(self, instant: Instant) -> bool:
        return instant.completed is not None and (self.time is None or instant.completed <= self.time)

    def _uncovered(self, files: Iterable[File]) -> Iterable[File]:
        """Return the given files without logs that a log compaction has replaced."""
        covers = {
            path: covered
            for commit in self._commits
            for path, covered in commit.covers.items()
            if self.audit.rules.files == "listed" or self.timeline.is_log_compaction(commit.instant)
        }
        pending = {i.requested for i in self.timeline.pending if self.timeline.is_log_compaction(i)}
        return without_covered(files, covers, frozenset(pending), self.audit.rules) if covers or pending else files

    def _listed_files(self) -> Iterator[File]:
        """Yield the files listed in completed commits. In an nbcc table, these are the only files that reads use."""
        for commit in self._commits:
            for stat in commit.stats:
                if file := listed_data_file(stat, commit.instant):
                    yield file

    def _named_files(self) -> Iterator[File]:
        """Yield the files whose names contain the time of a completed instant. Hudi's readers select files by the
        instant time in the file name.

        The returned sizes are those recorded in commits, so that a truncated file can be detected.
        """
        sizes = self._listed_sizes()
        for path, file in self.audit.files.items():
            if file.completed is None or (self.time is not None and file.completed > self.time):
                continue
            size, writes = sizes.get(path, (file.size, 1))
            whole = file._replace(size=size)
            yield whole._replace(appended=True) if writes > 1 and isinstance(whole, LogFile) else whole

    def _listed_sizes(self) -> Mapping[str, tuple[int, int]]:
        """Return the size of each file as listed in commits (the largest if they differ), and the number of commits
        that list the file.
        """
        sizes: dict[str, tuple[int, int]] = {}
        # Hudi's slices ignore archived commits, but these still record how large a file must be.
        archived = (commit for commit in self.audit.commits.values() if not commit.active)
        for commit in (*self._commits, *archived):
            for stat in commit.stats:
                size, writes = sizes.get(stat.path, (0, 0))
                sizes[stat.path] = (max(size, stat.size), writes + 1)
        return sizes

    def _pending_plans(self) -> Mapping[Group, list[str]]:
        """Return the requested times (barriers) of the compactions that were pending at the snapshot's time, by file
        group.
        """
        plans: dict[Group, list[str]] = {}
        for instant in self.timeline.instants:
            planned = self.time is None or instant.requested <= self.time
            if planned and self.timeline.is_compaction(instant) and not self._is_visible(instant):
                plan = self.audit.plans.get(instant.requested)
                for group in plan.groups if plan else ():
                    plans.setdefault(group, []).append(instant.requested)
        return plans

    def _reason(self, file: File) -> str:
        requested = file.requested
        if (file.partition, file.file_id) in self.replaced:
            return "its file group was replaced"
        instant = self.timeline.find(requested)
        completed = instant.completed if instant else self.audit.archived.get(requested)
        if instant is not None and completed is None:
            return f"its instant {requested} is not completed ({instant.state})"
        if completed is None:
            return f"its instant {requested} is on no timeline: it failed, or was removed"
        if self.time is not None and completed > self.time:
            return f"its instant {requested} completed after the time asked for (at {completed})"
        return self._reason_of_completed(file)

    def _reason_of_completed(self, file: File) -> str:
        if file.requested not in self.audit.commits:
            return f"the commit of its instant {file.requested} cannot be read"
        if self.audit.listed.get(file.path) == file.requested:
            return f"no read since the last clean needs its slice (written by {file.requested})"
        return f"its instant {file.requested} is completed and does not list it: the file was written too late"


def table_snapshot(audit: Audit, as_of: Time | None, asked: str) -> TableSnapshot:
    """Return the table's file slices as of a completion time, by default as of the newest completion time.

    Error messages begin with the phrase `asked`, for example "read the table as of". Raises `BadInput` if `as_of` is
    invalid, or is the requested time of a write. `BadInput` is also raised if `as_of` is after the newest or before the
    first completion.
    """
    active = audit.timeline.without_undone(audit.restores) if audit.restores else audit.timeline
    archived = ArchivedInstants(Timeline.of(audit.archive)) if audit.rules.files == "listed" else None
    # Up to what the first listing had settled: a later completion may be seen in part.
    timeline = History(Active(active), archived).whole.until(audit.settled)
    time = None if as_of is None else _settled(timeline, instant_of(as_of, asked), asked)
    return TableSnapshot(audit, timeline, time)


def _settled(timeline: Whole, time: str, asked: str) -> str:
    newest = timeline.greatest_completion
    if newest is not None and time > newest:
        exists = f"the newest completion is {newest}, and an instant may still complete by then"
        raise BadInput(f"{asked} {time}", exists, f"use {newest} or an earlier time, or leave the time out")
    refuse_requested_time(timeline, time, asked)
    refuse_before_first(timeline, time, asked)
    return time
