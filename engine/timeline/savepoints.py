"""Encodes and decodes savepoints. A savepoint lists the files needed to read the table as of a completed instant
(docs/hudi-format.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ..file_names import in_partition, split_path
from .checked import Checked
from .container import decode_record, encode_record, understood

ACTION: Final = "savepoint"


@dataclass(frozen=True, slots=True)
class Savepoint:
    """The content of a savepoint file. `files` maps each partition to the names of the files that the savepoint
    retains. `millis` is when the savepoint was made, in milliseconds since 1970.
    """

    files: Mapping[str, tuple[str, ...]]
    user: str = ""
    comment: str = ""
    millis: int = 0

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the files that the savepoint retains, relative to the table's root."""
        return frozenset(in_partition(partition, name) for partition in self.files for name in self.files[partition])


def by_partition(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Map each partition to the sorted names of its files among `paths`."""
    names_by_partition: dict[str, list[str]] = {}
    for partition, name in sorted(split_path(path) for path in set(paths)):
        names_by_partition.setdefault(partition, []).append(name)
    return {partition: tuple(names) for partition, names in names_by_partition.items()}


def encode_savepoint(savepoint: Savepoint) -> bytes:
    """Return the content of the completed file of a savepoint."""
    partitions = {
        partition: {"partitionPath": partition, "savepointDataFile": list(names)}
        for partition, names in savepoint.files.items()
    }
    record = {
        "savepointedBy": savepoint.user,
        "savepointedAt": savepoint.millis,
        "comments": savepoint.comment,
        "partitionMetadata": partitions,
        "version": 1,
    }
    return encode_record(ACTION, record)


def decode_savepoint(data: bytes, name: str = ACTION) -> Savepoint:
    """Decode a savepoint file written by nbcc or by Hudi."""
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        partitions = record.get("partitionMetadata") or {}
        files = {
            checked.partition(partition): tuple(map(checked.name, each.get("savepointDataFile") or ()))
            for partition, each in partitions.items()
        }
        by, comment = record.get("savepointedBy") or "", record.get("comments") or ""
        return Savepoint(files, by, comment, record.get("savepointedAt") or 0)
