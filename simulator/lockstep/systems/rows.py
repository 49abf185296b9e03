"""Converts rows between the cross-check's format and the format of the engine's tables."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from nbcc.engine.config import TableConfig
from nbcc.engine.config.table_config import RESIZED, WRITER_FEATURES
from nbcc.model import Protocol, Query, World
from nbcc.model.mechanisms.copy_on_write import is_copy_on_write
from nbcc.model.mechanisms.merge_function import MergeFunction
from nbcc.model.mechanisms.partial_updates import PartialColumns, column_names, text_of

from ...observables import Batch, records_in
from ..control.clock import tick_of
from .indexed import has_new_keys, partition_of, record_index
from .merge_functions import name_of
from .resized import first_buckets, is_resized

SCHEMA: Final = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.string())])
_FLAG: Final = pa.field("_hoodie_is_deleted", pa.bool_())
_SETS: Final = "nbcc_set_columns"


def schema_of(world: World, added: int = 0) -> pa.Schema:
    """Return the table's schema, including ``added`` columns of schema evolution. In worlds with partial updates, the
    schema has several data columns instead of ``value``.
    """
    if not world[PartialColumns].columns:
        return pa.schema([*SCHEMA, *(pa.field(name, pa.string()) for name in _added(added))])
    # Without partitions ``part`` would be one more column that a write sets or not.
    always = [SCHEMA.field(name) for name in ("id", *(["part"] if world.partitions > 1 else []), "ts")]
    return pa.schema([*always, *(pa.field(name, pa.string()) for name in column_names(world))])


def table_config(world: World, protocol: Protocol | None = None) -> TableConfig:
    """Return the engine's table configuration for a world: record key ``id``, ordering column ``ts``, and data column
    ``value``.

    In worlds with a merge function, the table has no ordering column, and the protocol's option `merge_laws` selects
    the function.
    """
    function = name_of((protocol or Protocol())[MergeFunction].merge_laws) if world.custom else ""
    return TableConfig(
        name="simulated",
        schema=schema_of(world),
        record_key=("id",),
        ordering=None if world.custom else "ts",
        partition_by=("part",) if is_partitioned(world) else (),
        buckets=1 if has_new_keys(world) else first_buckets(world),
        writer_features=WRITER_FEATURES | ({RESIZED} if is_resized(world) else set()),
        merge_mode="COMMIT_TIME_ORDERING" if world.merge_mode == "CUSTOM" else world.merge_mode,
        table_type="COPY_ON_WRITE" if is_copy_on_write(world) else "MERGE_ON_READ",
        hive_style=False,
        partial_update=world[PartialColumns].columns > 0,
        merge_function=function,
        allowed_function=function,
        record_index=record_index(world, protocol or Protocol()),
    )


def _added(columns: int) -> list[str]:
    return [f"c{number}" for number in range(1, columns + 1)]


def is_partitioned(world: World) -> bool:
    return world.partitions > 1 or has_new_keys(world)


def partition_name(number: int) -> str:
    """Return the partition column's value for a partition number."""
    return f"p{number}"


def to_table(batch: Batch, world: World, added: int = 0) -> pa.Table:
    """Return the rows of a write as an Arrow table, with a column that marks deletes. ``added`` is the number of
    columns that schema evolution has added.
    """
    rows = [
        {
            "id": key,
            "part": partition_name(partition_of(group, batch, world)),
            "ts": record.ordering,
            **dict.fromkeys(record.sets if world[PartialColumns].columns else ("value", *_added(added)), record.value),
            "_hoodie_is_deleted": record.deleted,
        }
        for (group, _), records in sorted(batch.items())
        for key, entry in records.items()
        for record in records_in(entry)
    ]
    return pa.Table.from_pylist(rows, schema=schema_of(world, added).append(_FLAG))


def columns_set(batch: Batch, world: World) -> tuple[str, ...] | None:
    """Return the columns that a write sets, or None if the write sets all columns."""
    records = (record for file in batch.values() for entry in file.values() for record in records_in(entry))
    sets = {name for record in records for name in record.sets}
    return tuple(sorted(sets)) if 0 < len(sets) < world[PartialColumns].columns else None


def is_rolled(batch: Batch) -> bool:
    """True if a write creates several log files in one file group. The engine then starts a new log after each row."""
    return any(version > 1 for _, version in batch)


def from_rows(rows: list[dict[str, Any]], query: Query) -> tuple[Any, ...]:
    """Convert the engine's answer to the sorted tuples that `canonical_rows` returns for the model's answer."""
    if query.kind == "changes":
        return tuple(sorted(_change(row) for row in rows))
    return tuple(sorted((_row(row) for row in rows), key=lambda row: (row[0], row[3], row[2] is None)))


def _row(row: dict[str, Any]) -> tuple[Any, ...]:
    value = None if row.get("_hoodie_is_deleted") else _value(row)
    return (row["_hoodie_record_key"], row["ts"], value, tick_of(row["_hoodie_commit_time"]))


def _value(row: dict[str, Any]) -> Any:
    if "value" in row:
        added = [name for name in _added(len(row)) if name in row]
        return " ".join([row["value"], *(f"{name}:{row[name] or '-'}" for name in added)])
    known = {*SCHEMA.names, "_hoodie_is_deleted", _SETS}
    names = (name for name in sorted(row) if name not in known and not name.startswith("_hoodie_"))
    return text_of({name: row[name] for name in names if row[name] is not None})


def _change(row: dict[str, Any]) -> tuple[Any, ...]:
    before, after = row["before"], row["after"]
    cells = [None if part is None else (part["ts"], _value(part)) for part in (before, after)]
    return ((before or after)["id"], row["op"], *cells)
