"""The part of a table that a second run of `nbcc validate --state` judges: what has changed since the last run.

The last run found no fault. An instant that had completed before everything that is new was requested cannot become
wrong by it, unless a new plan or base file concerns its file group. The second run therefore judges the new and pending
instants, and in the file groups of new base files and plans the newest slice. It judges the whole table if the part is
not fine, or if something other than writes and compactions happened: a clean, a rollback, a restore, a replace by
another engine, a new file group, a changed or removed file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from nbcc.engine.file_names import in_partition
from nbcc.engine.files.group_files import Group
from nbcc.engine.storage import Entry, Listable, NotFound, Storage
from nbcc.engine.timeline import Instant, decode_plan, encode_plan, parse_instant
from nbcc.engine.timeline.archive_reader import HISTORY, ArchiveReader
from nbcc.engine.timeline.timeline import FOLDER

WRITES: Final = ("commit", "deltacommit", "compaction", "logcompaction")
"""The actions whose new instants do not need the whole table to be judged."""
UNJUDGED: Final = (".hoodie/lock", ".hoodie/.nbcc/", ".hoodie/.aux/", ".hoodie/.temp/", ".hoodie/.heartbeat/",
                   ".hoodie/metadata/")  # fmt: skip
"""Files that no rule about data reads."""
WRITES_NOTHING: Final = "validate writes nothing"
_DATA: Final = re.compile(r"(?:(.*)/)?(?:\.(?P<log>[^/]+)_(\d{17})\.log\.[^/]*|([^/_]+)_[^/]*_(\d{17})\.[a-z]+)")


class NamedFile(NamedTuple):
    """A data file by its name alone."""

    path: str
    group: Group
    instant: str
    is_base: bool


class Unsettled(Listable):
    """A storage that lists some of a table's files, as they were listed once, and hides the others."""

    def __init__(self, storage: Storage, shown: Mapping[str, int], hidden: Collection[str]) -> None:
        self._storage, self._shown, self._hidden, self.is_remote = storage, shown, hidden, storage.is_remote

    @property
    def url(self) -> str:
        return self._storage.url

    def list(self, prefix: str) -> list[Entry]:
        head = f"{prefix}/" if prefix else ""
        return [Entry(path, size) for path, size in self._shown.items() if path.startswith(head)]

    def get(self, path: str) -> bytes:
        if path.startswith(f"{HISTORY}/"):
            raise NotFound(path)
        data = self._storage.get(path)
        return self._from_shown(data, path) if path.endswith(".compaction.requested") else data

    def _from_shown(self, data: bytes, path: str) -> bytes:
        """Return a compaction plan without the base files that are hidden: its slice is the first of the history."""
        plan = decode_plan(data, path)
        first = tuple(
            replace(each, base_file=None)
            if in_partition(each.partition, each.base_file or "") in self._hidden
            else each
            for each in plan.operations
        )
        return data if first == plan.operations else encode_plan(replace(plan, operations=first))

    def put(self, path: str, data: bytes) -> None:
        raise AssertionError(WRITES_NOTHING)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        raise AssertionError(WRITES_NOTHING)

    def delete(self, path: str) -> None:
        raise AssertionError(WRITES_NOTHING)

    def delete_all(self, paths: Sequence[str]) -> None:
        raise AssertionError(WRITES_NOTHING)


def unsettled(storage: Storage, old: Mapping[str, int], now: Mapping[str, int]) -> Unsettled | None:
    """Return the part of a table that must be judged, by its last and its present listing; None if it is the whole."""
    changed = {path for path, _ in now.items() ^ old.items() if not path.startswith(UNJUDGED)}
    instants = {path: instant for path in now if _is_timeline(path) and (instant := _instant(path))}
    fresh = {path for path in changed if path in now and path not in old}
    new = [instants[path] for path in fresh if path in instants]
    data = [file for path in fresh if (file := data_file(path))]
    archive = _ArchivedTimes(storage)
    for path in changed - fresh:
        instant = _instant(path)
        is_archived = path not in now and instant is not None and instant.requested in archive.completions
        if not (is_archived or path.startswith(f"{HISTORY}/")):
            return None
    others = fresh - {file.path for file in data} - instants.keys()
    if any(not path.startswith(f"{HISTORY}/") for path in others) or any(each.action not in WRITES for each in new):
        return None
    done = {each.requested: each.completed for each in instants.values() if each.completed}
    pending = {each.requested for each in instants.values()} - done.keys()
    cut = min(pending | {each.requested for each in new}, default="~")
    chosen = pending | {requested for requested, completed in done.items() if max(requested, completed) >= cut}
    files = [file for path in now if (file := data_file(path))]
    known = {file.group for path in old if (file := data_file(path))} if data else set()
    if not all(file.instant in chosen and file.group in known for file in data):
        return None  # a new file group may share a bucket with another
    groups = {file.group for file in data if file.is_base} | _planned(storage, instants, pending)
    for members in _by_group(files, groups).values():
        chosen |= _newest_slice(members, cut, done, archive)
    if not chosen <= {each.requested for each in instants.values()}:
        return None
    hidden = {file.path for file in files if file.instant not in chosen}
    hidden |= {path for path, instant in instants.items() if instant.requested not in chosen}
    shown = {path: size for path, size in now.items() if path not in hidden and not path.startswith(HISTORY)}
    return Unsettled(storage, shown, hidden)


def data_file(path: str) -> NamedFile | None:
    """Return a data file by its path; None for another file."""
    match = None if path.startswith(".hoodie/") else _DATA.fullmatch(path)
    if match is None:
        return None
    partition, log, log_instant, base, base_instant = match.groups()
    return NamedFile(path, (partition or "", log or base), log_instant or base_instant, log is None)


class _ArchivedTimes:
    """The completion times of the archived instants by requested time; they are read when they are first needed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @cached_property
    def completions(self) -> Mapping[str, str]:
        reader = ArchiveReader(self._storage)
        return {row.requested: row.completed for row in chain.from_iterable(map(reader.index, reader.files()))}


def _is_timeline(path: str) -> bool:
    return path.startswith(f"{FOLDER}/") and not path.startswith(f"{HISTORY}/")


def _instant(path: str) -> Instant | None:
    return parse_instant(path.rpartition("/")[2]) if _is_timeline(path) else None


def _planned(storage: Storage, instants: Mapping[str, Instant], pending: Collection[str]) -> set[Group]:
    """Return the file groups of the pending compactions and log compactions."""
    plans = (path for path, each in instants.items() if each.requested in pending and each.state == "requested")
    read = (decode_plan(storage.get(path), path) for path in plans if "compaction" in path)
    return {(each.partition, each.file_id) for plan in read for each in plan.operations}


def _by_group(files: Collection[NamedFile], groups: Collection[Group]) -> Mapping[Group, list[NamedFile]]:
    by_group: dict[Group, list[NamedFile]] = {group: [] for group in groups}
    for file in files if groups else ():
        if file.group in by_group:
            by_group[file.group].append(file)
    return by_group


def _newest_slice(files: Collection[NamedFile], cut: str, done: Mapping[str, str], archive: _ArchivedTimes) -> set[str]:
    """Return the instants of the newest slice of a file group whose base file was requested before `cut`, and later
    ones.
    """
    since = max((file.instant for file in files if file.is_base and file.instant < cut), default="")
    older = {file.instant for file in files if file.instant < since}
    late = {time for time in older if (done.get(time) or archive.completions.get(time, "~")) >= since}
    return late | {file.instant for file in files if file.instant >= since}
