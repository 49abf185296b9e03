"""Reads the metadata of a table even if some files are damaged. An audit lists all files, lists the timeline again,
reads the archive, and then reads the timeline file of each instant.

An audit lists the data files before the timeline. If the second timeline listing shows new files, the data files are
listed again. A writer requests its instant before it writes its first data file. An instant is archived before it is
removed from the active timeline. Together, these orders ensure that a data file belongs to no live writer if its
instant is neither active nor archived.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from ..definition.load import PROPERTIES, audited_properties
from ..errors import LimitExceeded
from ..file_names import split_path
from ..files.group_files import data_file_of
from ..storage import NotFound, Storage
from ..timeline import LOG_COMPACTION, CompactionPlan, Instant, Timeline, completion_of, parse_instant
from ..timeline.archive_files import Archived
from ..timeline.archive_reader import HISTORY, ArchiveReader
from ..timeline.cleans import HORIZON, CleanPlan, decode_clean_plan
from ..timeline.compaction_plans import decode_plan
from ..timeline.container import decode_record
from ..timeline.instant import is_layout_1
from ..timeline.metadata import OWN_KEY
from ..timeline.restores import decode_restore_plan
from ..timeline.rollbacks import decode_rollback_plan
from ..timeline.savepoints import decode_savepoint
from ..timeline.timeline import FOLDER
from .prefetch import prefetch
from .record import (
    GONE,
    Audit,
    Commit,
    DamagedFile,
    File,
    Progress,
    RecordedClean,
    RecordedRollback,
    no_progress,
    undone_by,
)

Parsed = TypeVar("Parsed")


def gather(storage: Storage, progress: Progress = no_progress) -> Audit:
    """Return the audit of a table, computed from file names and metadata files. Raises `NotATable` if the table has no
    valid `hoodie.properties`.
    """
    return _Gatherer(storage, progress).audit()


@dataclass
class _Archive:
    states: list[Instant] = field(default_factory=list)
    completed: dict[str, str] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    plans: dict[str, CompactionPlan] = field(default_factory=dict)
    log_plans: dict[str, CompactionPlan] = field(default_factory=dict)
    clean_plans: dict[str, CleanPlan] = field(default_factory=dict)
    cleans: list[RecordedClean] = field(default_factory=list)


class _Gatherer:
    def __init__(self, storage: Storage, progress: Progress) -> None:
        self.storage = storage
        self.progress = progress
        self.faults: list[DamagedFile] = []
        self.reads = 0

    def audit(self) -> Audit:
        properties, wrong = audited_properties(self.storage)
        if wrong:
            self.faults.append(DamagedFile("properties", PROPERTIES, wrong))
        listing, before = self.storage.sizes_but(FOLDER)
        names, has_grown = self._timeline_names(before)
        if has_grown:  # include the files of the instants that have completed since
            listing |= self.storage.sizes_but(FOLDER)[0]
        instants = [instant for name in names if (instant := parse_instant(name))]
        self.faults += [
            DamagedFile("instant", f"{FOLDER}/{name}", "its name has no completion time (timeline layout 1)")
            for name in names
            if is_layout_1(name)
        ]
        # From the first listing: a table that begins to archive meanwhile has everything on its active timeline, too.
        archived = any(path.startswith(f"{HISTORY}/") for path in before)
        archive = self._archive("nbcc.format" in properties, archived)
        # After the archive was read: the timeline must know whether an instant that it lacks may be archived.
        timeline = Timeline.of(instants, bool(archive.states))
        # Only the first listing bounds what was seen: the second may show an instant and miss an earlier one.
        first = (parse_instant(path.rpartition("/")[2]) for path in before)
        writes = {i.requested: i.completed for i in timeline.completed if i.writes}
        # A restore deletes what it has undone, so an undone commit or plan that is missing is not a fault.
        restores = tuple(self._requests(instants, "restore", decode_restore_plan).values())
        undone = undone_by(restores)
        counted = [instant for instant in timeline.instants if instant.requested not in undone]
        # An instant may be in the archive although a restore has undone it.
        kept = (commit for commit in archive.commits if commit.instant.requested not in undone)
        commits, twins = _by_request((*kept, *self._commits(counted)))
        return Audit(
            url=self.storage.url,
            properties=properties,
            timeline=timeline,
            names=tuple(names),
            completions=tuple(i for i in instants if i.state == "completed"),
            settled=max((i.completed for i in first if i and i.completed), default=""),
            listing=listing,
            files=data_files(listing, archive.completed | writes),
            archived=archive.completed,
            archive=tuple(archive.states),
            commits=commits,
            twins=twins,
            plans=_without(archive.plans, undone) | self._plans(filter(timeline.is_compaction, counted), "compaction"),
            log_plans=_without(archive.log_plans, undone)
            | self._plans(filter(timeline.is_log_compaction, counted), LOG_COMPACTION),
            restores=restores,
            clean_plans=archive.clean_plans | self._clean_plans(instants, "nbcc.format" in properties),
            cleans=(*archive.cleans, *self._services("clean", timeline, _clean)),
            rollbacks=self._services("rollback", timeline, _rollback),
            savepoints=frozenset(i.requested for i in timeline.completed if i.action == "savepoint"),
            faults=tuple(self.faults),
            reads=self.reads,
        )

    def _timeline_names(self, first: Iterable[str]) -> tuple[list[str], bool]:
        """List the timeline a second time; `first` contains the paths of the first listing. Return the file names found
        by the two listings, and True if the second listing contains new names.
        """
        before, after = {*first}, {*self.storage.paths(FOLDER)}
        names = (path.removeprefix(f"{FOLDER}/") for path in before | after)
        return sorted(name for name in names if "/" not in name), not after <= before

    def _parsed(self, kind: str, path: str, parse: Callable[..., Parsed], *arguments: Any) -> Parsed | None:
        try:
            return parse(*arguments)
        except Exception as error:  # damaged bytes can make a decoder raise anything
            self._refused(kind, path, error)
            return None

    def _refused(self, kind: str, path: str, error: Exception) -> None:
        """Record that a file is missing or cannot be decoded."""
        reason = getattr(error, "exists", None) or f"{type(error).__name__}: {error}"
        if isinstance(error, LimitExceeded):
            reason = f"{reason}; {error.remedy}"
        # One line and not too long: a decoder may put a whole file into its message.
        because = GONE if isinstance(error, NotFound) else " ".join(str(reason).split())[:300]
        self.faults.append(DamagedFile(kind, path, because))

    # active instants

    def _read(
        self, kind: str, instants: Iterable[Instant], parse: Callable[[Instant, bytes], Parsed]
    ) -> Iterator[tuple[Instant, Parsed]]:
        """Yield each instant with the parsed content of its timeline file."""
        files = [(instant, f"{FOLDER}/{instant.file_name}") for instant in instants]
        contents = prefetch(self.storage, [path for _, path in files])
        for done, ((instant, path), data) in enumerate(zip(files, contents, strict=True)):
            # Not for each file: a table may have a hundred thousand.
            if done % 1000 == 0:
                self.progress(f"{kind}s", done, len(files))
            self.reads += 1
            if data is None:
                self.faults.append(DamagedFile(kind, path, GONE))
            elif (parsed := self._parsed(kind, path, parse, instant, data)) is not None:
                yield instant, parsed

    def _commits(self, instants: Iterable[Instant]) -> list[Commit]:
        writes = sorted((i for i in instants if i.completed and i.writes), key=lambda i: (completion_of(i), i.key))
        return [commit for _, commit in self._read("commit", writes, Commit.of)]

    def _plans(self, instants: Iterable[Instant], action: str) -> dict[str, CompactionPlan]:
        # The plan is the content of the requested file, also of an instant that is inflight or completed now.
        requests = (Instant(instant.requested, action, "requested") for instant in instants)
        plans = self._read("plan", requests, lambda instant, data: decode_plan(data, instant.file_name))
        return {instant.requested: plan for instant, plan in plans}

    def _clean_plans(self, instants: list[Instant], own: bool) -> dict[str, CleanPlan]:
        """Return the clean plans of an nbcc table, which record the horizon. Of other tables, return the pending ones,
        because their cleans may have deleted files already.

        Rollback plans and savepoints of an nbcc table are also parsed, so that damaged ones are reported.
        """
        if not own:
            pending = {i.requested for i in Timeline.of(instants).pending}
            return self._requests([i for i in instants if i.requested in pending], "clean", decode_clean_plan)
        plans = self._requests(instants, "clean", decode_clean_plan)
        self._requests(instants, "rollback", decode_rollback_plan)
        self._requests(instants, "savepoint", decode_savepoint, "completed")
        return plans

    def _requests(
        self, instants: list[Instant], action: str, decode: Callable[[bytes, str], Parsed], state: str = "requested"
    ) -> dict[str, Parsed]:
        files = (instant for instant in instants if (instant.action, instant.state) == (action, state))
        parsed = self._read(action, files, lambda instant, data: decode(data, instant.requested))
        return {instant.requested: plan for instant, plan in parsed}

    def _services(self, action: str, timeline: Timeline, parse: Callable[[Instant, Any], Parsed]) -> tuple[Parsed, ...]:
        done = (instant for instant in timeline.completed if instant.action == action)
        parsed = self._read(action, done, lambda instant, data: parse(instant, decode_record(data, instant.file_name)))
        return tuple(service for _, service in parsed)

    # archived instants

    def _archive(self, own: bool, seen: bool) -> _Archive:
        found, reader = _Archive(), ArchiveReader(self.storage, partial(self._refused, "archive"))
        files = reader.files(seen)
        for row in chain.from_iterable(map(reader.rows, files)):
            self._add(found, row, own)
        self.reads += len(files) + 2 if files else 0
        return found

    def _add(self, archive: _Archive, row: Archived, own: bool) -> None:
        instant, requested = row.instant, row.requested
        path = f"{HISTORY}: {instant.file_name}"
        archive.states += row.states
        # Also without metadata, as other engines archive it: that the write completed is known.
        if instant.writes:
            archive.completed[requested] = row.completed
        if instant.writes and row.metadata:
            commit = self._parsed("archive", path, Commit.of, instant, row.metadata)
            compacts_logs = False
            if commit is not None:
                archive.commits.append(replace(commit, active=False))
                compacts_logs = commit.operation == "LOG_COMPACT"
            planned = row.plan and (row.action == "commit" or compacts_logs)
            if planned and (plan := self._parsed("archive", path, decode_plan, row.plan, path)):
                (archive.log_plans if compacts_logs else archive.plans)[requested] = plan
        if row.action == "clean" and row.metadata:
            done = self._parsed("archive", path, lambda data: _clean(instant, decode_record(data, path)), row.metadata)
            archive.cleans += [done] if done else []
        cleaned = row.action == "clean" and row.plan and own
        if cleaned and (clean := self._parsed("archive", path, decode_clean_plan, row.plan, path)):
            archive.clean_plans[requested] = clean


def _without(plans: Mapping[str, CompactionPlan], undone: Container[str]) -> dict[str, CompactionPlan]:
    return {requested: plan for requested, plan in plans.items() if requested not in undone}


def _by_request(commits: Iterable[Commit]) -> tuple[dict[str, Commit], tuple[Commit, ...]]:
    by_request: dict[str, Commit] = {}
    twins = []
    for commit in commits:
        other = by_request.get(commit.instant.requested)
        # The same action twice is one instant, on both timelines. Another action is a second instant at that time.
        if other is not None and other.instant.action != commit.instant.action:
            twins.append(other)
        by_request[commit.instant.requested] = commit
    return by_request, tuple(twins)


def _clean(instant: Instant, record: Mapping[str, Any]) -> RecordedClean:
    partitions = (record["partitionMetadata"] or {}).values()
    deleted = frozenset(split_path(name)[1] for each in partitions for name in each["successDeleteFiles"])
    retained = record["earliestCommitToRetain"] or instant.requested
    extra = record.get("extraMetadata") or {}
    horizon = text(extra[HORIZON]) if HORIZON in extra else None
    return RecordedClean(instant, retained if record["totalFilesDeleted"] else None, deleted, OWN_KEY in extra, horizon)


def text(value: object) -> str:
    """Return `value` if it is a string; otherwise raise ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")
    return value


def _rollback(instant: Instant, record: Mapping[str, Any]) -> RecordedRollback:
    return RecordedRollback(instant, tuple(text(requested) for requested in record["commitsRollback"] or ()))


def data_files(listing: Mapping[str, int], completed: Mapping[str, str | None]) -> dict[str, File]:
    """Return the data files by path, each with the completion time of the instant in the file name."""
    instants: dict[str, Instant] = {}

    def writer(requested: str) -> Instant:
        instant = instants.get(requested)
        if instant is None:
            done = completed.get(requested)
            instant = Instant(requested, "deltacommit", "completed" if done else "inflight", done)
            instants[requested] = instant
        return instant

    # A slice instead of `startswith`, which is slower: this runs for each path of the table.
    paths = sorted(path for path in listing if path[:8] != ".hoodie/")
    files = ((path, data_file_of(path, listing[path], writer)) for path in paths)
    return {path: file for path, file in files if file is not None}
