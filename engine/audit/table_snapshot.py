"""One look at a table: its timeline, its files and its slices at one time, which everything else here is told from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import BadInput
from ..file_names import split_path
from ..files.group_files import BaseFile, Group, LogFile, data_file
from ..files.slices import FileSlice, load_slices, replaced_groups
from ..reads.times import Time, instant_of
from ..reads.travel import refuse_before_first, refuse_requested_time
from ..rules import Rules
from ..storage import Entry, Storage
from ..timeline import Archive, Instant, Timeline, load_settled
from ..timeline.commits import Commits


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """`time` is the completion time asked for, None: all that is settled. `entries` is a listing of the whole table."""

    timeline: Timeline
    time: str | None
    commits: Commits
    archive: Archive
    slices: tuple[FileSlice, ...]
    replaced: frozenset[Group]
    entries: tuple[Entry, ...]

    @property
    def shown(self) -> Timeline:
        """The timeline as it was at that time: what completed later is inflight, what was requested later not there."""
        if self.time is None:
            return self.timeline
        until = self.timeline.until(self.time)
        return Timeline(tuple(i for i in until.instants if i.requested <= self.time), until.begun_as)

    @property
    def counted(self) -> frozenset[str]:
        """The paths of the files in slices."""
        return frozenset(
            file.path for piece in self.slices for file in (piece.base, *piece.tombstones, *piece.logs) if file
        )

    def uncounted(self) -> Iterator[tuple[BaseFile | LogFile, str]]:
        """Every data file that no slice holds, with the reason as the second half of a sentence."""
        counted, covered = self.counted, self._covered()
        for entry in self.entries:
            file = named_file(entry)
            if file is not None and entry.path not in counted:
                yield file, covered.get(entry.path) or self._because(file)

    def _covered(self) -> dict[str, str]:
        """Of each log that a log compaction has put together with others: why it is not read."""
        logs = (log for piece in self.slices for log in piece.logs if log.covers)
        return {
            file.path: f"the log of the log compaction {log.requested} stands for it"
            for log in logs
            for file in log.files
            if file is not log
        }

    def _because(self, file: BaseFile | LogFile) -> str:
        if (file.partition, file.file_id) in self.replaced:
            return "its file group was replaced"
        instant = self.timeline.find(file.requested)
        if instant is None:
            archived = self.archive.find(file.requested)
            if archived is None:
                return f"no timeline knows its instant {file.requested}, so that it never completed"
            instant = Instant(file.requested, archived.action, "completed", archived.completed)
        if instant.completed is None:
            return f"its instant {file.requested} is not completed ({instant.state})"
        if self.time is not None and instant.completed > self.time:
            return f"its instant {file.requested} completed at {instant.completed}, after the time asked for"
        return f"its instant {file.requested} is completed and does not list it: an attempt that came too late"


def look(storage: Storage, rules: Rules, as_of: Time | None, asked: str) -> TableSnapshot:
    """TableSnapshot at the table by `rules`. Nothing is taken from a clock, since whoever looks does not write.

    `asked` says what a time is for. Raises `BadInput` for a time that is none, lies after the newest completion (it is
    not settled), before the first, or is the requested time of a write.
    """
    commits = Commits(storage)
    timeline = load_settled(storage, rules, commits=commits)
    time = None if as_of is None else _settled(timeline, instant_of(as_of, asked), asked)
    return TableSnapshot(
        timeline,
        time,
        commits,
        Archive(storage),
        load_slices(storage, timeline, commits, rules, time),
        replaced_groups(timeline, commits, rules, time),
        tuple(storage.list("")),
    )


def _settled(timeline: Timeline, time: str, asked: str) -> str:
    newest = timeline.greatest_completion
    if newest is not None and time > newest:
        exists = f"the newest completion is {newest}, and something may still complete by then"
        raise BadInput(f"{asked} {time}", exists, f"use {newest} or an earlier time, or leave the time out")
    refuse_requested_time(timeline, time, asked)
    refuse_before_first(timeline, time, asked)
    return time


def named_file(entry: Entry) -> BaseFile | LogFile | None:
    """The data file of an entry as its name alone tells it; None for whatever holds no rows."""
    if entry.path.startswith(".hoodie/"):
        return None
    file = data_file(entry.path, entry.size, Instant("", "deltacommit", "inflight"))
    if file is None:
        return None
    requested = file.named if isinstance(file, LogFile) else _last_part(split_path(entry.path)[1])
    return data_file(entry.path, entry.size, Instant(requested, "deltacommit", "inflight"))


def _last_part(name: str) -> str:
    """The instant in the name of a base file."""
    return name.rpartition("_")[2].removesuffix(".parquet")
