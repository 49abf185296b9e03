"""Finds the file id of each bucket in a table whose file groups Hudi may have named."""

from __future__ import annotations

from ..config import TableConfig
from ..config.table_config import FOUND_FILE_IDS
from ..context import Context
from ..errors import Unsupported
from ..files.slices import find_files, pending_plans, replaced_groups
from ..names import bucket_of
from ..timeline.history import Active

BucketIds = dict[tuple[str, int], str]
"""(partition, bucket) -> file id."""


def file_ids_by_bucket(context: Context, config: TableConfig, active: Active | None = None) -> BucketIds:
    """Return the file id of each bucket that has files or a pending compaction, for a table whose file ids Hudi may
    have chosen. If nbcc chose all file ids, the result is empty. If `active` is None, the function lists the
    timeline.

    Raises `Unsupported` if a file group has no bucket number, or if a bucket has two file groups.
    """
    if FOUND_FILE_IDS not in config.writer_features:
        return {}
    timeline = context.history(active).whole
    files = find_files(context.storage, timeline, context.commits, context.rules)
    groups = {(file.partition, file.file_id) for file in files}
    groups |= pending_plans(timeline, context.commits, context.rules).keys()
    # A replaced group no longer takes writes, and its bucket has another group by now.
    groups -= replaced_groups(timeline, context.commits, context.rules)
    found: BucketIds = {}
    # Sorted, so that the error names the same file group in each run.
    for partition, file_id in sorted(groups):
        bucket = bucket_of(file_id)
        where = "/".join(filter(None, (partition, file_id)))
        if bucket is None:
            raise _unsupported(config, f"its file group {where} has no bucket")
        if (partition, bucket) in found:
            raise _unsupported(config, f"bucket {bucket} has two file groups, {where} and {found[partition, bucket]}")
        found[partition, bucket] = file_id
    return found


def _unsupported(config: TableConfig, exists: str) -> Unsupported:
    return Unsupported(
        f"write to the table {config.name}",
        exists,
        "copy it (nbcc table PATH copy DEST, or Table.copy), or write it with one simple bucket index",
    )
