"""Writes the archived timeline: archive files, merged levels and manifests (docs/hudi-format.md).

Readers ignore archive files that no manifest lists. An update writes new archive files first, then the next manifest,
and then the version file, which names the manifest. Archive files that no reader needs are deleted only after the new
version file has been written. The caller holds the table's lock, so manifest numbers only increase. Without the lock,
several archivers may run at the same time (`alone` is False). Files and manifests are then put if absent, so that the
number of a manifest decides between them; the version file only advances; and only files that an old manifest lists
are deleted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Final, NamedTuple

import pyarrow as pa

from ..errors import Damaged
from ..storage import NotFound, Storage, put_own
from ..storage.conditional import ConditionalStorage
from .archive import Archive
from .archive_files import Archived, ArchiveFile, decode_manifest, decode_table, encode_table, rows_table
from .archive_reader import HISTORY, VERSION

LEVEL_FILES: Final = 10
"""The number of files of one level that are merged into one of the next (hoodie.timeline.compaction.batch.size)."""

MERGED_BYTES: Final = 2 << 20
"""The most bytes of archive files that are merged into one. A merge holds the decoded rows in memory several times,
which takes more than a hundred times as many bytes, and blocks writers meanwhile.
"""

MANIFESTS_KEPT: Final = 3
"""The number of manifests kept, with their files, for concurrent readers. Slower readers read the version again."""


class Manifest(NamedTuple):
    """The number of a manifest, and the files that it or a newer one lists."""

    number: int
    files: list[ArchiveFile]


def current_manifest(archive: Archive) -> Manifest:
    """Read the current manifest. What is chosen after that is archived only if no other archiver puts the next one."""
    # The number before the files: if a newer manifest appears in between, the put of the next number fails instead of
    # dropping its files.
    number = archive.version()
    archive.refresh()
    return Manifest(number, archive.files())


def add(
    storage: Storage, archive: Archive, instants: Sequence[Archived], after: Manifest, *, alone: bool = True
) -> int:
    """Archive instants, ordered by requested time, in a new archive file of level 0. Returns how many, from the first
    on, are archived: fewer than given if an archiver that died has left another file under the name, and none if
    another archiver was faster.
    """
    count, file = len(instants), None
    while count and file is None:
        file = _put_file(storage, 0, rows_table(instants[:count]), alone)
        # Another number of rows gives another last time and so another file name, which no dead archiver has taken.
        count -= file is None
    if file is None:
        return 0
    return count if _put_manifest(storage, archive, after.number + 1, [*after.files, file], alone) else 0


def levels(archive: Archive) -> dict[int, list[ArchiveFile]]:
    by_level: dict[int, list[ArchiveFile]] = {}
    for file in archive.files():
        by_level.setdefault(file.level, []).append(file)
    return by_level


def files_to_merge(archive: Archive) -> list[ArchiveFile]:
    """Return the oldest archive files of the lowest full level, which together have at most `MERGED_BYTES`; an empty
    list if no level is full. A level is full if it has `LEVEL_FILES` files of at most half that size.
    """
    for _, files in sorted(levels(archive).items()):
        small = sorted(file for file in files if file.size <= MERGED_BYTES // 2)
        if len(small) >= LEVEL_FILES:
            sizes = accumulate(file.size for file in small[:LEVEL_FILES])
            return [file for file, total in zip(small, sizes, strict=False) if total <= MERGED_BYTES]
    return []


def merge_levels(storage: Storage, archive: Archive, *, alone: bool = True) -> bool:
    """Merge the oldest archive files of the lowest full level into one file of the next level; return False if no level
    is full, or if another archiver was faster.
    """
    current = current_manifest(archive)
    merged = files_to_merge(archive)
    if not merged:
        return False
    try:
        rows = pa.concat_tables(archive.table(file) for file in merged)
    except NotFound:
        # Without rivals, a listed file that is missing is lost. With rivals, one of them has merged it already.
        if alone:
            raise
        return False
    file = _put_file(storage, merged[0].level + 1, rows, alone)
    left = [other for other in current.files if other not in merged]
    return file is not None and _put_manifest(storage, archive, current.number + 1, [*left, file], alone)


def drop_superfluous(storage: Storage, archive: Archive, *, alone: bool = True) -> None:
    """Delete old manifests, and those archive files that no remaining manifest lists."""
    newest = archive.version()
    manifests = [f"manifest_{number}" for number in range(max(1, newest - MANIFESTS_KEPT + 1), newest + 1)]
    needed = {"_version_", *manifests}
    for name in manifests:
        try:
            needed |= {file.name for file in decode_manifest(storage.get(f"{HISTORY}/{name}"), name)}
        except NotFound:
            continue  # another engine has deleted it
    present = [entry.path for entry in storage.list(HISTORY)]
    superfluous = [path for path in present if path.rpartition("/")[2] not in needed]
    if not alone:
        superfluous = _of_old_manifests(storage, superfluous, newest)
    if superfluous:
        storage.delete_all(superfluous)


def _of_old_manifests(storage: Storage, paths: Sequence[str], newest: int) -> list[str]:
    """Return those of the paths that are manifests older than `newest`, and files that they list, manifests last.
    Another archiver may be about to list any other file.
    """
    numbers = {path: int(path.rpartition("_")[2]) for path in paths if "/manifest_" in path}
    old, listed = [path for path, number in numbers.items() if number < newest], set[str]()
    for path in old:
        with suppress(NotFound):  # another archiver has just deleted it
            listed |= {file.name for file in decode_manifest(storage.get(path), path)}
    return [*(path for path in paths if path.rpartition("/")[2] in listed), *old]


def _put_file(storage: Storage, level: int, rows: pa.Table, alone: bool) -> ArchiveFile | None:
    """Put an archive file. Returns None if another archiver has put other rows under its name."""
    rows = rows.sort_by([("instantTime", "ascending"), ("action", "ascending")])
    first, last = rows["instantTime"][0], rows["instantTime"][-1]
    data = encode_table(rows)
    file = ArchiveFile(f"{first}_{last}_{level}.parquet", len(data))
    path = f"{HISTORY}/{file.name}"
    if alone:
        storage.put(path, data)  # may replace a file of an archiver that died before its manifest
    elif not storage.put_if_absent(path, data) and storage.get(path) != data:
        return None
    # The second look is worth a request: the timeline files of these instants are deleted next, and nothing else has
    # their content.
    if not decode_table(storage.get(path), path).equals(rows):
        raise _unlike(path)
    return file


def _put_manifest(
    storage: Storage, archive: Archive, number: int, files: Sequence[ArchiveFile], alone: bool
) -> bool:
    """Put the manifest and make it the current one. Returns False if another archiver has put that manifest; it is then
    the current one, although its archiver may have died.
    """
    listed = [{"fileName": file.name, "fileLen": file.size} for file in files]
    path, manifest = f"{HISTORY}/manifest_{number}", json.dumps({"files": listed}).encode()
    if not alone:
        is_first = put_own(storage, path, manifest)
        # Also if another archiver has put the manifest: it may have died before it advanced the version file.
        _advance_version(storage, number)
        archive.refresh()
        return is_first
    # The manifest before the version file, which must never name a manifest that does not exist.
    storage.put(path, manifest)
    storage.put(VERSION, str(number).encode())
    archive.refresh()
    if archive.files() != list(files):
        raise _unlike(path)
    return True


def _advance_version(storage: Storage, number: int) -> None:
    """Make a manifest the current one, unless a newer one is. In a store without conditional updates, a stalled
    archiver can set the version back until the next one (specs/boundary.md).
    """
    if not isinstance(storage, ConditionalStorage):
        storage.put(VERSION, str(number).encode())
        return
    version = storage.conditional_object(VERSION)
    # A failed write means that another archiver was faster, so its version is compared again.
    while (known := version.read()) is None or int(known.data) < number:
        if version.write(str(number).encode(), known) is not None:
            return


def _unlike(path: str) -> Damaged:
    """Return the error for an archive file or manifest that does not read back as it was written."""
    return Damaged(
        f"archive instants into {path}", "what was read back is not what was written", "check the disk, and repeat it"
    )
