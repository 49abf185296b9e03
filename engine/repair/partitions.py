"""Adds missing partition metadata files; without the metadata file of a partition, Hudi on Spark returns no rows of the
partition.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..audit import Audit
from ..file_names import PARTITION_METADATA, in_partition, partition_metadata, split_path
from ..storage import Storage


def missing_metadata(audit: Audit) -> dict[str, str]:
    """Return each partition that has no metadata file, mapped to the first instant that wrote to the partition."""
    first: dict[str, str] = {}
    for path, requested in audit.listed.items():
        partition = split_path(path)[0]
        if partition:
            first[partition] = min(requested, first.get(partition, requested))
    return {p: r for p, r in sorted(first.items()) if in_partition(p, PARTITION_METADATA) not in audit.listing}


def write_metadata(storage: Storage, missing: Iterable[tuple[str, str]]) -> list[str]:
    """Write the missing metadata file for each pair (partition, instant), and return the paths of the new files."""
    files = [partition_metadata(partition, instant) for partition, instant in missing]
    return [path for path, data in files if storage.put_if_absent(path, data)]
