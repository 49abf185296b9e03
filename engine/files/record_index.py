"""The files of a record index, which states the partition of each key. Within a partition, the hash of a key fixes its
file group.

A writer that inserts keys puts their locations with its data files, before it completes. A location counts once its
write has completed, and never without it. So a crash before the completion leaves a file that no look-up reads, and
no visible row lacks a location. A location is never taken back: a deleted key keeps its partition.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import pyarrow as pa

from ..checksums import write_sealed
from ..names import meets
from ..parquet import decode_parquet
from ..schema import META_COLUMNS
from ..storage import Storage, put_unique

FOLDER: Final = ".hoodie/.nbcc/index"

_NAME: Final = re.compile(rf"{re.escape(FOLDER)}/([0-9]{{17}})_([^_/]+)_[^_/]+\.parquet")
SCHEMA: Final = pa.schema([(name, pa.string()) for name in META_COLUMNS[2:4]])


class IndexFile(NamedTuple):
    """A file of the index: its path, the requested time of its write, and the file id of the bucket of its keys."""

    path: str
    instant: str
    file_id: str


class KnownKeys(NamedTuple):
    """What a write may take for known: the index files whose locations count.

    `in_table` is True if a key has one partition in the whole table, and False if it has one file group in each
    partition. `first` is the number of buckets before the first resize. `inserts` is True for a bulk insert, which puts
    the locations of all its keys. `moves` is True for a write that puts the locations of the keys that it does not find
    in its partition, and moves a record to the partition that has its key by then.
    """

    files: tuple[IndexFile, ...]
    in_table: bool
    first: int
    inserts: bool = False
    moves: bool = False

    def locations(self, storage: Storage, file_ids: Collection[str]) -> pa.Table:
        """Return the locations of the keys that may be in file groups with the given file ids."""
        paths = [file.path for file in self.files if any(meets(file.file_id, each, self.first) for each in file_ids)]
        return read_locations(storage, paths)


def index_files(storage: Storage) -> list[IndexFile]:
    """List all files of the index, also those of pending and of failed writes."""
    matches = (_NAME.fullmatch(entry.path) for entry in storage.list(FOLDER))
    return sorted(IndexFile(match[0], match[1], match[2]) for match in matches if match)


def put_locations(
    storage: Storage, instant: str, file_id: str, token: str, keys: pa.Array, partitions: pa.Array
) -> str:
    """Put the locations of keys into a file of the index, and return its path. `token` makes its name unique."""
    data = write_sealed(pa.table([keys, partitions], schema=SCHEMA), compression="zstd")
    path = f"{FOLDER}/{instant}_{file_id}_{token}.parquet"
    put_unique(storage, path, data)
    return path


def read_locations(storage: Storage, paths: Iterable[str]) -> pa.Table:
    return pa.concat_tables([SCHEMA.empty_table(), *(decode_parquet(storage.get(path), path) for path in paths)])
