"""Input and output of a merge: the records of a file group in layers, the merge rule, and the winning records."""

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

    `base` is True if the layer ranks before all logs. `kept` is True if a compaction wrote the records of the layer in
    addition to the base file. `sets` are the columns that the rows of a partial update set; None means all columns.
    """

    rows: pa.Table
    deletes: pa.Table
    base: bool = False
    kept: bool = False
    sets: frozenset[str] | None = None


class Merged(NamedTuple):
    """The result of a merge: for each key the winning row or delete.

    With a merge function or partial updates, the result may contain both a row and the last or greatest delete of a
    key. In a window of partial updates, the result may contain several rows of a key; `sets` are the columns that each
    row sets.
    """

    rows: pa.Table
    deletes: pa.Table
    sets: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class MergeRule:
    """The rule by which the records of a key are merged.

    `mode` is EVENT_TIME_ORDERING or COMMIT_TIME_ORDERING. `ordering` is the ordering column; None means that the table
    has no ordering column, and merges in commit time. `fold` is the order of the merge, `rank` or `logs_first`. `rank`
    compares all records of a key; `logs_first` compares the records of logs, and then their winner with the base file's
    record. `partial` is True if a record may set only some of the columns. `always` lists the columns that every record
    sets: key, partition and ordering. `function` is the `package.module:function` that merges two rows; if it is empty,
    one of the two rows wins.
    """

    mode: str = EVENT_TIME
    ordering: str | None = None
    fold: Fold = "rank"
    partial: bool = False
    always: tuple[str, ...] = ()
    function: str = ""

    @property
    def ranked_by(self) -> str | None:
        """The ordering column if the merge compares ordering values; otherwise None."""
        return self.ordering if self.mode == EVENT_TIME else None


def delete_schema(ordering: pa.Field | None) -> pa.Schema:
    """Return the columns of the deletes of a layer: requested time of the delete, key, partition path and ordering
    value.
    """
    names = [pa.field(name, pa.string()) for name in (COMMIT_TIME, RECORD_KEY, PARTITION_PATH)]
    return pa.schema(names if ordering is None else [*names, ordering.with_nullable(True)])


def is_ordering_type(kind: pa.DataType) -> bool:
    """Return True if all readers order values of this type in the same way, and deletes can store values of this type.

    The function returns False for floating point (NaN is not ordered), decimals (deletes store rescaled decimals),
    booleans and binaries.
    """
    return bool(
        pa.types.is_int32(kind)
        or pa.types.is_int64(kind)
        or pa.types.is_date32(kind)
        or (pa.types.is_timestamp(kind) and kind.tz is not None)
        or pa.types.is_string(kind)
    )
