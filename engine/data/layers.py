"""Data classes for the input and output of a merge: the records of each file as a layer, the merge rule, and the
winning records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import pyarrow as pa

from .columns import COMMIT_TIME, PARTITION_PATH, RECORD_KEY

EVENT_TIME: Final = "EVENT_TIME_ORDERING"
COMMIT_TIME_ORDERING: Final = "COMMIT_TIME_ORDERING"

Fold = Literal["rank", "logs_first"]


class Layer(NamedTuple):
    """A merge layer, which contains the records of a base file or log block: `rows` in the reader's schema, `deletes`
    in the schema `delete_schema`.

    `base` is True for the base file and its tombstone logs. `kept` is True only for the tombstone logs. If the rows are
    partial updates, `sets` contains the updated columns; otherwise `sets` is None.
    """

    rows: pa.Table
    deletes: pa.Table
    base: bool = False
    kept: bool = False
    sets: frozenset[str] | None = None


class Merged(NamedTuple):
    """The result of a merge: the winning row or delete of each key.

    With a merge function or partial updates, the result may contain both a row and a delete of a key. In an incremental
    query of partial updates, the result may contain several rows of a key; `sets` contains the columns that each row
    sets.
    """

    rows: pa.Table
    deletes: pa.Table
    sets: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class MergeRule:
    """The rule by which the records of a key are merged.

    `mode` is EVENT_TIME_ORDERING or COMMIT_TIME_ORDERING. `ordering` is the ordering column; None means that the table
    has no ordering column and merges by commit time. If `fold` is `rank`, all records of a key are ranked in one step.
    If `fold` is `logs_first`, the logs are merged with each other, and then the result is merged with the base file.
    `partial` is True if a record may set only some columns. `always` contains the columns that every record sets: key,
    partition and ordering columns. `function` is the user function (``package.module:function``) that merges two rows;
    if `function` is empty, `mode` determines which row wins.
    """

    mode: str = EVENT_TIME
    ordering: str | None = None
    fold: Fold = "rank"
    partial: bool = False
    always: tuple[str, ...] = ()
    function: str = ""

    @property
    def ranked_by(self) -> str | None:
        """The ordering column if the merge compares ordering values, otherwise None."""
        return self.ordering if self.mode == EVENT_TIME else None


def delete_schema(ordering: pa.Field | None) -> pa.Schema:
    """Return the schema of the deletes of a merge layer: requested time, record key, partition path and ordering value.
    """
    names = [pa.field(name, pa.string()) for name in (COMMIT_TIME, RECORD_KEY, PARTITION_PATH)]
    return pa.schema(names if ordering is None else [*names, ordering.with_nullable(True)])


def is_ordering_type(kind: pa.DataType) -> bool:
    """Return True if all Hudi readers order values of the type `kind` identically, and deletes can store such values.

    Floating-point columns (NaN has no order), decimals (deletes store rescaled decimals), booleans and binaries are not
    allowed as ordering columns.
    """
    return bool(
        pa.types.is_int32(kind)
        or pa.types.is_int64(kind)
        or pa.types.is_date32(kind)
        or (pa.types.is_timestamp(kind) and kind.tz is not None)
        or pa.types.is_string(kind)
    )
