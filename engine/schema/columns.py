"""Adds Hudi's meta columns to a schema, or removes them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

META_COLUMNS: Final = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
"""The first columns of every base file and log record: strings, never null (docs/hudi-format.md)."""


def with_meta(schema: pa.Schema) -> pa.Schema:
    """Return the schema of Hudi's data files: Hudi's meta columns, then the table's columns."""
    return pa.schema([*(pa.field(name, pa.string()) for name in META_COLUMNS), *schema])


def without_meta(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if field.name not in META_COLUMNS])
