"""Reads the files of the archived timeline: the version file, the current manifest, and the archive files that it
lists. An operation raises the first fault; an audit collects all of them (docs/hudi-format.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeVar

import pyarrow as pa

from ..errors import Damaged
from ..parquet import decode_parquet
from ..storage import NotFound, Storage
from .archive_files import (
    INDEX,
    TIMES,
    Archived,
    ArchiveFile,
    count_rows,
    decode_manifest,
    decode_rows,
    decode_table,
    rows_table,
)
from .timeline import FOLDER

T = TypeVar("T")

HISTORY: Final = f"{FOLDER}/history"
VERSION: Final = f"{HISTORY}/_version_"
"""The file with the number of the current manifest."""

_MANIFEST: Final = re.compile(r"manifest_(\d+)")

ROWS_KEPT: Final = 1_024
"""The most rows of decoded archive files that a reader keeps, if they are of several files. A row contains the content
of an instant, some kilobytes.
"""

OnFault = Callable[[str, Exception], None]
"""Is called with the path of a missing or damaged file of the archive, and the error."""


def refuse(path: str, error: Exception) -> None:
    """Raise the error: an operation must not go on without the instants of an archive file."""
    raise error


class _FileRows(NamedTuple):
    """The decoded rows of an archive file, also by requested time and action, because a cold query looks up each row.
    """

    rows: tuple[Archived, ...]
    by_key: dict[tuple[str, str], Archived]


class ArchiveReader:
    """Reads the files of one archive. If `on_fault` returns, a missing or damaged file counts as empty. The rows of the
    files that were read last are cached, because an archive file never changes.
    """

    def __init__(self, storage: Storage, on_fault: OnFault = refuse) -> None:
        self._storage = storage
        self._on_fault = on_fault
        self._cached: dict[ArchiveFile, _FileRows] = {}

    def files(self, seen: bool = True) -> list[ArchiveFile]:
        """Return the files that the current manifest lists. `seen` is False if a listing of the timeline found no
        archive files; a missing version file then means that the archive is empty.
        """
        name = self._current(seen)
        if name is None:
            return []
        path = f"{HISTORY}/{name}"
        nothing: list[ArchiveFile] = []
        return self._decode(path, lambda: self._storage.get(path), partial(decode_manifest, name=name), nothing)

    def version(self, seen: bool = True) -> int:
        """Return the number of the current manifest; 0 if there is no manifest. `seen` has the meaning as in `files`.
        """
        name = self._current(seen)
        return int(name.removeprefix("manifest_")) if name else 0

    def _current(self, seen: bool) -> str | None:
        """Return the name of the current manifest; None if the archive is empty. If the version file is temporarily
        missing, return the name of the newest manifest in the folder.
        """
        try:
            number = self._storage.get(VERSION)
        except NotFound:
            # The usual case of a young table: neither a version file nor archive files, so the second listing is saved.
            if not seen:
                return None
            # Another engine deletes the version file before it writes it again, and a reader may look in between.
            names = [entry.path.rpartition("/")[2] for entry in self._storage.list(HISTORY)]
            numbers = [int(match[1]) for name in names if (match := _MANIFEST.fullmatch(name))]
            return f"manifest_{max(numbers)}" if numbers else None
        if not re.fullmatch(rb"[0-9]{1,18}", number.strip()):
            exists = f"{VERSION} holds {number[:40]!r}, which is not the number of a manifest"
            remedy = "put the number of the newest manifest that is whole into it"
            self._on_fault(VERSION, Damaged("read the archived timeline", exists, remedy))
            return None
        return f"manifest_{int(number)}"

    def index(self, file: ArchiveFile) -> tuple[Archived, ...]:
        """Return the rows of one archive file. The content of the instants is left out if the file has many."""
        data, name = self._get(file), f"{HISTORY}/{file.name}"
        # Rows of a small file are kept whole, because their content is often read next. A big file would evict all
        # others.
        return decode_rows(data, name, INDEX) if count_rows(data, name) > ROWS_KEPT else self.rows(file, data)

    def completions(self, file: ArchiveFile) -> dict[str, str]:
        """Return the completion times of the instants of one archive file, by requested time."""
        times = decode_parquet(self._get(file), f"{HISTORY}/{file.name}", TIMES)
        return dict(zip(*(times[name].to_pylist() for name in TIMES), strict=True))

    def rows(self, file: ArchiveFile, data: bytes | None = None) -> tuple[Archived, ...]:
        """Return the rows of one archive file. `data` is the content of the file if the caller has read it."""
        return self._decoded(file, data).rows

    def row(self, file: ArchiveFile, key: tuple[str, str]) -> Archived | None:
        """Return the row of one archive file with the given requested time and action, or None."""
        return self._decoded(file).by_key.get(key)

    def table(self, file: ArchiveFile) -> pa.Table:
        """Return the rows of one archive file as a table with the columns of `ARCHIVE_SCHEMA`."""
        known = self._cached.get(file)
        return decode_table(self._get(file), f"{HISTORY}/{file.name}") if known is None else rows_table(known.rows)

    def forget(self, file: ArchiveFile) -> None:
        """Remove an archive file that a merge has replaced from the cache."""
        self._cached.pop(file, None)

    def _decoded(self, file: ArchiveFile, data: bytes | None = None) -> _FileRows:
        if (known := self._cached.get(file)) is not None:
            return known
        path = f"{HISTORY}/{file.name}"
        nothing: tuple[Archived, ...] = ()
        rows = self._decode(path, lambda: data or self._get(file), partial(decode_rows, name=path), nothing)
        decoded = self._cached[file] = _FileRows(rows, {(row.requested, row.action): row for row in rows})
        # Not by the number of files: one merged file may have as many rows as a hundred young ones.
        while len(self._cached) > 1 and sum(len(each.rows) for each in self._cached.values()) > ROWS_KEPT:
            # Dictionaries keep the order of insertion, so the first key is the file that was decoded first.
            del self._cached[next(iter(self._cached))]
        return decoded

    def _get(self, file: ArchiveFile) -> bytes:
        data = self._storage.get(f"{HISTORY}/{file.name}")
        # A size of 0 means that the manifest records none.
        if file.size and len(data) != file.size:
            exists = f"{file.name} has {len(data)} bytes, and the manifest lists {file.size}"
            damaged = Damaged("read the archived timeline", exists, "restore the file from a copy")
            self._on_fault(f"{HISTORY}/{file.name}", damaged)
        return data

    def _decode(self, path: str, get: Callable[[], bytes], decode: Callable[[bytes], T], nothing: T) -> T:
        """Return the decoded content of a file, or `nothing` if it has a fault that does not raise."""
        try:
            data = get()
        except NotFound as absent:
            self._on_fault(path, absent)
            return nothing
        try:
            return decode(data)
        except Exception as damaged:  # damaged bytes can make a decoder raise anything
            self._on_fault(path, damaged)
            return nothing
