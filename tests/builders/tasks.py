"""Rows and the shape of a table for tasks of the data path, which need no table on storage."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from nbcc.engine.data.keys import KeySpec
from nbcc.engine.data.layers import EVENT_TIME, Fold, MergeRule
from nbcc.engine.data.tasks import LogFormat, TableShape
from nbcc.engine.schema import META_COLUMNS

from .tables import table_of, with_deletes

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("value", pa.string()), ("part", pa.string())])
AVRO = {"id": "string", "ts": "long", "value": "string", "part": "string"}


def shape(
    *,
    record_key: tuple[str, ...] = ("id",),
    partition_by: tuple[str, ...] = (),
    mode: str = EVENT_TIME,
    ordering: str | None = "ts",
    fold: Fold = "rank",
    buckets: int = 1,
    log_format: LogFormat = "parquet",
    schema: pa.Schema = SCHEMA,
) -> TableShape:
    columns = dict.fromkeys(META_COLUMNS, "string") | AVRO
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in columns.items()]
    avro = json.dumps({"type": "record", "name": "sample", "fields": fields})
    return TableShape(
        schema, KeySpec(record_key, partition_by), MergeRule(mode, ordering, fold), buckets, avro, log_format
    )


def rows_and_deletes(*values: tuple[Any, ...]) -> pa.Table:
    """Rows (id, ts, value[, part]); the value `None` makes a row a delete."""
    return with_deletes(table_of(SCHEMA, *((*row, "p")[:4] for row in values)), "value")


def by_key(table: pa.Table) -> dict[str, tuple[int, str]]:
    """Key -> (ordering, value) of a read."""
    found = {row["id"]: (row["ts"], row["value"]) for row in table.to_pylist()}
    assert len(found) == len(table), "two rows have the same key"
    return found
