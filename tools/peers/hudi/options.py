"""The write options of the tables that the Hudi peer creates: non-blocking concurrency control, and no automatic table
services.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from .release import OPTIONS

FIELDS = (("id", "string"), ("part", "string"), ("ts", "long"), ("value", "string"), ("_hoodie_is_deleted", "boolean"))
DDL = ", ".join(f"{name} {kind}" for name, kind in FIELDS)
RECORD, NAMESPACE = "t_record", "hoodie.t"
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": RECORD,
        "namespace": NAMESPACE,
        "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in FIELDS],
    }
)

SMALL = {"hoodie.memory.dfs.buffer.max.size": "65536"}
"""By default Hudi allocates 16 MiB for each log file that it opens."""

_SAME = {
    "hoodie.table.name": "t",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.operation": "upsert",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "SIMPLE",
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    # A heartbeat expires only when a history lets it.
    "hoodie.client.heartbeat.interval_in_ms": "3600000",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    # Services run on request and examine all file groups, not only those with commits since the last run.
    "hoodie.compact.inline": "false",
    "hoodie.compact.schedule.inline": "false",
    "hoodie.compact.inline.max.delta.commits": "0",
    "hoodie.table.services.incremental.enabled": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    # small jobs, small files
    **SMALL,
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
}


def options(merge_mode: str, buckets: int, more: Mapping[str, str]) -> dict[str, str]:
    """Return the write options of a table. ``more`` maps the names of further Hudi options to values."""
    asked = {"hoodie.record.merge.mode": merge_mode, "hoodie.bucket.index.num.buckets": str(buckets)}
    return {**_SAME, **OPTIONS, **asked, **more}
