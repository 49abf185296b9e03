"""The archived timeline: an LSM tree of Parquet files (docs/hudi-format.md)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from operator import attrgetter
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import pyarrow as pa

from ..errors import NotATable
from ..forks import ThreadLock
from ..storage import NotFound, Storage
from .archive_files import Archived, ArchiveFile, newest_of
from .archive_reader import ArchiveReader
from .history import ArchivedInstants
from .index import Key
from .instant import Instant
from .retired import RetiredInstants
from .timeline import Timeline

P = ParamSpec("P")
T = TypeVar("T")


class _Index(NamedTuple):
    """The instants of an archive file that are not retired: the completed ones, ordered by requested time, and the
    requested states of (log) compactions.
    """

    completed: tuple[Instant, ...]
    planned: tuple[Instant, ...]

    def without(self, keys: Collection[Key]) -> _Index:
        return _Index(*(tuple(each for each in states if each.key not in keys) for states in self))


def _alone(method: Callable[Concatenate[Archive, P], T]) -> Callable[Concatenate[Archive, P], T]:
    """Let only one thread at a time run a method of an `Archive`, because methods replace parts of its cache."""

    @wraps(method)
    def alone(archive: Archive, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with archive.guard:
            return method(archive, *args, **kwargs)

    return alone


class Archive:
    """The archived timeline. The first query reads the current manifest, which stays cached until `refresh` is called.

    Query the archive only after listing the active timeline. The archiver removes an instant from the active timeline
    only after publishing a manifest that includes it. An instant found in neither the active timeline nor the archive
    has never completed.

    `retired` contains the instants that no table service needs any more (`services.retirement`). They are in `retired`
    only, and not with the other instants of the archive files that were read. Several threads may use one `Archive`.
    """

    def __init__(self, storage: Storage) -> None:
        self._reader = ArchiveReader(storage)
        # Reentrant, because the guarded methods call each other.
        self.guard = ThreadLock(reentrant=True)
        self.retired = RetiredInstants()
        self._files: list[ArchiveFile] | None = None
        self._seen = True
        # A timeline of a hundred thousand instants is not built again while the manifest lists the same files.
        self._timeline: tuple[frozenset[ArchiveFile], Timeline] = frozenset(), Timeline()
        self._archived = ArchivedInstants()
        self._indexes: dict[ArchiveFile, _Index] = {}

    @_alone
    def refresh(self, seen: bool = True) -> None:
        """Forget the manifest, so that the next query reads the current manifest. The instants of decoded archive files
        stay cached while a manifest lists the files, because archive files never change.

        `seen` is False if a listing of the timeline found no archive files. If `seen` is False, a missing version file
        means that the archive is empty.
        """
        self._files, self._seen = None, seen

    @_alone
    def find(self, requested: str) -> Instant | None:
        """Return the archived write with the given requested time, or None. `find` reads only the archive files that
        may contain the requested time.
        """
        for instants in self._read(lambda file: file.spans(requested)):
            for instant in instants:
                if instant.requested == requested and instant.writes:
                    return instant
        return self.retired.find(requested)

    def completions(self) -> list[str]:
        """Return the sorted completion times of all archived writes. `completions` reads every archive file."""
        return sorted(instant.completed or "" for instant in self.instants() if instant.writes)

    @_alone
    def instants(self) -> tuple[Instant, ...]:
        """Return all archived instants of all actions. `instants` reads every archive file once."""
        found = self._read(lambda file: True)
        return (*(instant for instants in found for instant in instants), *self.retired.instants())

    @_alone
    def timeline(self) -> Timeline:
        """Return a timeline of the archived instants that are not retired, with their requested and completed states.
        `timeline` reads every archive file once, and is computed once for each manifest.
        """
        before, known = self._timeline
        # Sets, not lists: the order in a manifest says nothing, and equal files have equal content.
        if before != frozenset(self.files()):
            self._read(lambda file: True)
            files = frozenset(self.files())  # possibly of a newer manifest
            # A merge replaced files, so the cached timeline has no base to extend. New files alone only add instants.
            if not before <= files:
                before, known = frozenset(), Timeline()
            known = known.with_states(self._states(files - before))
            self._timeline = files, known
        return known

    @_alone
    def archived(self) -> ArchivedInstants:
        """Return all archived instants. The same value is returned until another instant is archived or retired."""
        current = self.timeline()
        if self._archived.current is not current or self._archived.retired is not self.retired:
            self._archived = ArchivedInstants(current, self.retired)
        return self._archived

    def _states(self, files: Collection[ArchiveFile]) -> Iterator[Instant]:
        """Yield the states (requested and completed) of the instants in archive files that have been read."""
        return (state for file in sorted(files) for states in self._indexes[file] for state in states)

    @_alone
    def retire(self, instants: Iterable[Instant], timeline: Timeline) -> None:
        """Record the archived instants that no table service needs any more. `timeline` contains them."""
        begun = ((each, timeline.begun_as.get(each.key, each.action)) for each in instants)
        self.retired, keys = self.retired.adding(begun)
        if keys:
            for file, index in self._indexes.items():
                if any(each.key in keys for each in index.completed):
                    self._indexes[file] = index.without(keys)
            files, known = self._timeline
            self._timeline = files, known.without(keys)

    @_alone
    def holds(self, instant: Instant) -> bool:
        """Return whether one of the archive files that have already been read contains an instant."""
        return self._file_with(instant) is not None or instant.key in self.retired

    @_alone
    def row(self, instant: Instant) -> Archived | None:
        """Return an archived instant with its content; None if the archive files that have already been read do not
        contain it.
        """
        key = instant.requested, instant.action
        while self.holds(instant):
            files = self._files_with(instant)
            try:
                rows = (self._reader.row(file, key) for file in files)
                return next((row for row in rows if row is not None), None)
            except NotFound:  # a merge has replaced a file
                self.refresh()
                self._read(lambda file: True)
                # The new manifest names the same files, so no merge explains the missing one: another attempt would
                # find the same.
                if self._files_with(instant) == files:
                    raise
        return None

    def _files_with(self, instant: Instant) -> list[ArchiveFile]:
        """Return the archive file with an instant; for a retired instant, the files that may contain it."""
        file = self._file_with(instant)
        return [file] if file is not None else [file for file in self.files() if file.spans(instant.requested)]

    def _file_with(self, instant: Instant) -> ArchiveFile | None:
        """Return the archive file with an instant, among those that have already been read. No process keeps a map of
        all instants, because a long history has many.
        """
        wanted = instant.requested
        # The newest file first, because most lookups concern recent instants. The first and last time rule out other
        # files.
        for file, (found, _) in reversed(self._indexes.items()):
            if not found or not found[0].requested <= wanted <= found[-1].requested:
                continue
            place = bisect_left(found, wanted, key=attrgetter("requested"))
            # Several instants can have one requested time: a savepoint has that of the write that it pins.
            while place < len(found) and found[place].requested == wanted:
                if found[place].action == instant.action:
                    return file
                place += 1
        return None

    @_alone
    def files(self) -> list[ArchiveFile]:
        if self._files is None:
            self._files = self._reader.files(self._seen)
            self._forget_merged(self._files)
        return self._files

    def _forget_merged(self, files: Collection[ArchiveFile]) -> None:
        """Remove archive files that a merge has replaced from the cache."""
        for file in self._indexes.keys() - files:
            self._reader.forget(file)
            del self._indexes[file]

    def newest(self) -> str:
        """Return the greatest requested time in the names of the archive files; '' if there is none."""
        return max((newest_of(file.name) for file in self.files()), default="")

    @_alone
    def states_after(self, requested: str) -> tuple[Instant, ...]:
        """Return the timeline states (requested and completed) of all archived instants requested after `requested`,
        and possibly of earlier ones. Archive files that contain only instants requested at or before `requested` are
        not read.
        """

        def is_later(file: ArchiveFile) -> bool:
            return not newest_of(file.name) or newest_of(file.name) > requested

        completed = tuple(instant for instants in self._read(is_later) for instant in instants)
        plans = (plan for file in self.files() if is_later(file) for plan in self._indexes[file].planned)
        return (*completed, *plans, *self.retired.states(after=requested))

    def version(self) -> int:
        """Return the number of the current manifest; 0 if there is no manifest."""
        return self._reader.version(self._seen)

    def _read(self, wanted: Callable[[ArchiveFile], bool]) -> list[tuple[Instant, ...]]:
        """Return the instants of the archive files that `wanted` accepts, one tuple per file. If a merge has replaced
        an archive file, `_read` reads a newer manifest and starts again.
        """
        while True:
            files = self.files()
            try:
                return [self._index(file) for file in files if wanted(file)]
            except NotFound as absent:
                self.refresh()
                # A second look at the manifest separates a concurrent merge (other files) from a file that is lost
                # (same files).
                if self.files() == files:
                    raise NotATable(
                        "read the archived timeline",
                        f"its manifest lists {absent}, which does not exist",
                        "restore the file",
                    ) from None

    def _index(self, file: ArchiveFile) -> tuple[Instant, ...]:
        """Return the completed instants of an archive file that are not retired, and remember that the file contains
        them.
        """
        if file not in self._indexes:
            needed = [row for row in self._reader.index(file) if row.instant.key not in self.retired]
            # `_file_with` searches by bisection, and another engine need not have sorted the rows of its archive file.
            completed = sorted((row.instant for row in needed), key=attrgetter("requested"))
            self._indexes[file] = _Index(tuple(completed), tuple(row.planned for row in needed if row.planned))
        return self._indexes[file].completed

    @_alone
    def table(self, file: ArchiveFile) -> pa.Table:
        """Return the rows of one archive file as a table with the columns of `ARCHIVE_SCHEMA`. Raises `NotFound` if the
        archive file is missing.
        """
        self._index(file)  # checks the times and actions
        return self._reader.table(file)

    @_alone
    def rows(self, file: ArchiveFile) -> tuple[Archived, ...]:
        """Return the rows of one archive file. Raises `NotFound` if the archive file is missing."""
        return self._reader.rows(file)
