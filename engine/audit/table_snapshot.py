"""Computes the file slices of a table at one time from the table's audit, and the reason why a file is in no slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..errors import BadInput
from ..file_names import parse_log, split_path
from ..files.group_files import Group, LogFile, data_file
from ..files.log_compaction import without_covered
from ..files.slices import FileSlice, build_slices, kept_since
from ..reads.times import Time, instant_of
from ..reads.travel import refuse_before_first, refuse_requested_time
from ..timeline import Instant, Timeline
from .record import Audit, Commit, Fault, File


@dataclass(frozen=True)
class TableSnapshot:
    """The file slices of a table as of the completion time `time`; if `time` is None, as of the newest settled time.

    `timeline` also contains the archived instants of an nbcc table, because nbcc's readers use archived instants.
    """

    audit: Audit
    timeline: Timeline
    time: str | None

    @cached_property
    def shown(self) -> Timeline:
        """The timeline at the time of the snapshot. An instant that completed after the snapshot's time counts as
        inflight; an instant requested later is absent.
        """
        if self.time is None:
            return self.timeline
        until = self.timeline.until(self.time)
        return Timeline(tuple(i for i in until.instants if i.requested <= self.time), until.begun_as)

    @cached_property
    def slices(self) -> tuple[FileSlice, ...]:
        """The slices sorted by partition, file id and barrier, without slices that no read after the last clean needs.
        """
        rules = self.audit.rules
        files = (file for file in self._files() if (file.partition, file.file_id) not in self.replaced)
        slices = build_slices(files, self._pending_plans(), rules)
        plans = (self.audit.clean_plans.get(i.requested) for i in self.timeline.instants if i.action == "clean")
        horizon = max((plan.horizon for plan in plans if plan and plan.horizon), default=None)
        return slices if horizon is None else kept_since(slices, horizon, rules)

    @cached_property
    def replaced(self) -> frozenset[Group]:
        """The file groups that a completed replace hides."""
        replaces = (commit for commit in self._commits if commit.instant.action == "replacecommit")
        return frozenset(group for commit in replaces for group in commit.replaced)

    def unused(self) -> Iterator[tuple[File, str]]:
        """Every data file that is in no slice, with the reason as a clause of a sentence."""
        used = {file.path for piece in self.slices for file in (piece.base, *piece.tombstones, *piece.logs) if file}
        covered = {
            file.path: f"the log of the log compaction {log.requested} replaces it"
            for piece in self.slices
            for log in piece.logs
            for file in log.files
            if file is not log
        }
        for path, file in self.audit.files.items():
            if path not in used:
                yield file, covered.get(path) or self._reason(file)

    @cached_property
    def unknown_names(self) -> tuple[Fault, ...]:
        """The file names in commits that belong neither to CDC files nor to data files of table versions 8 and 9. The
        contents of files with unknown names are unknown.
        """
        stats = ((stat.path, commit.instant) for commit in self._commits for stat in commit.stats)
        unknown = ((path, instant) for path, instant in stats if data_file(path, 0, instant) is None)
        return tuple(
            Fault("data", path, f"the {instant} lists it, and it is no data file of table versions 8 and 9")
            for path, instant in unknown
            if (log := parse_log(split_path(path)[1])) is None or not log.cdc
        )

    @cached_property
    def _commits(self) -> tuple[Commit, ...]:
        """A mapping from requested times to the commits that had completed at the time of the snapshot. For a table of
        Hudi the result has only commits on the active timeline.
        """
        commits = {
            (commit.instant.requested, commit.instant.action): commit
            for commit in (*self.audit.twins, *self.audit.commits.values())
        }
        visible = (i for i in self.timeline.instants if i.writes and self._is_visible(i))
        return tuple(commit for i in visible if (commit := commits.get((i.requested, i.action))))

    def _is_visible(self, instant: Instant) -> bool:
        return instant.completed is not None and (self.time is None or instant.completed <= self.time)

    def _files(self) -> Iterable[File]:
        """Return the data files that reads use. For a log compaction, the result contains its new log instead of the
        logs that the new log replaces.
        """
        files = self._listed_files() if self.audit.rules.files == "listed" else self._named_files()
        covers = {
            path: tuple(path[: path.rfind("/") + 1] + name for name in names)
            for commit in self._commits
            for path, names in commit.covers
            if self.audit.rules.files == "listed" or self.timeline.is_log_compaction(commit.instant)
        }
        pending = {i.requested for i in self.timeline.pending if self.timeline.is_log_compaction(i)}
        return without_covered(files, covers, frozenset(pending), self.audit.rules) if covers or pending else files

    def _listed_files(self) -> Iterator[File]:
        """Return the files listed in completed commits. nbcc's readers use only these files."""
        for commit in self._commits:
            for stat in commit.stats:
                if file := data_file(stat.path, stat.size, commit.instant):
                    yield file

    def _named_files(self) -> Iterator[File]:
        """Return the files whose names contain a completed instant. Hudi's readers select files by the instant in the
        name.

        The size of each file is the size listed in commits; a file with fewer bytes is damaged.
        """
        sizes = self._listed_sizes()
        for path, file in self.audit.files.items():
            if file.completed is None or (self.time is not None and file.completed > self.time):
                continue
            size, writes = sizes.get(path, (file.size, 1))
            whole = file._replace(size=size)
            yield whole._replace(appended=True) if writes > 1 and isinstance(whole, LogFile) else whole

    def _listed_sizes(self) -> Mapping[str, tuple[int, int]]:
        """Return for each file the greatest size listed in a commit, and the number of writes that list the file."""
        sizes: dict[str, tuple[int, int]] = {}
        archived = (commit for commit in self.audit.commits.values() if not commit.active)
        for commit in (*self._commits, *archived):
            for stat in commit.stats:
                size, writes = sizes.get(stat.path, (0, 0))
                sizes[stat.path] = (max(size, stat.size), writes + 1)
        return sizes

    def _pending_plans(self) -> Mapping[Group, list[str]]:
        """Return the barriers of the compactions that were planned but not completed at the time of the snapshot."""
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
            return f"its instant {requested} is on no timeline: it never completed"
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
    """Return the table as of a completion time, or as of its newest settled state. The function reads no clock.

    `asked` is the phrase before the time in an error message. Raises `BadInput` for an invalid time, and for the
    requested time of a write. Raises `BadInput` also for a time that is not settled or precedes the first completion.
    """
    timeline = audit.timeline.without_undone(audit.restores) if audit.restores else audit.timeline
    if audit.rules.files == "listed":
        timeline = timeline.with_archived(audit.archive)
    timeline = timeline.until(audit.settled)
    time = None if as_of is None else _settled(timeline, instant_of(as_of, asked), asked)
    return TableSnapshot(audit, timeline, time)


def _settled(timeline: Timeline, time: str, asked: str) -> str:
    newest = timeline.greatest_completion
    if newest is not None and time > newest:
        exists = f"the newest completion is {newest}, and an instant may still complete by then"
        raise BadInput(f"{asked} {time}", exists, f"use {newest} or an earlier time, or leave the time out")
    refuse_requested_time(timeline, time, asked)
    refuse_before_first(timeline, time, asked)
    return time
