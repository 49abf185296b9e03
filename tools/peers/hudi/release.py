"""Hides the differences between the APIs of the supported Hudi releases."""

from __future__ import annotations

import os
from typing import Any

NEWEST = "1.2.0"
VERSION = os.environ.get("NBCC_HUDI_VERSION", NEWEST)
_MINOR = tuple(int(number) for number in VERSION.split(".")[:2])

TABLE_VERSION = 8 if _MINOR < (1, 1) else 9
OPTIONS = {"hoodie.auto.commit": "false"} if _MINOR < (1, 1) else {}


def start_commit(client: Any, action: str) -> str:
    """Take a requested time from Hudi's clock and publish the requested instant."""
    return str(client.startCommit(action) if _MINOR >= (1, 1) else client.startCommit())


def parsed(org: Any, schema: str) -> Any:
    """Parse a schema into the class that this Hudi release expects: `HoodieSchema` or Avro's `Schema`."""
    if _MINOR >= (1, 2):
        return org.apache.hudi.common.schema.HoodieSchema.parse(schema)
    return org.apache.avro.Schema.parse(schema)


def record_arguments(table_config: Any) -> list[Any]:
    """Return the additional arguments that this Hudi release requires to create records."""
    return [table_config] if _MINOR >= (1, 1) else []


def commit_compaction(client: Any, instant: str, done: Any, nothing: Any) -> None:
    client.commitCompaction(instant, done if _MINOR >= (1, 1) else done.getCommitMetadata().get(), nothing)


def set_ordering(builder: Any, column: str) -> None:
    """Set the ordering column in the builder of a new Hudi table."""
    if _MINOR >= (1, 1):
        builder.setOrderingFields(column)
    else:
        builder.setPreCombineField(column)
