"""Converts the arguments of `Table.create` to a table config, and rejects tables that some Hudi readers could not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

import pyarrow as pa

from ..arguments import is_of, texts
from ..config.archive_policy import archive_policy_of
from ..config.concurrency import NON_BLOCKING, OPTIMISTIC
from ..config.concurrency import concurrency_mode as mode_of
from ..config.coordination import coordination_of
from ..config.options import DECISION, FUNCTION, OPTIONS, PARTIAL, PUBLICATION, TABLE, parsed
from ..config.table_config import MergeMode, TableConfig, TableType
from ..config.table_properties import MOST_BUCKETS
from ..data.columns import IS_DELETED
from ..data.function import function_of
from ..data.function_laws import check_laws
from ..data.keys import is_key_type, is_partition_type
from ..data.layers import EVENT_TIME, is_ordering_type
from ..data.required import demands
from ..errors import BadInput, Unsupported
from ..schema import avro_json, from_spark
from ..schema.accepted import checked_zone, stored_schema

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    Schema: TypeAlias = pa.Schema | StructType | str

ASKED: Final = "create a table"

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def table_config(
    name: str,
    schema: Schema,
    *,
    record_key: str | Sequence[str],
    ordering_fields: str | Sequence[str] | None,
    partition_by: str | Sequence[str] | None,
    buckets: int,
    merge_mode: str,
    table_type: str,
    concurrency_mode: str | None,
    options: Mapping[str, str],
    session_time_zone: str | None = None,
) -> TableConfig:
    """Return the config of a new table. Raises `BadInput` or `Unsupported` for the first invalid argument."""
    zone = checked_zone(session_time_zone, ASKED)
    columns = arrow_schema(schema, zone=zone)
    keys = _names(record_key, "record_key")
    orderings, partitions = _names(ordering_fields, "ordering_fields"), _names(partition_by, "partition_by")
    check_columns(columns)
    mode = mode_of(concurrency_mode or (NON_BLOCKING if table_type == "MERGE_ON_READ" else OPTIMISTIC), ASKED)
    _check_modes(merge_mode, table_type, mode)
    _check_keys(columns, keys)
    _check_partition(columns, partitions)
    _check_ordering(columns, orderings, merge_mode)
    if isinstance(buckets, bool) or not isinstance(buckets, int) or not 1 <= buckets < MOST_BUCKETS:
        raise BadInput(
            f"{ASKED} with buckets={buckets!r}", "that is not a number of file groups", "give a whole number from 1"
        )
    config = TableConfig(
        name=_table_name(name),
        schema=columns,
        record_key=keys,
        ordering=orderings[0] if orderings else None,
        partition_by=partitions,
        buckets=buckets,
        merge_mode="EVENT_TIME_ORDERING" if merge_mode == EVENT_TIME else "COMMIT_TIME_ORDERING",
        table_type="MERGE_ON_READ" if table_type == "MERGE_ON_READ" else "COPY_ON_WRITE",
        concurrency_mode=mode,
        session_time_zone=zone,
        **_from_options(options),
    )
    check_partial(config)
    _check_function(config)
    avro_json(columns, config.name)  # refuses types that not every reader understands
    return config


def arrow_schema(schema: Schema, asked: str = ASKED, zone: str | None = None) -> pa.Schema:
    """Return the pyarrow schema of a table, converted from a pyarrow Schema, a Spark StructType or a DDL string. If
    `schema` is a DDL string, a Spark session must be running.

    If a column's values are stored losslessly in another type, the result contains the stored type. `zone` is the time
    zone in which timestamps without a time zone are interpreted.
    """
    if not isinstance(schema, str | pa.Schema):
        if hasattr(schema, "__arrow_c_stream__") and not is_of("pyspark", schema) and not is_of("pandas", schema):
            schema = pa.RecordBatchReader.from_stream(schema).schema  # that of polars has no Arrow types
        elif is_of("pandas", schema) and hasattr(schema, "columns"):
            schema = pa.Schema.from_pandas(schema, preserve_index=False)
        schema = getattr(schema, "schema", schema)  # that of a DataFrame, a table or a reader
    if isinstance(schema, pa.Schema):
        return stored_schema(schema.remove_metadata(), zone)
    if not isinstance(schema, str) and not is_of("pyspark", schema):
        exists = f"its schema is a {type(schema).__qualname__}"
        raise BadInput(asked, exists, "give a pyarrow Schema, a StructType, DDL, or rows that have one")
    try:
        return stored_schema(from_spark(schema), zone)
    except (ImportError, RuntimeError, AssertionError) as failed:
        raise BadInput(
            f"{asked} with the columns {schema!r}", "there is no Spark session to read DDL", "give a pyarrow Schema"
        ) from failed
    except _errors_of_spark() as failed:
        first = str(failed).strip().partition("\n")[0]
        raise BadInput(f"{asked} with the columns {schema!r}", first.rstrip("."), "correct the DDL") from failed


def _errors_of_spark() -> type[Exception]:
    from pyspark.errors import PySparkException

    return PySparkException


def check_columns(columns: pa.Schema, asked: str = ASKED) -> None:
    """Raise `BadInput` or `Unsupported` if one of the columns is not allowed in an nbcc table."""
    if not columns.names:
        raise BadInput(asked, "its schema has no columns", "give it some")
    seen: set[str] = set()
    for field in columns:
        if not _NAME.fullmatch(field.name):
            raise BadInput(
                f"{asked} with the column {field.name!r}", "that is not a name in Avro", "use letters, digits and _"
            )
        if field.name.startswith("_hoodie_"):
            raise BadInput(f"{asked} with the column {field.name!r}", "_hoodie_ is for Hudi's own columns", "rename it")
        if field.name.lower() in seen:
            raise BadInput(
                f"{asked} with the column {field.name!r}", "Spark takes it for another one", "rename one of them"
            )
        if _zoneless(field.type):
            raise Unsupported(
                f"{asked} with the column {field.name!r}",
                f"it is {field.type}, a timestamp without time zone, with which hudi-rs cannot read the table at all",
                "use a timestamp in UTC, or give session_time_zone, the zone of timestamps without one",
            )
        _check_inside(field.type, f"{asked} with the column {field.name!r}")
        seen.add(field.name.lower())


def _check_inside(kind: pa.DataType, asked: str) -> None:
    inner = [kind.field(i) for i in range(kind.num_fields)]
    if pa.types.is_struct(kind):
        names = [field.name for field in inner]
        if not names:
            raise BadInput(asked, "a struct in it has no fields", "give it some")
        if bad := next((name for name in names if not _NAME.fullmatch(name)), None):
            raise BadInput(asked, f"its field {bad!r} does not have a name in Avro", "use letters, digits and _")
        if len({name.lower() for name in names}) < len(names):
            raise BadInput(asked, f"Spark takes two of its fields for one ({', '.join(names)})", "rename one of them")
    for field in inner:
        _check_inside(field.type, asked)


def _zoneless(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return kind.tz is None
    return any(_zoneless(kind.field(i).type) for i in range(kind.num_fields))


def _check_modes(merge_mode: str, table_type: str, mode: str) -> None:
    if merge_mode not in get_args(MergeMode):
        raise BadInput(
            f"{ASKED} with merge_mode={merge_mode!r}",
            "there is no such mode",
            f"use {' or '.join(get_args(MergeMode))}",
        )
    if table_type not in get_args(TableType):
        known = " or ".join(get_args(TableType))
        raise BadInput(f"{ASKED} with table_type={table_type!r}", "there is no such type", f"use {known}")
    if table_type == "COPY_ON_WRITE" and mode == NON_BLOCKING:
        raise Unsupported(
            f"{ASKED} that is COPY_ON_WRITE with concurrency_mode={NON_BLOCKING!r}",
            "writers that never wait for each other need log files",
            f"use {OPTIMISTIC}, or MERGE_ON_READ",
        )


def check_partial(config: TableConfig, asked: str = ASKED) -> None:
    """Raise an error if the config enables partial updates, but the table type or the schema does not allow them."""
    asked = f"{asked} with {PARTIAL}=SET_COLUMNS"
    if config.partial_update and not config.merge_on_read:
        raise Unsupported(asked, "a COPY_ON_WRITE table has no logs to keep what a row is made of", "use MERGE_ON_READ")
    inside = {field.name for field in config.schema if pa.types.is_struct(field.type) and demands(field.type)}
    fixed = [field.name for field in config.schema if not field.nullable or field.name in inside]
    if config.partial_update and (needed := [name for name in fixed if name not in config.always_set]):
        exists = f"{', '.join(needed)} must not be null, but a partial update may omit it"
        raise BadInput(asked, exists, "make the column nullable")
    if config.partial_update and IS_DELETED in config.schema.names:
        raise BadInput(asked, f"its schema has {IS_DELETED}", "leave it out: a batch may have it all the same")


def _check_function(config: TableConfig) -> None:
    name = config.merge_function
    if not name:
        return
    asked = f"{ASKED} with {FUNCTION}={name}"
    merges = pa.schema([field for field in config.schema if field.name not in config.always_set])
    refusals = (
        (config.merge_mode == EVENT_TIME, "a delete must hide all writes that completed before it",
         "use merge_mode='COMMIT_TIME_ORDERING'"),
        (config.ordering is not None, "its ordering column would have no effect", "leave ordering_fields out"),
        (not config.merge_on_read, "a COPY_ON_WRITE table merges when it is written", "use MERGE_ON_READ"),
        (config.partial_update, "a function merges whole rows", f"leave {PARTIAL} out"),
        (config.version < 9, "a table of version 8 names a payload class for its readers", "use version 9"),
        (IS_DELETED in config.schema.names, f"its schema has {IS_DELETED}", "leave it out: a batch may have it still"),
        (not merges.names, "it has no columns but its keys", "give it some"),
    )  # fmt: skip
    for refused, exists, remedy in refusals:
        if refused:
            raise Unsupported(asked, exists, remedy)
    check_laws(function_of(name), name, merges)


def _check_keys(columns: pa.Schema, keys: Sequence[str]) -> None:
    if not keys:
        raise BadInput(f"{ASKED} without a record key", "rows need one to be updated", "name its columns in record_key")
    _check_names(columns, keys, "record_key")
    for name in keys:
        _check_type(columns, name, "record_key", is_key_type(columns.field(name).type), "string, int or bigint")


def _check_partition(columns: pa.Schema, partitions: Sequence[str]) -> None:
    _check_names(columns, partitions, "partition_by")
    for name in partitions:
        kind = columns.field(name).type
        _check_type(columns, name, "partition_by", is_partition_type(kind), "string, int, bigint or date")


def _check_ordering(columns: pa.Schema, orderings: Sequence[str], merge_mode: str) -> None:
    _check_names(columns, orderings, "ordering_fields")
    if len(orderings) > 1:
        raise Unsupported(
            f"{ASKED} with ordering_fields={list(orderings)!r}", "hudi-rs refuses several", "order by one column"
        )
    if not orderings and merge_mode == EVENT_TIME:
        raise BadInput(
            f"{ASKED} that merges by event time",
            "it has no ordering column",
            "name it in ordering_fields, or use merge_mode='COMMIT_TIME_ORDERING'",
        )
    for name in orderings:
        ordered = is_ordering_type(columns.field(name).type)
        needed = "int, bigint, date, timestamp or string, which every reader orders alike"
        _check_type(columns, name, "ordering_fields", ordered, needed)


def _check_names(columns: pa.Schema, names: Sequence[str], argument: str) -> None:
    for name in names:
        if name not in columns.names:
            near = get_close_matches(name, columns.names, 1)
            hint = f"did you mean {near[0]!r}" if near else "name one of these"
            raise BadInput(f"{ASKED} with {argument}={name!r}", f"its columns are {', '.join(columns.names)}", hint)
    if len(set(names)) < len(names):
        raise BadInput(f"{ASKED} with {argument}={list(names)!r}", "a column is named twice", "name each once")


def _check_type(columns: pa.Schema, name: str, argument: str, fits: bool, needed: str) -> None:
    if not fits:
        kind = columns.field(name).type
        raise BadInput(f"{ASKED} with {argument}={name!r}", f"that column is {kind}", f"use a column of type {needed}")


def _from_options(options: Mapping[str, str]) -> dict[str, Any]:
    known = [option.name for option in OPTIONS]
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        near = f"the nearest is {get_close_matches(unknown, known, 1, 0)[0]!r}"
        if unknown.startswith("hoodie.metadata."):
            near = "leave it out: nbcc writes no metadata table"
        raise BadInput(f"{ASKED} with the option {unknown!r}", "there is no such option", near)

    def refuse(name: str, _: str, needed: str) -> BadInput:
        return BadInput(f"{ASKED} with {name}={options[name]!r}", "that is not a value of this option", f"use {needed}")

    texts = {name: str(value) for name, value in options.items()}
    coordination = coordination_of(texts, refuse)
    if coordination.publication == "parallel" and not coordination.is_parallel:
        exists = f"the writers of a table with {DECISION}={coordination.decision} publish one instant after the other"
        raise BadInput(f"{ASKED} with {PUBLICATION}=parallel", exists, f"use {DECISION}=free, or leave it out")
    return {
        **parsed(TABLE, texts, refuse),
        "allowed_function": texts.get(FUNCTION, ""),
        "coordination": coordination,
        "archive_policy": archive_policy_of(texts, refuse),
    }


def _names(given: str | Iterable[str] | None, argument: str) -> tuple[str, ...]:
    if isinstance(given, str):
        return tuple(part.strip() for part in given.split(",") if part.strip())
    return () if given is None else texts(given, f"{ASKED} with {argument}={given!r}")


def _table_name(name: str) -> str:
    cleaned = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return cleaned if _NAME.fullmatch(cleaned) else f"t_{cleaned}"
