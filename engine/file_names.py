"""Names of base, log and marker files (hudi-format §6.1, §6.6, §7.1).

Times in names are *requested* times. Partition paths are relative to the table's root, '' without partitions.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

PARTITION_METADATA: Final = ".hoodie_partition_metadata"

_BASE_END: Final = ".parquet"  # asked for first: most files are logs
_BASE: Final = re.compile(r"([^_]+)_(\d+-\d+-\d+)_(\d+)\.parquet")
_LOG: Final = re.compile(r"\.([^._]+)_([^.]*)\.(log|archive)\.(\d+)(?:_(\d+-\d+-\d+))?([.-]cdc)?")


class BaseName(NamedTuple):
    """``<file id>_<write token>_<instant>.parquet``."""

    file_id: str
    token: str
    instant: str

    def __str__(self) -> str:
        return f"{self.file_id}_{self.token}_{self.instant}.parquet"


class LogName(NamedTuple):
    """``.<file id>_<instant>.log.<version>_<write token>``.

    `instant` is that of the delta commit that wrote it (in the old layout: the base instant its writer looked up).
    `token` is None where an old writer left it out. `cdc` files hold changes, not rows.
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
    """The base file called `name`, None if it is not the name of one."""
    found = _BASE.fullmatch(name) if name.endswith(_BASE_END) else None
    return BaseName(*found.groups()) if found else None


def parse_log(name: str) -> LogName | None:
    """The log file called `name`, None if it is not the name of one."""
    found = _LOG.fullmatch(name)
    if found is None:
        return None
    file_id, instant, _, version, token, suffix = found.groups()
    return LogName(file_id, instant, int(version), token, suffix is not None)


def in_partition(partition: str, name: str) -> str:
    """The path of a file of a partition."""
    return f"{partition}/{name}" if partition else name


def split_path(path: str) -> tuple[str, str]:
    """(partition, file name) of a data file's path."""
    partition, _, name = path.rpartition("/")
    return partition, name


def marker_folder(instant: str) -> str:
    """Where the markers of one instant lie until it is completed."""
    return f".hoodie/.temp/{instant}"


def marker(instant: str, partition: str, name: str) -> str:
    """The path of the empty file by which Hudi's rollback finds the data file `name`, should its writer die.

    To be put before the data file. Of type CREATE for logs, too: APPEND makes Hudi 1.2.0 fail.
    """
    return f"{marker_folder(instant)}/{in_partition(partition, name)}.marker.CREATE"


def marked_file(instant: str, path: str) -> str | None:
    """The path of the data file that the marker at `path` announces, None if it is no such marker."""
    head, tail = f"{marker_folder(instant)}/", ".marker.CREATE"
    return path[len(head) : -len(tail)] if path.startswith(head) and path.endswith(tail) else None


def partition_metadata(partition: str, instant: str) -> tuple[str, bytes]:
    """(path, content) of the file without which Spark does not see a partition; to be put if absent."""
    depth = partition.count("/") + 1 if partition else 0
    content = f"#partition metadata\ncommitTime={instant}\npartitionDepth={depth}\n"
    return in_partition(partition, PARTITION_METADATA), content.encode()
