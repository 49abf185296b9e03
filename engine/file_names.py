"""Parses and builds the names of base, log and marker files (docs/hudi-format.md).

The times in file names are *requested* times. Partition paths are relative to the table's root; the partition path of
an unpartitioned table is ''.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

PARTITION_METADATA: Final = ".hoodie_partition_metadata"

_BASE_END: Final = ".parquet"  # tested before the expression, because most files are logs
_BASE: Final = re.compile(r"([^_]+)_(\d+-\d+-\d+)_(\d+)\.parquet")
_LOG: Final = re.compile(r"\.([^._]+)_([^.]*)\.(log|archive)\.(\d+)(?:_(\d+-\d+-\d+))?([.-]cdc)?")


class BaseName(NamedTuple):
    """The parts of a base file name, ``<file id>_<write token>_<instant>.parquet``."""

    file_id: str
    token: str
    instant: str

    def __str__(self) -> str:
        return f"{self.file_id}_{self.token}_{self.instant}.parquet"


class LogName(NamedTuple):
    """The parts of a log file name, ``.<file id>_<instant>.log.<version>_<write token>``.

    `instant` is the requested time of the delta commit. In timeline layout 1, `instant` is the instant time of the
    slice's base file. `token` is the write token, or None if an old writer wrote the file. `cdc` is True if the file
    contains CDC records instead of rows.
    """

    file_id: str
    instant: str
    version: int
    token: str | None
    cdc: bool = False

    def __str__(self) -> str:
        token = "" if self.token is None else f"_{self.token}"
        return f".{self.file_id}_{self.instant}.log.{self.version}{token}{'.cdc' if self.cdc else ''}"


def parse_base(name: str) -> BaseName | None:
    match = _BASE.fullmatch(name) if name.endswith(_BASE_END) else None
    return BaseName(*match.groups()) if match else None


def parse_log(name: str) -> LogName | None:
    match = _LOG.fullmatch(name)
    if match is None:
        return None
    file_id, instant, _, version, token, suffix = match.groups()
    return LogName(file_id, instant, int(version), token, suffix is not None)


TOMBSTONES: Final = 1
"""The version of the log in which a compaction or a resize keeps deletes. The logs of a resize with a greater version
are copies of logs that completed while it was pending; they rank above its base files."""


def is_tombstone_log(name: str) -> bool:
    """Return whether a log that a compaction or a resize wrote, with its base file, holds the deletes that it keeps."""
    log = parse_log(name)
    return log is None or log.version == TOMBSTONES


def in_partition(partition: str, name: str) -> str:
    """Return the path of a file in a partition; the partition '' is the table's root."""
    return f"{partition}/{name}" if partition else name


def split_path(path: str) -> tuple[str, str]:
    """Split the path of a data file into (partition, file name)."""
    partition, _, name = path.rpartition("/")
    return partition, name


def marker_folder(instant: str) -> str:
    """Return the folder that contains the markers of a pending instant."""
    return f".hoodie/.temp/{instant}"


def marker(instant: str, partition: str, name: str) -> str:
    """Return the path of the marker of the data file `name`. A rollback finds the data files of a dead writer through
    the writer's markers.

    A writer creates the marker before the data file. Markers of log files also have the type CREATE, because Hudi 1.2.0
    fails on the type APPEND.
    """
    return f"{marker_folder(instant)}/{in_partition(partition, name)}.marker.CREATE"


def marked_file(instant: str, path: str) -> str | None:
    """Return the path of the data file whose marker is at `path`; None if `path` is not a marker of the instant."""
    head, tail = f"{marker_folder(instant)}/", ".marker.CREATE"
    return path[len(head) : -len(tail)] if path.startswith(head) and path.endswith(tail) else None


def partition_metadata(partition: str, instant: str) -> tuple[str, bytes]:
    """Return the path and the content of a partition's metadata file. Hudi on Spark ignores partitions without a
    metadata file.
    """
    depth = partition.count("/") + 1 if partition else 0
    content = f"#partition metadata\ncommitTime={instant}\npartitionDepth={depth}\n"
    return in_partition(partition, PARTITION_METADATA), content.encode()
