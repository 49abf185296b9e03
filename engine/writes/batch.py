"""Converts a user's batch to the table's columns, and rejects invalid rows before anything is written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any, Final

import pyarrow as pa

from ..arguments import is_of
from ..config import TableConfig
from ..data.check import is_path
from ..data.columns import IS_DELETED, conform, one_array
from ..data.jobs import InProcessJobs, Jobs
from ..data.keys import KeySpec, partition_paths
from ..errors import BadInput
from ..schema import without_meta
from ..schema.accepted import fits, fitted, same_type

_FLAG: Final = pa.field(IS_DELETED, pa.bool_())


def as_upserts(data: Any, config: TableConfig, *, by_value: bool = True) -> Any:
    """Return the rows of `data` with the table's columns in the table's order, plus `_hoodie_is_deleted` if `data` has
    that column.

    Hudi's five meta columns are dropped. A column that `data` lacks is null in all rows, as in Hudi, unless the column
    is not nullable or is a key, partition or ordering column. In a table with partial updates, every column must be
    there, because a null would overwrite a value. `data` must not contain columns that the table lacks. Each column's
    type must be the type in the table, or a type that can be cast to it without loss. Raises `BadInput`. If `by_value`
    is True, a cast is accepted if it loses nothing for the values in `data`.
    """
    asked, schema = "write a batch", config.schema
    rows = rows_of(data, asked)
    present = without_meta(schema_of(rows, asked))
    flag = [_FLAG] if IS_DELETED in present.names and IS_DELETED not in schema.names else []
    _refuse_unknown(present, pa.schema([*schema, *flag]), asked)
    needed = [each.name for each in schema if config.partial_update or not each.nullable]
    _refuse_missing(present, list(dict.fromkeys([*config.always_set, *needed])), asked)
    wanted = pa.schema([*(field for field in schema if field.name in present.names), *flag])
    fitting = _fitted(rows, wanted, asked, config.session_time_zone, by_value)
    return _with_all_columns(fitting, wanted, pa.schema([*schema, *flag]))


def _with_all_columns(rows: Any, present: pa.Schema, whole: pa.Schema) -> Any:
    """Return the rows with the columns `whole`; those that are not in `present` are null."""
    if present.names == whole.names:
        return rows
    if isinstance(rows, pa.Table):
        return conform(rows, whole)
    from .dataframes import widened

    return widened(rows, present.names, whole)


def columns_to_set(config: TableConfig, columns: Collection[str] | None) -> frozenset[str] | None:
    """Return the columns that a write sets besides the key, partition and ordering columns; None means all columns.
    Raises `BadInput` for an unknown column, or if the table does not support partial updates.
    """
    if columns is None:
        return None
    asked = f"write the columns {', '.join(columns) or '(none)'} alone"
    if not config.partial_update:
        exists = "the table merges whole rows, and would lose the other columns"
        raise BadInput(asked, exists, "create it with the option nbcc.partial.update.mode=SET_COLUMNS")
    unknown = [name for name in columns if name not in config.schema.names]
    if unknown:
        near = get_close_matches(unknown[0], config.schema.names, 1)
        remedy = f"did you mean {near[0]!r}" if near else "name some of these"
        raise BadInput(asked, f"the table's columns are {', '.join(config.schema.names)}", remedy)
    return frozenset(columns) - {*config.always_set}


def as_partial_upserts(data: Any, config: TableConfig, sets: frozenset[str]) -> Any:
    """Return the rows of `data` with all columns of the table; the columns that the write does not set are null. Raises
    `BadInput`.
    """
    asked, schema = "write some columns of a batch", config.schema
    rows = rows_of(data, asked)
    present = without_meta(schema_of(rows, asked))
    named = [name for name in schema.names if name in sets or name in config.always_set]
    flag = [IS_DELETED] if IS_DELETED in present.names else []
    wanted = pa.schema([*(schema.field(name) for name in named), *([_FLAG] if flag else [])])
    _refuse_unknown(present, schema.append(_FLAG), asked)
    _refuse_missing(present, named, asked)
    rows = _fitted(rows, wanted, asked, config.session_time_zone)
    return _with_all_columns(rows, wanted, schema.append(_FLAG) if flag else schema)


def as_deletes(
    data: Any,
    schema: pa.Schema,
    key: Sequence[str],
    ordering: str | None,
    zone: str | None = None,
    *,
    by_value: bool = True,
) -> Any:
    """Return delete records for the rows of `data`, which must have the columns `key` (record key and partition) and
    `ordering`.

    Columns of the table other than `key` and `ordering` may be missing from `data`, and are null in the result. Raises
    `BadInput`. `zone` and `by_value` have the same meaning as in `as_upserts`.
    """
    asked = "delete a batch of keys"
    rows = rows_of(data, asked)
    present = without_meta(schema_of(rows, asked))
    _refuse_unknown(present, schema, asked)
    _refuse_missing(present, key, asked)
    if ordering is not None and ordering not in present.names:
        raise BadInput(
            asked,
            f"it has no ordering column {ordering!r}, which decides the rows that are older than the delete",
            f"add {ordering!r}: a delete wins over the rows whose value is not greater",
        )
    wanted = [*key, *([ordering] if ordering is not None and ordering not in key else [])]
    rows = _fitted(rows, pa.schema([schema.field(name) for name in wanted]), asked, zone, by_value)
    flagged = schema if IS_DELETED in schema.names else schema.append(_FLAG)
    if isinstance(rows, pa.Table):
        return _deletes(rows, flagged)
    from .dataframes import deletes

    return deletes(rows, wanted, flagged)


def partitions_of(data: Any, config: TableConfig) -> set[str]:
    """Return the paths of the partitions that contain the rows of a batch. If the batch is a DataFrame, Spark computes
    the distinct partitions.
    """
    if not config.partition_by:
        return {""}
    if not isinstance(data, pa.Table):
        data = data.select(*config.partition_by).distinct().toArrow()
    keys = KeySpec(config.record_key, config.partition_by, config.hive_style)
    return set(one_array(partition_paths(data, keys)).to_pylist())


def named_paths(partitions: Collection[str], config: TableConfig, asked: str = "replace the partition") -> set[str]:
    """Validate partition paths given by a user, and return them as a set. Raises `BadInput` for a path that is not a
    partition of the table. `asked` names the requested operation in the error message.
    """
    named = {partitions} if isinstance(partitions, str) else set(partitions)
    keys = KeySpec(config.record_key, config.partition_by, config.hive_style)
    for path in named:
        if not isinstance(path, str) or not is_path(path, keys, config.schema):
            example = f"like {config.partition_by[0]}=…" if config.hive_style and config.partition_by else "its value"
            exists, remedy = f"the table is partitioned by {', '.join(config.partition_by)}", f"name a path, {example}"
            if not config.partition_by:
                exists, remedy = "the table has no partitions", "leave `partitions` out"
            raise BadInput(f"{asked} {path!r}", exists, remedy)
    return named


def refuse_other_rows(data: Any, jobs: Jobs) -> None:
    """Raise `BadInput` if `data` has the wrong type. A table opened with Spark accepts DataFrames; a table opened
    without Spark accepts Arrow tables.
    """
    without_spark, arrow = isinstance(jobs, InProcessJobs), isinstance(data, pa.Table)
    if without_spark and not arrow:
        remedy = "open the table with that session, or give a pyarrow Table"
        raise BadInput("write a batch", "it is not a pyarrow Table, and the table was opened without Spark", remedy)
    if arrow and not without_spark:
        remedy = "give spark.createDataFrame(rows), or open the table with None for the session"
        raise BadInput("write a batch", "it is not a Spark DataFrame, and the table was opened with Spark", remedy)


def schema_of(data: Any, asked: str) -> pa.Schema:
    """Return the Arrow schema of a pyarrow Table or a Spark DataFrame; raise `BadInput` for any other type."""
    if isinstance(data, pa.Table):
        schema = data.schema
    elif is_of("pyspark", data):
        from ..schema import from_spark

        schema = from_spark(data.schema)
    else:
        raise BadInput(
            asked,
            f"it is a {type(data).__qualname__}",
            "give a Spark DataFrame, an Arrow table or batch, or a DataFrame of pandas, polars or DuckDB",
        )
    if len(set(schema.names)) < len(schema.names):
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        raise BadInput(asked, f"it has several columns called {', '.join(twice)}", "rename or drop all but one")
    return schema


def _deletes(keys: pa.Table, schema: pa.Schema) -> pa.Table:
    known = {name: keys[name] for name in keys.column_names} | {IS_DELETED: pa.repeat(True, len(keys))}
    nullable = pa.schema([field.with_nullable(True) for field in schema])
    columns = [known.get(field.name, pa.nulls(len(keys), field.type)) for field in nullable]
    return pa.table(columns, schema=nullable)


def _refuse_unknown(present: pa.Schema, schema: pa.Schema, asked: str) -> None:
    unknown = [name for name in present.names if name not in schema.names]
    if not unknown:
        return
    near = get_close_matches(unknown[0], schema.names, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise BadInput(
        asked,
        f"the table has no column {', '.join(map(repr, unknown))}{hint}; it has {', '.join(schema.names)}",
        "rename or drop it, or add it by Table.alter_schema or by the write option mergeSchema=true",
    )


def _refuse_missing(present: pa.Schema, names: Sequence[str], asked: str) -> None:
    missing = [name for name in names if name not in present.names]
    if missing:
        raise BadInput(
            asked,
            f"it lacks {', '.join(map(repr, missing))} (it has {', '.join(present.names) or 'no columns'})",
            "add what is missing",
        )


def rows_of(data: Any, asked: str) -> Any:
    """Return `data`. A pandas DataFrame is converted to a pyarrow Table, with its index if the index has a name. So is
    what offers Arrow's C interface: batches and readers of Arrow, and DataFrames of polars and DuckDB.
    """
    if isinstance(data, pa.Table) or is_of("pyspark", data):
        return data
    if type(data).__name__ != "DataFrame" or not is_of("pandas", data):
        offers = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
        return _without_views(pa.table(data)) if offers else data
    named = any(name is not None for name in data.index.names)
    try:
        return pa.Table.from_pandas(data, preserve_index=named)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as unfit:  # mixed or unknown types
        exists = f"pyarrow cannot convert the pandas DataFrame ({unfit})"
        raise BadInput(asked, exists, "give each column values of one type") from None


def _without_views(rows: pa.Table) -> pa.Table:
    """Return the rows with plain strings and binaries: polars gives views, which few functions of Arrow take."""
    plain = {"string_view": pa.string(), "binary_view": pa.binary()}
    return rows.cast(pa.schema([field.with_type(plain.get(str(field.type), field.type)) for field in rows.schema]))


def _fitted(rows: Any, wanted: pa.Schema, asked: str, zone: str | None = None, by_value: bool = True) -> Any:
    """Return the columns of `rows` that `wanted` contains, cast to the types in `wanted` where necessary. Raises
    `BadInput` for a cast that could lose information.
    """
    arrow = isinstance(rows, pa.Table)
    present = schema_of(rows, asked)
    zone, by_value = zone if arrow else None, by_value and arrow  # Spark knows neither values nor this zone
    wrong = [field for field in wanted if not fits(present.field(field.name).type, field.type, zone, by_value=by_value)]
    if wrong:
        types = [f"{field.name!r} is {present.field(field.name).type}, the table's is {field.type}" for field in wrong]
        remedy = "cast the column to the table's type"
        if arrow and any(_is_zoneless(present.field(field.name).type, field.type) for field in wrong):
            remedy += ", or open the table with session_time_zone, the zone of timestamps without one"
        raise BadInput(asked, "; ".join(types), remedy)
    casts = {field.name for field in wanted if not same_type(present.field(field.name).type, field.type)}
    if not casts:
        return rows if list(present.names) == wanted.names else rows.select(wanted.names)
    if not arrow:
        from .dataframes import cast

        return cast(rows, casts, wanted)
    return pa.table({f.name: _column(rows, f, asked, zone) if f.name in casts else rows[f.name] for f in wanted})


def _column(rows: pa.Table, field: pa.Field, asked: str, zone: str | None) -> pa.ChunkedArray:
    try:
        return fitted(rows[field.name], field.type, zone)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as unfit:  # a bad value, or no cast between the types
        exists = f"a value of {field.name!r} does not fit into {field.type} ({unfit})"
        raise BadInput(asked, exists, "cast the column to the table's type") from None


def _is_zoneless(present: pa.DataType, wanted: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(present) and pa.types.is_timestamp(wanted) and present.tz is None)
