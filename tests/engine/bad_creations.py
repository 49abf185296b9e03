"""Every refused creation of a table, with its message word by word."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from nbcc import BadInput, Unsupported
from tests.builders.tables import SCHEMA

from .bad_operations import Refusal

CREATIONS: dict[str, tuple[dict[str, Any], Refusal]] = {
    "no columns": (
        {"schema": pa.schema([])},
        Refusal(BadInput, "Asked to create a table, but its schema has no columns: give it some."),
    ),
    "not a schema": (
        {"schema": {"id": "string"}},
        Refusal(
            BadInput, "Asked to create a table, but its schema is a dict: give a pyarrow Schema, a StructType, DDL, "
            "or rows that have one."
        ),
    ),
    "a name inside a column that Avro lacks": (
        {"schema": SCHEMA.append(pa.field("b", pa.list_(pa.struct([("c d", pa.string())]))))},
        Refusal(
            BadInput,
            "Asked to create a table with the column 'b', but its field 'c d' does not have a name in Avro: use "
            "letters, digits and _.",
        ),
    ),
    "two fields of a struct that are one to Spark": (
        {"schema": SCHEMA.append(pa.field("b", pa.struct([("c", pa.string()), ("C", pa.string())])))},
        Refusal(
            BadInput,
            "Asked to create a table with the column 'b', but Spark takes two of its fields for one (c, C): rename one "
            "of them.",
        ),
    ),
    "a struct without fields": (
        {"schema": SCHEMA.append(pa.field("b", pa.struct([])))},
        Refusal(
            BadInput, "Asked to create a table with the column 'b', but a struct in it has no fields: give it some."
        ),
    ),
    "a column name that Avro lacks": (
        {"schema": SCHEMA.append(pa.field("a b", pa.string()))},
        Refusal(
            BadInput,
            "Asked to create a table with the column 'a b', but that is not a name in Avro: use letters, digits and _.",
        ),
    ),
    "a column of Hudi's": (
        {"schema": SCHEMA.append(pa.field("_hoodie_x", pa.string()))},
        Refusal(
            BadInput,
            "Asked to create a table with the column '_hoodie_x', but _hoodie_ is for Hudi's own columns: rename it.",
        ),
    ),
    "columns that differ in case": (
        {"schema": SCHEMA.append(pa.field("A", pa.string()))},
        Refusal(
            BadInput,
            "Asked to create a table with the column 'A', but Spark takes it for another one: rename one of them.",
        ),
    ),
    "a type that not all readers have": (
        {"schema": SCHEMA.append(pa.field("u", pa.uint64()))},
        Refusal(
            Unsupported,
            "Asked to store the column 'u', but readers of Hudi tables do not agree on the type uint64: use "
            "boolean, int, long, float, double, string, binary, date, a UTC timestamp, decimal, array, map "
            "or struct.",
        ),
    ),
    "a timestamp without zone": (
        {"schema": SCHEMA.append(pa.field("w", pa.timestamp("us")))},
        Refusal(
            Unsupported,
            "Asked to create a table with the column 'w', but it is timestamp[us], a timestamp without time "
            "zone, with which hudi-rs cannot read the table at all: use a timestamp in UTC, "
            "or give session_time_zone, the zone of timestamps without one.",
        ),
    ),
    "no record key": (
        {"record_key": []},
        Refusal(
            BadInput,
            "Asked to create a table without a record key, but rows need one to be updated: name its columns"
            " in record_key.",
        ),
    ),
    "a record key that is not a column": (
        {"record_key": "ID"},
        Refusal(
            BadInput,
            "Asked to create a table with record_key='ID', but its columns are id, part, ts, a: name one of these.",
        ),
    ),
    "a record key twice": (
        {"record_key": ["id", "id"]},
        Refusal(
            BadInput,
            "Asked to create a table with record_key=['id', 'id'], but a column is named twice: name each once.",
        ),
    ),
    "a record key of an odd type": (
        {"schema": SCHEMA.append(pa.field("f", pa.float64())), "record_key": "f"},
        Refusal(
            BadInput,
            "Asked to create a table with record_key='f', but that column is double: use a column of type "
            "string, int or bigint.",
        ),
    ),
    "a partition column of an odd type": (
        {"schema": SCHEMA.append(pa.field("b", pa.bool_())), "partition_by": "b"},
        Refusal(
            BadInput,
            "Asked to create a table with partition_by='b', but that column is bool: use a column of type "
            "string, int, bigint or date.",
        ),
    ),
    "event time without ordering": (
        {"ordering_fields": None},
        Refusal(
            BadInput,
            "Asked to create a table that merges by event time, but it has no ordering column: name it in "
            "ordering_fields, or use merge_mode='COMMIT_TIME_ORDERING'.",
        ),
    ),
    "an ordering field that is not a column": (
        {"ordering_fields": "tss"},
        Refusal(
            BadInput,
            "Asked to create a table with ordering_fields='tss', but its columns are id, part, ts, a: did "
            "you mean 'ts'.",
        ),
    ),
    "an ordering column without total order": (
        {"schema": SCHEMA.append(pa.field("f", pa.float64())), "ordering_fields": "f"},
        Refusal(
            BadInput,
            "Asked to create a table with ordering_fields='f', but that column is double: use a column of "
            "type int, bigint, date, timestamp or string, which every reader orders alike.",
        ),
    ),
    "two ordering columns": (
        {"ordering_fields": "ts,a"},
        Refusal(
            Unsupported,
            "Asked to create a table with ordering_fields=['ts', 'a'], but hudi-rs refuses several: order by"
            " one column.",
        ),
    ),
    "no buckets": (
        {"buckets": 0},
        Refusal(
            BadInput,
            "Asked to create a table with buckets=0, but that is not a number of file groups: give a whole number"
            " from 1.",
        ),
    ),
    "an unknown merge mode": (
        {"merge_mode": "EVENT_TIME"},
        Refusal(
            BadInput,
            "Asked to create a table with merge_mode='EVENT_TIME', but there is no such mode: use "
            "EVENT_TIME_ORDERING or COMMIT_TIME_ORDERING.",
        ),
    ),
    "copy on write and non-blocking": (
        {"table_type": "COPY_ON_WRITE", "concurrency_mode": "NON_BLOCKING_CONCURRENCY_CONTROL"},
        Refusal(
            Unsupported,
            "Asked to create a table that is COPY_ON_WRITE with concurrency_mode='NON_BLOCKING_CONCURRENCY_CONTROL', "
            "but writers that never wait for each other need log files: use OPTIMISTIC_CONCURRENCY_CONTROL, or "
            "MERGE_ON_READ.",
        ),
    ),
    "an unknown table type": (
        {"table_type": "MERGE_ON_WRITE"},
        Refusal(
            BadInput,
            "Asked to create a table with table_type='MERGE_ON_WRITE', but there is no such type: use MERGE_ON_READ or "
            "COPY_ON_WRITE.",
        ),
    ),
    "an unknown concurrency mode": (
        {"concurrency_mode": "NONE"},
        Refusal(
            BadInput,
            "Asked to create a table with concurrency_mode='NONE', but there is no such mode: use "
            "NON_BLOCKING_CONCURRENCY_CONTROL or OPTIMISTIC_CONCURRENCY_CONTROL or SINGLE_WRITER.",
        ),
    ),
    "an unknown option": (
        {"options": {"hoodie.logfile.maxsize": "5"}},
        Refusal(
            BadInput,
            "Asked to create a table with the option 'hoodie.logfile.maxsize', but there is no such option: "
            "the nearest is 'hoodie.logfile.max.size'.",
        ),
    ),
    "an option of the metadata table": (
        {"options": {"hoodie.metadata.enable": "true"}},
        Refusal(
            BadInput,
            "Asked to create a table with the option 'hoodie.metadata.enable', but there is no such option: "
            "leave it out: nbcc writes no metadata table.",
        ),
    ),
    "an unknown value of an option": (
        {"options": {"hoodie.logfile.data.block.format": "orc"}},
        Refusal(
            BadInput,
            "Asked to create a table with hoodie.logfile.data.block.format='orc', but that is not a value of "
            "this option: use parquet or avro.",
        ),
    ),
    "not a size": (
        {"options": {"hoodie.logfile.max.size": "1 GB"}},
        Refusal(
            BadInput,
            "Asked to create a table with hoodie.logfile.max.size='1 GB', but that is not a value of this "
            "option: use a whole number of bytes.",
        ),
    ),
}
