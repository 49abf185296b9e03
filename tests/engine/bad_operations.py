"""Every refused operation, with its message word by word."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple

import pyarrow as pa

from nbcc import BadInput, NbccError, Table
from nbcc.engine.timeline import Instant
from tests.builders.tables import batch, keys, tick


class Refusal(NamedTuple):
    kind: type[NbccError]
    message: str


def with_column(name: str, kind: pa.DataType) -> pa.Table:
    rows = batch(("k1", 2, "x"))
    return rows.set_column(rows.column_names.index(name), name, pa.nulls(1, kind))


NUMBER: Any = 20260101000000002  # of a type that a caller without a type checker may give

OPERATIONS: dict[str, tuple[Callable[[Table], Any], Refusal]] = {
    "a column is missing": (
        lambda t: t.upsert(batch(("k1", 2, "x")).drop_columns(["part"])),
        Refusal(BadInput, "Asked to write a batch, but it lacks 'part' (it has id, ts, a): add what is missing."),
    ),
    "a column is unknown": (
        lambda t: t.upsert(batch(("k1", 2, "x")).append_column("aa", [["y"]])),
        Refusal(
            BadInput,
            "Asked to write a batch, but the table has no column 'aa' (did you mean 'a'?); it has id, part, "
            "ts, a: rename or drop it, or add it by Table.alter_schema or by the write option mergeSchema=true.",
        ),
    ),
    "a column has another type": (
        lambda t: t.upsert(with_column("ts", pa.float64())),
        Refusal(
            BadInput,
            "Asked to write a batch, but 'ts' is double, the table's is int64: cast the column to the table's type.",
        ),
    ),
    "a column is there twice": (
        lambda t: t.upsert(batch(("k1", 2, "x")).append_column("a", [["y"]])),
        Refusal(BadInput, "Asked to write a batch, but it has several columns called a: rename or drop all but one."),
    ),
    "the batch is not a table": (
        lambda t: t.upsert([("k1", 2, "x")]),
        Refusal(
            BadInput,
            "Asked to write a batch, but it is a list: give a Spark DataFrame, an Arrow table or batch, "
            "or a DataFrame of pandas, polars or DuckDB.",
        ),
    ),
    "a key is null": (
        lambda t: t.upsert(batch(("k1", 2, "x"), (None, 7, "y"))),
        Refusal(
            BadInput,
            "Asked to write a batch, but 1 row has a null in id (for example id=None, part='p', ts=7): give "
            "every row a value there.",
        ),
    ),
    "a key is empty": (
        lambda t: t.upsert(batch(("", 7, "y"))),
        Refusal(
            BadInput,
            "Asked to write a batch, but 1 row has an empty key (for example id='', part='p', ts=7): give "
            "every row a value in id.",
        ),
    ),
    "two rows contradict each other": (
        lambda t: t.upsert(batch(("k1", 2, "x"), ("k1", 2, "y"))),
        Refusal(
            BadInput,
            "Asked to write a batch, but 1 row shares key and ordering value with another row of the batch "
            "but differs in content (for example id='k1', part='p', ts=2): keep one of them.",
        ),
    ),
    "an ordering value is null": (
        lambda t: t.upsert(batch(("k1", None, "x"))),
        Refusal(
            BadInput,
            "Asked to write a batch, but 1 row has no value in the ordering column ts (for example id='k1', "
            "part='p', ts=None): set it in every row, deletes included.",
        ),
    ),
    "the ordering column is missing": (
        lambda t: t.upsert(batch(("k1", 2, "x")).drop_columns(["ts"])),
        Refusal(BadInput, "Asked to write a batch, but it lacks 'ts' (it has id, part, a): add what is missing."),
    ),
    "a delete without ordering value": (
        lambda t: t.delete(keys(("k1", None))),
        Refusal(
            BadInput,
            "Asked to write a batch, but 1 row has no value in the ordering column ts (for example id='k1', "
            "part='p', ts=None): set it in every row, deletes included.",
        ),
    ),
    "a delete without ordering column": (
        lambda t: t.delete(keys(("k1", 2)).drop_columns(["ts"])),
        Refusal(
            BadInput,
            "Asked to delete a batch of keys, but it has no ordering column 'ts', which decides "
            "the rows that are older than the delete: add 'ts': a delete wins over the rows whose value is not "
            "greater.",
        ),
    ),
    "a delete without partition column": (
        lambda t: t.delete(keys(("k1", 2)).drop_columns(["part"])),
        Refusal(BadInput, "Asked to delete a batch of keys, but it lacks 'part' (it has id, ts): add what is missing."),
    ),
    "a partition value leaves the table": (
        lambda t: t.upsert(with_column("part", pa.string()).set_column(1, "part", [["../x"]])),
        Refusal(
            BadInput,
            "Asked to write a batch, but 1 row has a partition value that is not safe as a folder name (for "
            "example id='k1', part='../x', ts=2): use values of at most 255 bytes a level, without empty, '.' or '..' "
            "levels, ':', '=' and control characters; null is allowed.",
        ),
    ),
    "as of a requested time": (
        lambda t: t.as_of(tick(1)),
        Refusal(
            BadInput,
            "Asked to read the table as of 20260101000000001, but that is when a deltacommit was requested, "
            "which completed at 20260101000000002: use 20260101000000002 to see it, or the completion time "
            "of an earlier instant not to.",
        ),
    ),
    "as of before the first commit": (
        lambda t: t.as_of("20251231235959999"),
        Refusal(
            BadInput,
            "Asked to read the table as of 20251231235959999, but the first commit completed at "
            "20260101000000002: use 20260101000000002 or a later time.",
        ),
    ),
    "as of the future": (
        lambda t: t.as_of("20990101000000000"),
        Refusal(
            BadInput,
            "Asked to read the table as of 20990101000000000, but now is 20260101000000003, and what has not"
            " happened yet cannot be read: use an earlier time.",
        ),
    ),
    "as of a naive datetime": (
        lambda t: t.as_of(datetime(2026, 1, 1)),
        Refusal(
            BadInput,
            "Asked to read the table as of 2026-01-01 00:00:00, but that datetime has no time zone, so that "
            "it names no moment: give it one, e.g. datetime(..., tzinfo=timezone.utc).",
        ),
    ),
    "as of no time": (
        lambda t: t.as_of("yesterday"),
        Refusal(
            BadInput,
            "Asked to read the table as of 'yesterday', but that is not a time: a time is an Instant,"
            " 17 digits yyyyMMddHHmmssSSS in UTC, a text such as '2026-11-28 16:00:00' (in UTC), "
            "or a datetime with a time zone.",
        ),
    ),
    "as of a day that does not exist": (
        lambda t: t.as_of("20260231000000000"),
        Refusal(
            BadInput,
            "Asked to read the table as of '20260231000000000', but that is not a time: a time is an Instant, "
            "17 digits yyyyMMddHHmmssSSS in UTC, a text such as '2026-11-28 16:00:00' (in UTC), "
            "or a datetime with a time zone.",
        ),
    ),
    "as of digits of another alphabet": (
        lambda t: t.as_of("٢٠٢٦٠١٠١٠٠٠٠٠٠٠٠٠"),
        Refusal(
            BadInput,
            "Asked to read the table as of '٢٠٢٦٠١٠١٠٠٠٠٠٠٠٠٠', but that is not a time: a time is an Instant, "
            "17 digits yyyyMMddHHmmssSSS in UTC, a text such as '2026-11-28 16:00:00' (in UTC), "
            "or a datetime with a time zone.",
        ),
    ),
    "as of the year 999": (
        lambda t: t.as_of(datetime(999, 1, 1, tzinfo=UTC)),
        Refusal(
            BadInput,
            "Asked to read the table as of 09990101000000000, but the first commit completed at 20260101000000002: "
            "use 20260101000000002 or a later time.",
        ),
    ),
    "as of a moment before all years": (
        lambda t: t.as_of(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))),
        Refusal(
            BadInput,
            "Asked to read the table as of 0001-01-01 00:00:00+01:00, but in UTC its year does not have four digits: a "
            "time is an Instant, 17 digits yyyyMMddHHmmssSSS in UTC, a text such as '2026-11-28 16:00:00' (in UTC), "
            "or a datetime with a time zone.",
        ),
    ),
    "as of a number": (
        lambda t: t.as_of(NUMBER),
        Refusal(
            BadInput,
            "Asked to read the table as of 20260101000000002, but that is of type int: a time is an Instant,"
            " 17 digits yyyyMMddHHmmssSSS in UTC, a text such as '2026-11-28 16:00:00' (in UTC), "
            "or a datetime with a time zone.",
        ),
    ),
    "as of an instant that is pending": (
        lambda t: t.as_of(Instant(tick(1), "deltacommit", "inflight")),
        Refusal(
            BadInput,
            "Asked to read the table as of the instant requested at 20260101000000001, but it is not "
            "completed, and only a completion time is a point in a table's history: use an instant that an "
            "operation returned.",
        ),
    ),
    "a window that starts after its end": (
        lambda t: t.incremental(tick(2), tick(1)),
        Refusal(
            BadInput,
            "Asked to read what was written after 20260101000000002 until 20260101000000001, but the start "
            "is after the end: exchange the two.",
        ),
    ),
    "a window that ends in the future": (
        lambda t: t.changes(tick(1), "20990101000000000"),
        Refusal(
            BadInput,
            "Asked to read what changed until 20990101000000000, but now is 20260101000000003, and what has "
            "not happened yet cannot be read: use an earlier time.",
        ),
    ),
    "an open window in the future": (
        lambda t: t.incremental("20990101000000000"),
        Refusal(
            BadInput,
            "Asked to read what was written after 20990101000000000, but now is 20260101000000003, and what "
            "has not happened yet cannot be read: use an earlier time.",
        ),
    ),
    "slices of the future": (
        lambda t: t.file_slices("20990101000000000"),
        Refusal(
            BadInput,
            "Asked to look at the file slices as of 20990101000000000, but now is 20260101000000003, and "
            "what has not happened yet cannot be read: use an earlier time.",
        ),
    ),
    "a compaction without a plan": (
        lambda t: t.run_compaction(tick(7)),
        Refusal(
            BadInput,
            "Asked to run the compaction 20260101000000007, but the timeline has no compaction with that requested"
            " time: schedule one first; none is pending.",
        ),
    ),
    "an unknown operation": (
        lambda t: t.run("vacuum"),
        Refusal(
            BadInput,
            "Asked to run 'vacuum', but the operations are alter_schema, archive, as_of, bulk_insert, "
            "cancel_resize, changes, "
            "checkpoint_state, clean, cluster, collect, compact, convert, delete, delete_partition, delete_savepoint, "
            "file_slices, incremental, index, insert_overwrite, log_compact, maintain, publish_decided, "
            "read_optimized, replaced, resize, restore, rollback, "
            "run_clean, run_compaction, run_log_compaction, run_resize, run_restore, run_rollback, savepoint, "
            "schedule_clean, schedule_compaction, schedule_log_compaction, schedule_resize, schedule_restore, "
            "schedule_rollback, settled, snapshot, timeline, update, upsert: name one of them.",
        ),
    ),
}
