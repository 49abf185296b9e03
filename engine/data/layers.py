"""Input and output of a merge: the records of a file group in layers, the rule, and the winning records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import pyarrow as pa

from .columns import COMMIT_TIME, PARTITION_PATH, RECORD_KEY

EVENT_TIME: Final = "EVENT_TIME_ORDERING"
COMMIT_TIME_ORDERING: Final = "COMMIT_TIME_ORDERING"

Fold = Literal["rank", "logs_first"]


class Layer(NamedTuple):
    """The records of a base file or log block: `rows` in the reader's schema, `deletes` in the schema `delete_schema`.

    `base`: whether the layer ranks before all logs. `kept`: whether a compaction wrote these records next to its base
    file. `sets`: for partial updates, the columns that the rows set; None means all.
    """

    rows: pa.Table
    deletes: pa.Table
    base: bool = False
    kept: bool = False
    sets: frozenset[str] | None = None


class Merged(NamedTuple):
    """The result of a merge: for each key the winning row or delete.

    With a merge function or partial updates a key may have both its row and its last or greatest delete. In a window of
    partial updates a key may have several rows; `sets` are the columns that each row sets.
    """

    rows: pa.Table
    deletes: pa.Table
    sets: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class MergeRule:
    """How the records of a key are merged.

    `mode`: EVENT_TIME_ORDERING or COMMIT_TIME_ORDERING. `ordering`: The ordering column. None: the table has none, and
    event time equals commit time. `fold`: `rank` compares all records of a key. `logs_first` compares the records of
    logs, then their winner with the base. `partial`: Whether records set some columns only. `always`: The columns that
    every record sets: key, partition and ordering. `function`: The `package.module:function` that merges two rows;
    empty: one of them wins.
    """

    mode: str = EVENT_TIME
    ordering: str | None = None
    fold: Fold = "rank"
    partial: bool = False
    always: tuple[str, ...] = ()
    function: str = ""

    @property
    def ranked_by(self) -> str | None:
        """The ordering column if the merge compares it, else None."""
        return self.ordering if self.mode == EVENT_TIME else None


def delete_schema(ordering: pa.Field | None) -> pa.Schema:
    """Columns of the deletes of a layer: requested time of the delete, key, partition path and ordering value."""
    names = [pa.field(name, pa.string()) for name in (COMMIT_TIME, RECORD_KEY, PARTITION_PATH)]
    return pa.schema(names if ordering is None else [*names, ordering.with_nullable(True)])


def is_ordering_type(kind: pa.DataType) -> bool:
    """Whether all readers order values of this type equally, and deletes can store them.

    Excluded are floating point (NaN is not ordered), decimals (deletes store them rescaled), booleans and binaries.
    """
    return bool(
        pa.types.is_int32(kind)
        or pa.types.is_int64(kind)
        or pa.types.is_date32(kind)
        or (pa.types.is_timestamp(kind) and kind.tz is not None)
        or pa.types.is_string(kind)
    )
