"""Differences in the API between the releases of Hudi."""

from __future__ import annotations

import os
from typing import Any

NEWEST = "1.2.0"
VERSION = os.environ.get("NBCC_HUDI_VERSION", NEWEST)
_MINOR = tuple(int(number) for number in VERSION.split(".")[:2])

TABLE_VERSION = 8 if _MINOR < (1, 1) else 9
OPTIONS = {"hoodie.auto.commit": "false"} if _MINOR < (1, 1) else {}


def start_commit(client: Any, action: str) -> str:
    """Take a requested time and publish the request."""
    return str(client.startCommit(action) if _MINOR >= (1, 1) else client.startCommit())


def parsed(org: Any, schema: str) -> Any:
    """A schema in the class that the release's writers expect: Hudi's or Avro's."""
    if _MINOR >= (1, 2):
        return org.apache.hudi.common.schema.HoodieSchema.parse(schema)
    return org.apache.avro.Schema.parse(schema)


def record_arguments(table_config: Any) -> list[Any]:
    """The release's further arguments for making records, after those that every release has."""
    return [table_config] if _MINOR >= (1, 1) else []


def commit_compaction(client: Any, instant: str, done: Any, nothing: Any) -> None:
    """Publish the completed compaction."""
    client.commitCompaction(instant, done if _MINOR >= (1, 1) else done.getCommitMetadata().get(), nothing)


def set_ordering(builder: Any, column: str) -> None:
    """Name the ordering column of a new table."""
    if _MINOR >= (1, 1):
        builder.setOrderingFields(column)
    else:
        builder.setPreCombineField(column)
