"""Shapes and batches of small tables for the tests of the data path."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from nbcc.engine.data.columns import IS_DELETED
from nbcc.engine.data.keys import KeySpec
from nbcc.engine.data.layers import EVENT_TIME, Fold, MergeRule
from nbcc.engine.data.tasks import LogFormat, TableShape
from nbcc.engine.schema import META_COLUMNS

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


def batch(*rows: tuple[Any, ...]) -> pa.Table:
    """Rows (id, ts, value[, part]); the value `None` makes a delete of a row."""
    full = [(*row, "p")[:4] for row in rows]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in full], schema=SCHEMA)
    return table.append_column(IS_DELETED, pa.array([row[2] is None for row in full], pa.bool_()))


def state(rows: pa.Table) -> dict[str, tuple[int, str]]:
    """Key to (ordering, value) of a read."""
    found = {row["id"]: (row["ts"], row["value"]) for row in rows.to_pylist()}
    assert len(found) == len(rows), "a key came twice"
    return found
