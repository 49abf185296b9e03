"""The part of a table that a second run of `nbcc validate --state` judges: what has changed since the last run.

The last run found no fault. An instant that had completed before everything that is new was requested cannot become
wrong by it, unless a new plan or base file concerns its file group. The second run therefore judges the new and pending
instants, and in the file groups of new base files and plans the newest slice. It judges the whole table if the part is
not fine, or if something other than writes and compactions happened: a clean, a rollback, a restore, a replace by
another engine, a new file group, a changed or removed file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from nbcc.engine.file_names import PARTITION_METADATA, in_partition
from nbcc.engine.files.group_files import Group
from nbcc.engine.storage import Entry, Listable, NotFound, Storage
from nbcc.engine.timeline import Instant, decode_plan, encode_plan, parse_instant
from nbcc.engine.timeline.archive_files import ArchiveFile
from nbcc.engine.timeline.archive_reader import HISTORY, ArchiveReader
from nbcc.engine.timeline.instant import ACTIONS
from nbcc.engine.timeline.timeline import FOLDER

WRITES: Final = ("commit", "deltacommit", "compaction", "logcompaction")
"""The actions whose new instants do not need the whole table to be judged."""
UNJUDGED: Final = (".hoodie/lock", ".hoodie/.nbcc/", ".hoodie/.aux/", ".hoodie/.temp/", ".hoodie/.heartbeat/",
                   ".hoodie/metadata/")  # fmt: skip
"""Files that no rule about data reads."""
WRITES_NOTHING: Final = "validate writes nothing"
_HOME: Final = f"{FOLDER}/"
_ARCHIVE: Final = f"{HISTORY}/"
_PLANS: Final = (".compaction.requested", ".logcompaction.requested")
_DATA: Final = re.compile(r"(?:(.*)/)?(?:\.(?P<log>[^/]+)_(\d{17})\.log\.[^/]*|([^/_]+)_[^/]*_(\d{17})\.[a-z]+)")


class NamedFile(NamedTuple):
    """A data file by its name alone."""

    path: str
    group: Group
    instant: str
    is_base: bool


class Unsettled(Listable):
    """A storage that lists some of a table's files, as they were listed once, and hides the others."""

    def __init__(self, storage: Storage, shown: Mapping[str, int]) -> None:
        self._storage, self._shown, self.is_remote = storage, shown, storage.is_remote

    @property
    def url(self) -> str:
        return self._storage.url

    def list(self, prefix: str) -> list[Entry]:
        head = f"{prefix}/" if prefix else ""
        return [Entry(path, size) for path, size in self._shown.items() if path.startswith(head)]

    def get(self, path: str) -> bytes:
        if path.startswith(_ARCHIVE):
            raise NotFound(path)
        data = self._storage.get(path)
        return self._from_shown(data, path) if path.endswith(".compaction.requested") else data

    def _from_shown(self, data: bytes, path: str) -> bytes:
        """Return a compaction plan without the base files that are hidden: its slice is the first of the history."""
        plan = decode_plan(data, path)
        first = tuple(
            each if in_partition(each.partition, each.base_file or "") in self._shown else replace(each, base_file=None)
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


def unsettled(
    storage: Storage, now: Mapping[str, int], added: Collection[str], removed: Collection[str]
) -> Unsettled | None:
    """Return the part of a table that must be judged; None if it is the whole.

    `now` is the present listing. `added` are the paths that were added or resized since the last run, and `removed`
    those that were removed or resized.
    """
    try:
        return _unsettled(storage, now, added, removed)
    except Exception:  # damaged bytes can make a decoder raise anything; a run over the whole table reports them
        return None


def _unsettled(
    storage: Storage, now: Mapping[str, int], added: Collection[str], removed: Collection[str]
) -> Unsettled | None:
    fresh, gone = _concerning_data(added), _concerning_data(removed)
    new = {path: instant for path in fresh if (instant := _instant(path))}
    data = [file for path in fresh if (file := data_file(path))]
    archive = _ArchivedInstants(storage)
    times = {instant.requested if (instant := _instant(path)) else "" for path in gone}
    if fresh & gone or len(fresh) > len(new) + len(data) or times - archive.completions(times).keys():
        return None
    if any(each.action not in WRITES for each in new.values()):
        return None
    if any(path.startswith(_ARCHIVE) for path in chain(added, removed)) and not archive.is_whole(now):
        return None
    names = _Names.of(now)
    cut = min({*names.pending, *(each.requested for each in new.values())}, default="~")
    chosen = names.pending | {time for time, completed in names.done.items() if time >= cut or completed >= cut}
    rewritten = {file.group for file in data if file.is_base} | _planned(storage, names)
    if not {file.instant for file in data} <= chosen or names.lack({file.group for file in data}, fresh):
        return None  # a new file group may share a bucket with another
    newest = _newest_slices(names.files_of(rewritten), cut, names.done, archive)
    if not newest <= names.done.keys() | names.pending:
        return None
    return Unsettled(storage, {path: now[path] for path in sorted(names.paths_of(chosen | newest))})


def data_file(path: str) -> NamedFile | None:
    match = None if path.startswith(".hoodie/") else _DATA.fullmatch(path)
    if match is None:
        return None
    partition, log, log_instant, base, base_instant = match.groups()
    return NamedFile(path, (partition or "", log or base), log_instant or base_instant, log is None)


class _Names(NamedTuple):
    """The names of a table's files. Few are parsed, because a long history has hundreds of thousands.

    `states` are the names in the timeline, `done` the completion times of its instants by requested time, and `pending`
    the requested times of the others. `data` maps the files outside ``.hoodie`` to the requested times in their names.
    `others` are the files of ``.hoodie`` outside the timeline, and the metadata files of the partitions.
    """

    states: Sequence[str]
    done: Mapping[str, str]
    pending: Set[str]
    data: Mapping[str, str]
    others: Sequence[str]

    @classmethod
    def of(cls, paths: Iterable[str]) -> _Names:
        states, data, others = list[str](), dict[str, str](), list[str]()
        for path in paths:
            if path[:8] != ".hoodie/":
                data[path] = _time_of(path)
                if PARTITION_METADATA in path:
                    others.append(path)
            elif not path.startswith(_HOME):
                others.append(path)
            elif not path.startswith(_ARCHIVE):
                states.append(path[len(_HOME) :])
        done = dict[str, str]()
        for name in states:
            times, _, action = name.rpartition(".")
            requested, separator, completed = times.partition("_")
            if separator and action in ACTIONS:
                done[requested] = completed
        begun = (name for name in states if _requested_of(name) not in done)
        pending = {instant.requested for name in begun if (instant := parse_instant(name))}
        return cls(states, done, pending, data, others)

    def lack(self, groups: Set[Group], fresh: Container[str]) -> bool:
        """Return True if one of the file groups has no other files than the fresh ones."""
        missing = defaultdict[Group, set[Group]](set)
        for group in groups:
            missing[_head_of(in_partition(*group))].add(group)
        for path in self.data:
            if not missing:
                break
            head = _head_of(path)
            if head in missing and path not in fresh and (file := data_file(path)):
                missing[head].discard(file.group)
                if not missing[head]:
                    del missing[head]
        return bool(missing)

    def files_of(self, groups: Collection[Group]) -> Iterator[NamedFile]:
        heads = {_head_of(in_partition(*group)) for group in groups}
        near = (path for path in self.data if _head_of(path) in heads) if heads else ()
        return (file for path in near if (file := data_file(path)) and file.group in groups)

    def paths_of(self, instants: Collection[str]) -> Iterator[str]:
        """Yield the paths of the timeline files and data files of the instants, and of all files of other kinds."""
        yield from self.others
        yield from (f"{_HOME}{name}" for name in self.states if _requested_of(name) in instants)
        yield from (path for path, time in self.data.items() if time in instants)


class _ArchivedInstants:
    """The archived timeline. Of its files only those are read that may contain a wanted instant."""

    def __init__(self, storage: Storage) -> None:
        self._reader = ArchiveReader(storage)

    @cached_property
    def _files(self) -> Sequence[ArchiveFile]:
        return self._reader.files()

    def is_whole(self, now: Mapping[str, int]) -> bool:
        """Return True if each file of the manifest is in the listing, and has the size that the manifest lists. A
        manifest without files is taken for a lost one if the listing has files of an archive.
        """
        if not self._files:
            return not any(path.startswith(_ARCHIVE) for path in now)
        sizes = ((now.get(f"{_ARCHIVE}{file.name}", -1), file.size) for file in self._files)
        return all(size == listed or (size >= 0 and not listed) for size, listed in sizes)

    def completions(self, wanted: Collection[str]) -> Mapping[str, str]:
        """Return the completion times of those of the wanted instants that are archived, by requested time."""
        files = [file for file in self._files if any(map(file.spans, wanted))] if wanted else []
        return dict(chain.from_iterable(self._reader.completions(file).items() for file in files))


def _concerning_data(paths: Iterable[str]) -> set[str]:
    """Return the paths that rules about data read, without those of the archive."""
    return {path for path in paths if not path.startswith((*UNJUDGED, _ARCHIVE))}


def _instant(path: str) -> Instant | None:
    return parse_instant(path.removeprefix(_HOME)) if path.startswith(_HOME) else None


def _requested_of(name: str) -> str:
    """Return the requested time in a name of the timeline."""
    return name.partition(".")[0].partition("_")[0]


def _time_of(path: str) -> str:
    """Return the requested time in the name of a data file; any text for another file."""
    name = path[path.rfind("/") + 1 :]
    return name.partition(".log.")[0][-17:] if name[:1] == "." else name.rpartition("_")[2][:17]


def _head_of(path: str) -> Group:
    """Return the partition, and the file id up to its first underscore."""
    partition, _, name = path.rpartition("/")
    return partition, name.removeprefix(".").partition("_")[0]


def _planned(storage: Storage, names: _Names) -> set[Group]:
    """Return the file groups of the pending compactions and log compactions."""
    plans = (name for name in names.states if _requested_of(name) in names.pending and name.endswith(_PLANS))
    read = (decode_plan(storage.get(f"{_HOME}{name}"), name) for name in plans)
    return {(each.partition, each.file_id) for plan in read for each in plan.operations}


def _newest_slices(
    files: Iterable[NamedFile], cut: str, done: Mapping[str, str], archive: _ArchivedInstants
) -> set[str]:
    """Return the instants of the newest slice of each file group whose base file was requested before `cut`, and later
    ones.
    """
    by_group = defaultdict[Group, list[NamedFile]](list)
    for file in files:
        by_group[file.group].append(file)
    chosen, older = set[str](), set[tuple[str, str]]()
    for members in by_group.values():
        since = max((file.instant for file in members if file.is_base and file.instant < cut), default="")
        chosen |= {file.instant for file in members if file.instant >= since}
        older |= {(file.instant, since) for file in members if file.instant < since}
    archived = archive.completions({time for time, _ in older} - done.keys())
    return chosen | {time for time, since in older if (done.get(time) or archived.get(time, "~")) >= since}
