"""Reads the metadata of a table even if some files are damaged. An audit lists all files, lists the timeline again,
reads the archive, and then reads the timeline file of each instant.

An audit lists the data files before the timeline. If the second timeline listing shows new files, the data files are
listed again. A writer requests its instant before it writes its first data file. An instant is archived before it is
removed from the active timeline. Together, these orders ensure that a data file belongs to no live writer if its
instant is neither active nor archived.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from ..definition.load import PROPERTIES, audited_properties
from ..errors import LimitExceeded
from ..file_names import split_path
from ..files.group_files import data_file_of
from ..json_text import parse_json
from ..parquet import decode_parquet
from ..storage import Storage, paths_below, sizes_but
from ..timeline import LOG_COMPACTION, CompactionPlan, Instant, Timeline, completion_of, parse_instant
from ..timeline.archive import HISTORY
from ..timeline.archive_files import Archived
from ..timeline.cleans import HORIZON, CleanPlan, decode_clean_plan
from ..timeline.container import decode_record
from ..timeline.instant import is_layout_1
from ..timeline.metadata import OWN_KEY, decode_plan
from ..timeline.restores import decode_restore_plan
from ..timeline.rollbacks import decode_rollback_plan
from ..timeline.savepoints import decode_savepoint
from ..timeline.timeline import FOLDER
from .commits import commit_of, text
from .prefetch import prefetch
from .record import GONE, Audit, Clean, Commit, Fault, File, Progress, Rollback, no_progress, undone_by

Parsed = TypeVar("Parsed")

_MANIFEST: Final = re.compile(r"manifest_(\d+)")


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
    cleans: list[Clean] = field(default_factory=list)


class _Gatherer:
    def __init__(self, storage: Storage, progress: Progress) -> None:
        self.storage = storage
        self.progress = progress
        self.faults: list[Fault] = []
        self.reads = 0

    def audit(self) -> Audit:
        properties, wrong = audited_properties(self.storage)
        if wrong:
            self.faults.append(Fault("properties", PROPERTIES, wrong))
        listing, before = sizes_but(self.storage, FOLDER)
        names, has_grown = self._timeline_names(before)
        if has_grown:  # include the files of the instants that have completed since
            listing |= sizes_but(self.storage, FOLDER)[0]
        instants = [instant for name in names if (instant := parse_instant(name))]
        self.faults += [
            Fault("instant", f"{FOLDER}/{name}", "its name has no completion time (timeline layout 1)")
            for name in names
            if is_layout_1(name)
        ]
        archive = self._archive("nbcc.format" in properties)
        timeline = Timeline.of(instants, bool(archive.states))
        first = (parse_instant(path.rpartition("/")[2]) for path in before)
        writes = {i.requested: i.completed for i in timeline.completed if i.writes}
        # A restore deletes what it has undone, so an undone commit or plan that is missing is not a fault.
        restores = tuple(self._requests(instants, "restore", decode_restore_plan).values())
        undone = undone_by(restores)
        counted = [instant for instant in timeline.instants if instant.requested not in undone]
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
            files=_data_files(listing, archive.completed | writes),
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
        before, after = {*first}, {*paths_below(self.storage, FOLDER)}
        names = (path.removeprefix(f"{FOLDER}/") for path in before | after)
        return sorted(name for name in names if "/" not in name), not after <= before

    def _get(self, kind: str, path: str) -> bytes | None:
        self.reads += 1
        try:
            return self.storage.get(path)
        except FileNotFoundError:
            self.faults.append(Fault(kind, path, GONE))
            return None

    def _parsed(self, kind: str, path: str, parse: Callable[..., Parsed], *arguments: Any) -> Parsed | None:
        try:
            return parse(*arguments)
        except Exception as error:  # damaged bytes can make a decoder raise anything
            reason = getattr(error, "exists", None) or f"{type(error).__name__}: {error}"
            if isinstance(error, LimitExceeded):
                reason = f"{reason}; {error.remedy}"
            self.faults.append(Fault(kind, path, " ".join(str(reason).split())[:300]))
            return None

    # active instants

    def _read(
        self, kind: str, instants: Iterable[Instant], parse: Callable[[Instant, bytes], Parsed]
    ) -> Iterator[tuple[Instant, Parsed]]:
        """Yield each instant with the parsed content of its timeline file."""
        files = [(instant, f"{FOLDER}/{instant.file_name}") for instant in instants]
        contents = prefetch(self.storage, [path for _, path in files])
        for done, ((instant, path), data) in enumerate(zip(files, contents, strict=True)):
            if done % 1000 == 0:
                self.progress(f"{kind}s", done, len(files))
            self.reads += 1
            if data is None:
                self.faults.append(Fault(kind, path, GONE))
            elif (parsed := self._parsed(kind, path, parse, instant, data)) is not None:
                yield instant, parsed

    def _commits(self, instants: Iterable[Instant]) -> list[Commit]:
        writes = sorted((i for i in instants if i.completed and i.writes), key=lambda i: (completion_of(i), i.key))
        return [commit for _, commit in self._read("commit", writes, commit_of)]

    def _plans(self, instants: Iterable[Instant], action: str) -> dict[str, CompactionPlan]:
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

    def _archive(self, own: bool) -> _Archive:
        archive = _Archive()
        for row in self._archive_rows():
            self._add(archive, row, own)
        return archive

    def _archive_rows(self) -> Iterator[Archived]:
        sizes = {entry.path: entry.size for entry in self.storage.list(HISTORY)}
        version = f"{HISTORY}/_version_"
        numbers = (_MANIFEST.fullmatch(split_path(path)[1]) for path in sizes)
        current = max((int(number[1]) for number in numbers if number), default=None)
        if version in sizes and (data := self._get("archive", version)) is not None:
            current = self._parsed("archive", version, int, data)
        if current is None:
            return
        manifest = f"{HISTORY}/manifest_{current}"
        if (data := self._get("archive", manifest)) is None:
            return
        for name, size in self._parsed("archive", manifest, _manifest, data) or ():
            path = f"{HISTORY}/{name}"
            if sizes.get(path, size) != size:
                self.faults.append(Fault("archive", path, f"it has {sizes[path]} bytes, its manifest says {size}"))
            if (data := self._get("archive", path)) is not None:
                yield from self._parsed("archive", path, _archive_file, data) or ()

    def _add(self, archive: _Archive, row: Archived, own: bool) -> None:
        instant, requested = row.instant, row.requested
        path = f"{HISTORY}: {instant.file_name}"
        archive.states += row.states
        if instant.writes:
            archive.completed[requested] = row.completed
        if instant.writes and row.metadata:
            commit = self._parsed("archive", path, commit_of, instant, row.metadata)
            compacts_logs = False
            if commit is not None:
                archive.commits.append(commit._replace(active=False))
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
        if other is not None and other.instant.action != commit.instant.action:
            twins.append(other)
        by_request[commit.instant.requested] = commit
    return by_request, tuple(twins)


def _manifest(data: bytes) -> list[tuple[str, int]]:
    return [(text(file["fileName"]), int(file["fileLen"])) for file in parse_json(data)["files"]]


def _archive_file(data: bytes) -> list[Archived]:
    return [_archive_row(row) for row in decode_parquet(data, "a file of the archive").to_pylist()]


def _archive_row(row: Mapping[str, Any]) -> Archived:
    """Parse a row of an archive file. Raises ValueError if the requested time, the completion time or the action is
    missing.
    """
    requested, completed, action = names = [row[name] for name in ("instantTime", "completionTime", "action")]
    if not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"a row without times or action: {names}")
    return Archived(requested, completed, action, row.get("metadata"), row.get("plan"))


def _clean(instant: Instant, record: Mapping[str, Any]) -> Clean:
    partitions = (record["partitionMetadata"] or {}).values()
    deleted = frozenset(split_path(name)[1] for each in partitions for name in each["successDeleteFiles"])
    retained = record["earliestCommitToRetain"] or instant.requested
    extra = record.get("extraMetadata") or {}
    horizon = text(extra[HORIZON]) if HORIZON in extra else None
    return Clean(instant, retained if record["totalFilesDeleted"] else None, deleted, OWN_KEY in extra, horizon)


def _rollback(instant: Instant, record: Mapping[str, Any]) -> Rollback:
    return Rollback(instant, tuple(text(requested) for requested in record["commitsRollback"] or ()))


def _data_files(listing: Mapping[str, int], completed: Mapping[str, str | None]) -> dict[str, File]:
    """Return the data files by path, each with the completion time of the instant in the file name."""
    instants: dict[str, Instant] = {}

    def writer(requested: str) -> Instant:
        instant = instants.get(requested)
        if instant is None:
            done = completed.get(requested)
            instant = Instant(requested, "deltacommit", "completed" if done else "inflight", done)
            instants[requested] = instant
        return instant

    paths = sorted(path for path in listing if path[:8] != ".hoodie/")
    files = ((path, data_file_of(path, listing[path], writer)) for path in paths)
    return {path: file for path, file in files if file is not None}
