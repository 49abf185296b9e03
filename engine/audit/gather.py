"""Gathering: one listing, then the timeline again, then the archive, then what every instant says.

The data files are listed before the timeline, and again if it has grown meanwhile: an instant is requested before its
first file is put, and archived before it leaves the timeline, so that a file whose instant is in neither belongs to
nobody who is still at work.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from ..definition.load import PROPERTIES, audited_properties
from ..file_names import split_path
from ..files.group_files import data_file_of
from ..parquet import decode_parquet
from ..storage import Storage, paths_below, sizes_but
from ..timeline import LOG_COMPACTION, CompactionPlan, Instant, Timeline, parse_instant
from ..timeline.archive import HISTORY
from ..timeline.cleans import decode_clean_plan
from ..timeline.container import decode_record
from ..timeline.instant import is_layout_1
from ..timeline.metadata import OWN_KEY, decode_plan
from ..timeline.restores import decode_restore_plan
from ..timeline.rollbacks import decode_rollback_plan
from ..timeline.savepoints import decode_savepoint
from ..timeline.timeline import FOLDER
from .commits import commit_of, text
from .prefetch import prefetch
from .record import Audit, Clean, Commit, Fault, File, Rollback

Progress = Callable[[str, int, int], None]
"""What is being read, how many of it are, of how many."""

Made = TypeVar("Made")

_MANIFEST: Final = re.compile(r"manifest_(\d+)")


def gather(storage: Storage, progress: Progress = lambda what, done, of: None) -> Audit:
    """All that names and metadata of the table tell. Raises `NotATable` where `hoodie.properties` is none."""
    return _Gathering(storage, progress).all()


class _Gathering:
    def __init__(self, storage: Storage, progress: Progress) -> None:
        self.storage = storage
        self.progress = progress
        self.faults: list[Fault] = []
        self.reads = 0

    def all(self) -> Audit:
        properties, wrong = audited_properties(self.storage)
        if wrong:
            self.faults.append(Fault("properties", PROPERTIES, wrong))
        listing, before = sizes_but(self.storage, FOLDER)
        names, came = self._timeline_names(before)
        if came:  # with the files of what has completed meanwhile
            listing |= sizes_but(self.storage, FOLDER)[0]
        instants = [instant for name in names if (instant := parse_instant(name))]
        self.faults += [
            Fault("instant", f"{FOLDER}/{name}", "its name has no completion time (timeline layout 1)")
            for name in names if is_layout_1(name)
        ]  # fmt: skip
        rows = self._archive()
        timeline = Timeline.of(instants, bool(rows))
        archived = {r["instantTime"]: r["completionTime"] for r in rows if r["action"] in _WRITES}
        plans: dict[str, CompactionPlan] = {}
        log_plans: dict[str, CompactionPlan] = {}
        commits = self._archived_commits(rows, plans, log_plans)
        commits.update(self._commits(timeline))
        plans.update(self._plans(filter(timeline.is_compaction, timeline.instants), "compaction"))
        log_plans.update(self._plans(filter(timeline.is_log_compaction, timeline.instants), LOG_COMPACTION))
        if "nbcc.format" in properties:
            self._look_at_plans(instants)
        return Audit(
            url=self.storage.url,
            properties=properties,
            timeline=timeline,
            completions=tuple(i for i in instants if i.state == "completed"),
            listing=listing,
            files=_data_files(listing, archived | {i.requested: i.completed for i in timeline.completed if i.writes}),
            commits=commits,
            plans=plans,
            archived=archived,
            log_plans=log_plans,
            cleans=self._done("clean", timeline, _clean),
            rollbacks=self._done("rollback", timeline, _rollback),
            savepoints=frozenset(i.requested for i in timeline.completed if i.action == "savepoint"),
            faults=tuple(self.faults),
            reads=self.reads,
        )

    def _timeline_names(self, first: Iterable[str]) -> tuple[list[str], bool]:
        """The names in the timeline's folder, by two listings: the second one after that of the data files.

        And whether anything came between the two.
        """
        before, after = {*first}, {*paths_below(self.storage, FOLDER)}
        names = (path.removeprefix(f"{FOLDER}/") for path in before | after)
        return sorted(name for name in names if "/" not in name), not after <= before

    def _get(self, kind: str, path: str) -> bytes | None:
        self.reads += 1
        try:
            return self.storage.get(path)
        except FileNotFoundError:
            self.faults.append(Fault(kind, path, "it is gone"))
            return None

    def _understood(self, kind: str, path: str, understand: Callable[..., Made], *given: Any) -> Made | None:
        """What is understood of a file, None with a fault where it makes no sense, whatever is wrong with it."""
        try:
            return understand(*given)
        except Exception as broken:  # bytes that make no sense make a reader fail in any way
            exists = getattr(broken, "exists", None) or f"{type(broken).__name__}: {broken}"
            self.faults.append(Fault(kind, path, " ".join(str(exists).split())[:300]))
            return None

    # active instants

    def _read(
        self, kind: str, instants: Iterable[Instant], make: Callable[[Instant, bytes], Made]
    ) -> Iterator[tuple[Instant, Made]]:
        """What is made of the file of each of these instants, in the state that is given."""
        files = [(instant, f"{FOLDER}/{instant.file_name}") for instant in instants]
        contents = prefetch(self.storage, [path for _, path in files])
        for done, ((instant, path), data) in enumerate(zip(files, contents, strict=True)):
            if done % 1000 == 0:
                self.progress(f"{kind}s", done, len(files))
            self.reads += 1
            if data is None:
                self.faults.append(Fault(kind, path, "it is gone"))
            elif (made := self._understood(kind, path, make, instant, data)) is not None:
                yield instant, made

    def _commits(self, timeline: Timeline) -> Mapping[str, Commit]:
        writes = (instant for instant in timeline.completed if instant.writes)
        return {instant.requested: commit for instant, commit in self._read("commit", writes, commit_of)}

    def _plans(self, instants: Iterable[Instant], action: str) -> Mapping[str, CompactionPlan]:
        requests = (Instant(instant.requested, action, "requested") for instant in instants)
        plans = self._read("plan", requests, lambda instant, data: decode_plan(data, instant.file_name))
        return {instant.requested: plan for instant, plan in plans}

    def _look_at_plans(self, instants: Iterable[Instant]) -> None:
        """Whether what readers of our tables go by can be read: horizons, what a restore undoes, what is pinned.

        A plan that is not there says nothing: other engines may take it away.
        """
        for (action, state), understand in _READ_BY_READERS.items():
            there = [instant for instant in instants if (instant.action, instant.state) == (action, state)]
            deque(self._read(action, there, partial(_plan_of, understand)), maxlen=0)

    def _done(self, action: str, timeline: Timeline, make: Callable[[Instant, Any], Made]) -> tuple[Made, ...]:
        """What completed instants of an action say, services other than compactions."""
        done = (instant for instant in timeline.completed if instant.action == action)
        found = self._read(action, done, lambda instant, data: make(instant, decode_record(data, instant.file_name)))
        return tuple(made for _, made in found)

    # archived instants

    def _archive(self) -> list[dict[str, Any]]:
        """The rows of the files that the current manifest names."""
        names = {entry.path: entry.size for entry in self.storage.list(HISTORY)}
        version = f"{HISTORY}/_version_"
        numbers = [int(found[1]) for path in names if (found := _MANIFEST.fullmatch(split_path(path)[1]))]
        current = max(numbers, default=None)
        if version in names and (data := self._get("archive", version)) is not None:
            current = self._understood("archive", version, int, data)
        if current is None:
            return []
        path = f"{HISTORY}/manifest_{current}"
        data = self._get("archive", path)
        if data is None:
            return []
        listed = self._understood("archive", path, _manifest, data)
        return [row for name, size in listed or () for row in self._archive_file(f"{HISTORY}/{name}", size, names)]

    def _archive_file(self, path: str, size: int, names: Mapping[str, int]) -> list[dict[str, Any]]:
        if names.get(path, size) != size:
            self.faults.append(Fault("archive", path, f"it has {names[path]} bytes, its manifest says {size}"))
        data = self._get("archive", path)
        if data is None:
            return []
        rows = self._understood("archive", path, _archive_rows, data)
        return rows or []

    def _archived_commits(
        self, rows: Iterable[Mapping[str, Any]], plans: dict[str, CompactionPlan], log_plans: dict[str, CompactionPlan]
    ) -> dict[str, Any]:
        found: dict[str, Commit] = {}
        for row in rows:
            if row["action"] not in _WRITES or not row["metadata"]:
                continue
            instant = Instant(row["instantTime"], row["action"], "completed", row["completionTime"])
            path = f"{HISTORY}: {instant.file_name}"
            commit = self._understood("archive", path, _archived_commit, instant, row["metadata"])
            if commit is not None:
                found[instant.requested] = commit
            of_logs = commit is not None and commit.operation == "LOG_COMPACT"
            if row["plan"] and (row["action"] == "commit" or of_logs):
                plan = self._understood("archive", path, decode_plan, row["plan"], path)
                if plan is not None:
                    (log_plans if of_logs else plans)[instant.requested] = plan
        return found


_READ_BY_READERS: Final[Mapping[tuple[str, str], Callable[[bytes, str], object]]] = {
    ("clean", "requested"): decode_clean_plan,
    ("restore", "requested"): decode_restore_plan,
    ("rollback", "requested"): decode_rollback_plan,
    ("savepoint", "completed"): decode_savepoint,
}

_WRITES: Final = ("commit", "deltacommit", "replacecommit")


def _manifest(data: bytes) -> list[tuple[str, int]]:
    """(name, size) of the files that a manifest lists."""
    return [(text(file["fileName"]), int(file["fileLen"])) for file in json.loads(data)["files"]]


def _archive_rows(data: bytes) -> list[dict[str, Any]]:
    return [_archive_row(row) for row in decode_parquet(data, "a file of the archive").to_pylist()]


def _plan_of(understand: Callable[[bytes, str], object], instant: Instant, data: bytes) -> object:
    return understand(data, instant.requested)


def _archived_commit(instant: Instant, data: bytes) -> Commit:
    return commit_of(instant, data)._replace(active=False)


def _archive_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the archive; ValueError where its times are none."""
    found = {name: row[name] for name in ("instantTime", "completionTime", "action")}
    if not all(isinstance(value, str) and value for value in found.values()):
        raise ValueError(f"a row without times or action: {found}")
    return {**found, "metadata": row.get("metadata"), "plan": row.get("plan")}


def _clean(instant: Instant, record: Mapping[str, Any]) -> Clean:
    partitions = (record["partitionMetadata"] or {}).values()
    deleted = frozenset(split_path(name)[1] for each in partitions for name in each["successDeleteFiles"])
    kept = record["earliestCommitToRetain"] or instant.requested
    own = OWN_KEY in (record.get("extraMetadata") or {})
    return Clean(instant, kept if record["totalFilesDeleted"] else None, deleted, own)


def _rollback(instant: Instant, record: Mapping[str, Any]) -> Rollback:
    return Rollback(instant, tuple(text(each) for each in record["commitsRollback"] or ()))


def _data_files(listing: Mapping[str, int], completed: Mapping[str, str | None]) -> dict[str, File]:
    """The data files by path, each with the completion of the instant in its name; equal texts are one object."""
    instants: dict[str, Instant] = {}

    def writer(requested: str) -> Instant:
        instant = instants.get(requested)
        if instant is None:
            done = completed.get(requested)
            instant = Instant(requested, "deltacommit", "completed" if done else "inflight", done)
            instants[requested] = instant
        return instant

    paths = sorted(path for path in listing if path[:8] != ".hoodie/")
    found = ((path, data_file_of(path, listing[path], writer)) for path in paths)
    return {path: file for path, file in found if file is not None}
