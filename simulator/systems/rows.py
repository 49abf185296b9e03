"""Between the cross-check's plain rows and the engine's tables: batches in, answers out."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from nbcc.engine.config import TableConfig
from nbcc.model import Query, World

from ..control.clock import tick_of
from ..crosscheck.observables import Batch

SCHEMA: Final = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.string())])
_FLAGGED: Final = SCHEMA.append(pa.field("_hoodie_is_deleted", pa.bool_()))


def table_config(world: World) -> TableConfig:
    """The engine's table for a world: key ``id``, ordering ``ts``, ``value`` names the write that made the row."""
    return TableConfig(
        name="simulated",
        schema=SCHEMA,
        record_key=("id",),
        ordering="ts",
        partition_by=("part",) if world.partitions > 1 else (),
        buckets=world.buckets,
        merge_mode=world.merge_mode,
        table_type=world.table_type,
        hive_style=False,
    )


def partition_name(number: int) -> str:
    """The partition value of a number; names sort as the numbers do."""
    return f"p{number}"


def to_table(batch: Batch, world: World) -> pa.Table:
    """The rows of a write, by file group and log version; deletes are marked."""
    rows = [
        {
            "id": key,
            "part": partition_name(group // world.buckets),
            "ts": record.ordering,
            "value": record.value,
            "_hoodie_is_deleted": record.deleted,
        }
        for (group, _), records in sorted(batch.items())
        for key, record in records.items()
    ]
    return pa.Table.from_pylist(rows, schema=_FLAGGED)


def is_rolled(batch: Batch) -> bool:
    """Whether the log has to be rolled after each row for the batch to become the files that it names."""
    return any(version > 1 for _, version in batch)


def from_rows(rows: list[dict[str, Any]], query: Query) -> tuple[Any, ...]:
    """The engine's answer as `nbcc.simulator.crosscheck.observables.canonical_rows` gives the model's."""
    if query.kind == "changes":
        return tuple(sorted(_change(row) for row in rows))
    return tuple(sorted(_row(row) for row in rows))


def _row(row: dict[str, Any]) -> tuple[Any, ...]:
    value = None if row.get("_hoodie_is_deleted") else row["value"]
    return (row["_hoodie_record_key"], row["ts"], value, tick_of(row["_hoodie_commit_time"]))


def _change(row: dict[str, Any]) -> tuple[Any, ...]:
    before, after = row["before"], row["after"]
    cells = [None if part is None else (part["ts"], part["value"]) for part in (before, after)]
    return ((before or after)["id"], row["op"], *cells)
