"""Writes the archived timeline: archive files, merged levels and manifests (docs/hudi-format.md).

Readers ignore archive files that no manifest lists. An update writes new archive files first, then the next manifest,
and then the version file, which names the manifest. Archive files that no reader needs are deleted only after the new
version file has been written. The caller holds the table's lock, so manifest numbers only increase.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import pyarrow as pa

from ..errors import Damaged
from ..storage import NotFound, Storage
from .archive import HISTORY, VERSION, Archive
from .archive_files import Archived, ArchiveFile, decode_manifest, decode_table, encode_table, rows_table

LEVEL_FILES: Final = 10
"""The number of files of one level that are merged into one of the next (hoodie.timeline.compaction.batch.size)."""

MERGED_BYTES: Final = 2 << 20
"""The most bytes of archive files that are merged into one. A merge holds the decoded rows in memory several times,
which takes more than a hundred times as many bytes, and blocks writers meanwhile.
"""

MANIFESTS_KEPT: Final = 3
"""The number of manifests kept, with their files, for concurrent readers. Slower readers read the version again."""


def add(storage: Storage, archive: Archive, instants: Sequence[Archived]) -> None:
    """Archive the given instants in a new archive file of level 0."""
    file = _put_file(storage, 0, rows_table(instants))
    _put_manifest(storage, archive, [*archive.files(), file])


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


def merge_levels(storage: Storage, archive: Archive) -> bool:
    """Merge the oldest archive files of the lowest full level into one file of the next level; return False if no level
    is full.
    """
    merged = files_to_merge(archive)
    if not merged:
        return False
    file = _put_file(storage, merged[0].level + 1, pa.concat_tables(archive.table(file) for file in merged))
    _put_manifest(storage, archive, [*(other for other in archive.files() if other not in merged), file])
    return True


def drop_superfluous(storage: Storage, archive: Archive) -> None:
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
    if superfluous := [path for path in present if path.rpartition("/")[2] not in needed]:
        storage.delete_all(superfluous)


def _put_file(storage: Storage, level: int, rows: pa.Table) -> ArchiveFile:
    rows = rows.sort_by([("instantTime", "ascending"), ("action", "ascending")])
    first, last = rows["instantTime"][0], rows["instantTime"][-1]
    data = encode_table(rows)
    file = ArchiveFile(f"{first}_{last}_{level}.parquet", len(data))
    path = f"{HISTORY}/{file.name}"
    storage.put(path, data)  # may replace a file of an archiver that died before its manifest
    if not decode_table(storage.get(path), path).equals(rows):
        raise _unlike(path)
    return file


def _put_manifest(storage: Storage, archive: Archive, files: Sequence[ArchiveFile]) -> None:
    number = archive.version() + 1
    listed = [{"fileName": file.name, "fileLen": file.size} for file in files]
    storage.put(f"{HISTORY}/manifest_{number}", json.dumps({"files": listed}).encode())
    storage.put(VERSION, str(number).encode())
    archive.refresh()
    if archive.files() != list(files):
        raise _unlike(f"{HISTORY}/manifest_{number}")


def _unlike(path: str) -> Damaged:
    """Return the error for an archive file or manifest that does not read back as it was written."""
    return Damaged(
        f"archive instants into {path}", "what was read back is not what was written", "check the disk, and repeat it"
    )
