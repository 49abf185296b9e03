"""What is merged and by which rule: the records of a file group, file by file, and what has won."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import pyarrow as pa

from .columns import COMMIT_TIME, PARTITION_PATH, RECORD_KEY

EVENT_TIME: Final = "EVENT_TIME_ORDERING"
COMMIT_TIME_ORDERING: Final = "COMMIT_TIME_ORDERING"

Fold = Literal["rank", "logs_first"]


class Layer(NamedTuple):
    """One file's records: `rows` in the reader's schema, `deletes` with the columns of `delete_schema`.

    `base`: it ranks before all logs. `kept`: a compaction kept these records next to its base file. `sets`: for partial
    updates, the columns that its rows set; None means all.
    """

    rows: pa.Table
    deletes: pa.Table
    base: bool = False
    kept: bool = False
    sets: frozenset[str] | None = None


class Merged(NamedTuple):
    """What won of each key: a row or a delete. By a function: its row and the last delete. Of partial updates: the row
    and the greatest delete, if there are; in windows several rows, of which each sets the columns in `sets`."""

    rows: pa.Table
    deletes: pa.Table
    sets: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class MergeRule:
    """mode      EVENT_TIME_ORDERING or COMMIT_TIME_ORDERING
    ordering  the column of ordering values, None if the table has none (then event time is commit time)
    fold      rank: all records of a key at once; logs_first: logs among themselves, their winner then meets the base
    partial   each record sets some columns; `always` are those that every record has: key, partition, ordering
    function  `package.module:function` that merges two rows; empty: one of them wins
    """

    mode: str = EVENT_TIME
    ordering: str | None = None
    fold: Fold = "rank"
    partial: bool = False
    always: tuple[str, ...] = ()
    function: str = ""

    @property
    def ranked_by(self) -> str | None:
        """The ordering column if it has a say."""
        return self.ordering if self.mode == EVENT_TIME else None


def delete_schema(ordering: pa.Field | None) -> pa.Schema:
    """Columns of a layer's deletes: who deleted (requested instant), which key, where, and with what ordering value."""
    names = [pa.field(name, pa.string()) for name in (COMMIT_TIME, RECORD_KEY, PARTITION_PATH)]
    return pa.schema(names if ordering is None else [*names, ordering.with_nullable(True)])


def is_ordering_type(kind: pa.DataType) -> bool:
    """Whether all readers order the values of this type alike, and deletes can carry them.

    Not so: floating point (NaN has no place in an order), decimals (deletes carry them rescaled), booleans, bytes.
    """
    return bool(
        pa.types.is_int32(kind)
        or pa.types.is_int64(kind)
        or pa.types.is_date32(kind)
        or (pa.types.is_timestamp(kind) and kind.tz is not None)
        or pa.types.is_string(kind)
    )
