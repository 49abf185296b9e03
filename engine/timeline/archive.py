"""Reads the archived timeline: an LSM tree of Parquet files (docs/hudi-format.md)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from operator import attrgetter
from typing import Concatenate, Final, NamedTuple, ParamSpec, TypeVar

import pyarrow as pa

from ..errors import Damaged, NotATable
from ..forks import ThreadLock
from ..storage import NotFound, Storage
from .archive_files import (
    INDEX,
    Archived,
    ArchiveFile,
    count_rows,
    decode_manifest,
    decode_rows,
    decode_table,
    newest_of,
    rows_table,
)
from .instant import Instant
from .retired import RetiredInstants
from .timeline import FOLDER, Timeline

P = ParamSpec("P")
T = TypeVar("T")

HISTORY: Final = f"{FOLDER}/history"
VERSION: Final = f"{HISTORY}/_version_"
"""The file with the number of the current manifest."""

_MANIFEST: Final = re.compile(r"manifest_(\d+)")

ROWS_KEPT: Final = 1_024
"""The most rows of decoded archive files that an `Archive` keeps, if they are of several files. A row contains the
content of an instant, some kilobytes.
"""


class _Rows(NamedTuple):
    """The decoded rows of an archive file, also by requested time and action, because a cold query looks up each row.
    """

    rows: tuple[Archived, ...]
    by_key: dict[tuple[str, str], Archived]


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

    `retired` contains the instants that no table service needs any more (`files.planned_slices`). An `Archive` keeps
    them in `retired` only, and not with the other instants of the archive files that it has read. Several threads may
    use one `Archive`.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.guard = ThreadLock(reentrant=True)
        self.retired = RetiredInstants()
        self._files: list[ArchiveFile] | None = None
        self._seen = True
        self._timeline: tuple[frozenset[ArchiveFile], Timeline] = frozenset(), Timeline()
        self._whole = 0, Timeline(), Timeline()
        self._rows: dict[ArchiveFile, _Rows] = {}
        self._instants: dict[ArchiveFile, tuple[Instant, ...]] = {}
        self._planned: dict[ArchiveFile, tuple[Instant, ...]] = {}

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

    def completion(self, requested: str) -> str | None:
        """Return the completion time of the write with the given requested time; None if that write is not archived."""
        archived = self.find(requested)
        return archived.completed if archived else None

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
        if before != frozenset(self.files()):
            self._read(lambda file: True)
            files = frozenset(self.files())  # possibly of a newer manifest
            if not before <= files:
                before, known = frozenset(), Timeline()
            known = known.with_states(self._states(files - before))
            self._timeline = files, known
        return known

    @_alone
    def whole(self) -> Timeline:
        """Return a timeline of all archived instants, also the retired ones."""
        known, retired = self.timeline(), len(self.retired)
        if not retired:
            return known
        before, of, whole = self._whole
        if before != retired or of is not known:
            whole = known.with_states(self.retired.states())
            self._whole = retired, known, whole
        return whole

    def _states(self, files: Collection[ArchiveFile]) -> Iterator[Instant]:
        """Yield the states (requested and completed) of the instants in archive files that have been read."""
        return (state for file in sorted(files) for state in (*self._instants[file], *self._planned[file]))

    @_alone
    def retire(self, instants: Iterable[Instant], timeline: Timeline) -> None:
        """Record the archived instants that no table service needs any more. `timeline` contains them."""
        keys = self.retired.add((each, timeline.begun_as.get(each.key, each.action)) for each in instants)
        if keys:
            for found in (self._instants, self._planned):
                for file, states in found.items():
                    if any(each.key in keys for each in states):
                        found[file] = tuple(each for each in states if each.key not in keys)
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
                rows = (self._decoded(file).by_key.get(key) for file in files)
                return next((row for row in rows if row is not None), None)
            except NotFound:  # a merge has replaced a file
                self.refresh()
                self._read(lambda file: True)
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
        for file, found in reversed(self._instants.items()):
            if not found or not found[0].requested <= wanted <= found[-1].requested:
                continue
            place = bisect_left(found, wanted, key=attrgetter("requested"))
            while place < len(found) and found[place].requested == wanted:
                if found[place].action == instant.action:
                    return file
                place += 1
        return None

    @_alone
    def files(self) -> list[ArchiveFile]:
        if self._files is None:
            name = self._current()
            self._files = [] if name is None else decode_manifest(self._storage.get(f"{HISTORY}/{name}"), name)
            self._forget_merged(self._files)
        return self._files

    def _forget_merged(self, files: Collection[ArchiveFile]) -> None:
        """Remove archive files that a merge has replaced from the cache."""
        for file in self._instants.keys() - files:
            for found in (self._rows, self._instants, self._planned):
                found.pop(file, None)

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
        plans = (plan for file in self.files() if is_later(file) for plan in self._planned[file])
        return (*completed, *plans, *self.retired.states(after=requested))

    def version(self) -> int:
        """Return the number of the current manifest; 0 if there is no manifest."""
        name = self._current()
        return int(name.removeprefix("manifest_")) if name else 0

    def _current(self) -> str | None:
        """Return the name of the current manifest; None if the archive is empty. If the version file is temporarily
        missing, return the name of the newest manifest in the folder.
        """
        try:
            number = self._storage.get(VERSION)
        except NotFound:
            if not self._seen:
                return None
            names = [entry.path.rpartition("/")[2] for entry in self._storage.list(HISTORY)]
            numbers = [int(match[1]) for name in names if (match := _MANIFEST.fullmatch(name))]
            return f"manifest_{max(numbers)}" if numbers else None
        if not re.fullmatch(rb"[0-9]{1,18}", number.strip()):
            exists = f"{VERSION} holds {number[:40]!r}, which is not the number of a manifest"
            raise Damaged(
                "read the archived timeline", exists, "put the number of the newest manifest that is whole into it"
            )
        return f"manifest_{int(number)}"

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
                if self.files() == files:
                    raise NotATable(
                        "read the archived timeline",
                        f"its manifest lists {absent}, which does not exist",
                        "restore the file",
                    ) from None

    def _index(self, file: ArchiveFile) -> tuple[Instant, ...]:
        """Return the completed instants of an archive file that are not retired, and remember that the file contains
        them. The content of instants is decoded with them only if the file has few.
        """
        if file not in self._instants:
            data, name = self._get(file), f"{HISTORY}/{file.name}"
            rows = decode_rows(data, name, INDEX) if count_rows(data, name) > ROWS_KEPT else self.rows(file, data)
            needed = [row for row in rows if row.instant.key not in self.retired]
            self._planned[file] = tuple(row.planned for row in needed if row.planned)
            self._instants[file] = tuple(sorted((row.instant for row in needed), key=attrgetter("requested")))
        return self._instants[file]

    def _get(self, file: ArchiveFile) -> bytes:
        data = self._storage.get(f"{HISTORY}/{file.name}")
        if file.size and len(data) != file.size:
            exists = f"{file.name} has {len(data)} bytes, and the manifest lists {file.size}"
            raise Damaged("read the archived timeline", exists, "restore the file from a copy")
        return data

    @_alone
    def table(self, file: ArchiveFile) -> pa.Table:
        """Return the rows of one archive file as a table with the columns of `ARCHIVE_SCHEMA`. Raises `NotFound` if the
        archive file is missing.
        """
        self._index(file)  # checks the times and actions
        kept = self._rows.get(file)
        return decode_table(self._get(file), f"{HISTORY}/{file.name}") if kept is None else rows_table(kept.rows)

    @_alone
    def rows(self, file: ArchiveFile, data: bytes | None = None) -> tuple[Archived, ...]:
        """Return the rows of one archive file. `data` is the content of the file if the caller has read it. Raises
        `NotFound` if the archive file is missing.
        """
        return self._decoded(file, data).rows

    def _decoded(self, file: ArchiveFile, data: bytes | None = None) -> _Rows:
        """Return the rows of one archive file, and keep them for later queries."""
        if (kept := self._rows.get(file)) is not None:
            return kept
        rows = decode_rows(data or self._get(file), f"{HISTORY}/{file.name}")
        decoded = self._rows[file] = _Rows(rows, {(row.requested, row.action): row for row in rows})
        while len(self._rows) > 1 and sum(len(each.rows) for each in self._rows.values()) > ROWS_KEPT:
            del self._rows[next(iter(self._rows))]
        return decoded
