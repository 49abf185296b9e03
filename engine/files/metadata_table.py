"""Reads the list of a table's files from the partition `files` of Hudi's metadata table.

The metadata table is a merge-on-read table in `.hoodie/metadata`. In this metadata table, the partition `files` has one
record for each partition of the data table. Another record contains the names of all partitions.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import fastavro

from ..errors import Damaged, Unsupported
from ..file_names import in_partition, parse_base, parse_log, split_path
from ..limits import limits
from ..rules import Rules
from ..storage import Entry, NotFound, Storage
from ..storage.subfolder import Subfolder
from ..timeline.cleans import cleaned_away
from ..timeline.commits import Commits
from ..timeline.container import embedded
from ..timeline.history import Current
from ..timeline.loading import Listings
from ..timeline.restores import file_restored_away
from .group_files import BaseFile, LogFile, data_file, directory_files
from .hfile import decode_hfile
from .log_block import BlockKind, Header, read_blocks

FOLDER: Final = ".hoodie/metadata"
FILES: Final = "files"
"""The partition of the metadata table that lists files."""

_ALL_PARTITIONS: Final = "__all_partitions__"
_ROOT: Final = "."
"""The key of the files of a table without partitions."""

_ENDING: Final = ".hfile"
_ATTEMPTS: Final = 3


class _Info(NamedTuple):
    """The size and the deletion flag of a file or partition in a record of the metadata table."""

    size: int
    deleted: bool


_Records = dict[str, dict[str, _Info]]
"""Key -> names of files (or partitions) -> information."""


def metadata_files(storage: Storage) -> list[Entry]:
    """Return the files that a table's metadata table lists, with their sizes, sorted by path.

    The read is repeated if a clean of the metadata table deletes a file before it is read.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _metadata_files(Subfolder(storage, FOLDER))
        except NotFound:
            continue
    return _metadata_files(Subfolder(storage, FOLDER))


def _metadata_files(inside: Subfolder) -> list[Entry]:
    records: _Records = {}
    for path in _newest_slices(inside):
        data = inside.get(path)
        name = f"{inside.url}/{path}"
        for schema, pairs in _blocks(data, name, is_log=not path.endswith(_ENDING)):
            for key, value in pairs:
                _apply(records.setdefault(key, {}), _information(value, schema, name))
    if _ALL_PARTITIONS not in records:
        raise Damaged(
            f"read {inside.url}",
            "it has no complete record of the partitions: a writer removes it or builds it",
            "open the table again",
        )
    found = []
    for partition in records[_ALL_PARTITIONS]:
        folder = "" if partition == _ROOT else partition
        found += [Entry(in_partition(folder, name), info.size) for name, info in records.get(partition, {}).items()]
    return sorted(found)


def _newest_slices(inside: Subfolder) -> Iterator[str]:
    """Yield the paths of the metadata table's files in merge order: for each file group the newest base file, then its
    logs.
    """
    timeline, archive = Listings().to_read(inside), Commits(inside).archive_now()
    bases: dict[str, BaseFile] = {}
    logs: dict[str, list[LogFile]] = {}
    for entry in inside.list(FILES):
        requested = _instant_in(split_path(entry.path)[1])
        if requested is None:
            continue
        instant = timeline.find(requested)
        if instant is None:
            instant = archive.find(requested)
        if instant is None or instant.completed is None:
            continue
        # The names of base files differ only in their ending, so one parser is enough.
        file = data_file(entry.path.replace(_ENDING, ".parquet"), entry.size, instant)
        if isinstance(file, LogFile):
            logs.setdefault(file.file_id, []).append(file)
        elif file is not None and (file.file_id not in bases or bases[file.file_id].requested < file.requested):
            bases[file.file_id] = file._replace(path=entry.path)
    for group in sorted({*bases, *logs}):
        base = bases.get(group)
        if base is not None:
            yield base.path
        since = base.requested if base else ""
        later = (log for log in logs.get(group, ()) if (log.completed or "") >= since)
        yield from (log.path for log in sorted(later, key=lambda log: (log.requested, log.version, log.token)))


def _instant_in(name: str) -> str | None:
    """Return the instant time in the name of a metadata table file."""
    parsed = parse_base(f"{name.removesuffix(_ENDING)}.parquet") if name.endswith(_ENDING) else parse_log(name)
    return parsed.instant if parsed else None


def _blocks(data: bytes, name: str, *, is_log: bool) -> Iterator[tuple[bytes, Iterable[tuple[str, bytes]]]]:
    """Yield the Avro schema and the key-value pairs of each HFile in a base file or log of the metadata table."""
    if not is_log:
        yield decode_hfile(data, name)
        return
    for block in read_blocks(data, name):
        if block.kind == BlockKind.HFILE:
            schema, pairs = decode_hfile(block.content, name)
            yield block.headers.get(Header.SCHEMA, "").encode() or schema, pairs
        elif block.kind != BlockKind.DELETE:  # Hudi begins a file group with a delete block without keys
            raise Unsupported(
                f"read {name}",
                f"it has a block of the kind {block.kind.name}",
                "read the table without its metadata table",
            )


def _information(value: bytes, schema: bytes, name: str) -> dict[str, _Info]:
    """Decode a record of the metadata table. For each listed file, returns its size and whether it was deleted."""
    try:
        record: Any = fastavro.schemaless_reader(io.BytesIO(value), embedded(schema, limits()), None)
        listed: Mapping[str, Any] = record["filesystemMetadata"] or {}
        found = {name: _Info(int(each["size"]), bool(each["isDeleted"])) for name, each in listed.items()}
    except Exception as broken:  # the Avro reader raises arbitrary errors for invalid bytes
        exists = f"a record in it cannot be decoded ({broken or type(broken).__name__})"
        raise Damaged(f"read {name}", exists, "read the table without its metadata table") from None
    if any(info.size < 0 for info in found.values()):
        raise Damaged(f"read {name}", "it lists a negative size", "read the table without its metadata table")
    return found


def _apply(known: dict[str, _Info], newer: Mapping[str, _Info]) -> None:
    """Merge a newer metadata record into `known`, the merged older records with the same key, as Hudi does."""
    for name, info in newer.items():
        if info.deleted:
            known.pop(name, None)
        else:
            known[name] = max(info, known.get(name, info))


def cross_checked_files(
    storage: Storage, timeline: Current, commits: Commits, rules: Rules, as_of: str | None = None
) -> list[BaseFile | LogFile]:
    """Return the visible data files in the partition folders.

    Raises `Damaged` if the files or sizes listed in the metadata table differ from those in the folders. Differences in
    files that a concurrent clean or restore has deleted are ignored.
    """
    in_folders, in_table = storage.list(""), metadata_files(storage)
    files = list(directory_files(in_folders, timeline, commits, rules, as_of))
    ours = {file.path for file in files}
    theirs = {file.path for file in directory_files(in_table, timeline, commits, rules, as_of)}
    sizes = {entry.path: entry.size for entry in in_folders}
    other_sizes = {entry.path for entry in in_table if sizes.get(entry.path, entry.size) != entry.size}
    differing = sorted(path for path in (ours ^ theirs) | (ours & other_sizes) if not _deleted(storage, path))
    if differing:
        first, count = differing[0], len(differing)
        how = "has another size" if first in ours & theirs else "is missing"
        where = "the folders" if first in theirs - ours else "the metadata table"
        raise Damaged(
            f"read the files of the table at {storage.url}",
            f"its folders and its metadata table differ in {count} files, and {first} {how} in {where}",
            "read with nbcc.file.listing=folders, and let Hudi build the metadata table again",
        )
    return files


def _deleted(storage: Storage, path: str) -> bool:
    return (cleaned_away(storage, path) or file_restored_away(storage, path)) is not None
