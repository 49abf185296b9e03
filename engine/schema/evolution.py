"""Checks that a change to a table's columns is permitted. Files written before a change of the columns are read under
the new schema.

An added column must be nullable, because older files do not contain it. After a column is dropped, readers ignore the
column in older files. A column's type may change only to a wider type. Columns may be reordered. Key, partition and
ordering columns must not change, because file groups and the order of records depend on their values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import pyarrow as pa

from ..errors import BadInput

ASKED: Final = "change the columns of the table"

WIDER: Final = frozenset(
    {(pa.int32(), pa.int64()), (pa.int32(), pa.float64()), (pa.float32(), pa.float64())}
)  # fmt: skip
"""(old, new) types, where the new type contains every value of the old one. Avro permits the same promotions."""


def check_evolution(versions: Iterable[pa.Schema], new: pa.Schema, fixed: Collection[str]) -> None:
    """Raise `BadInput` unless a table with these schema `versions` (oldest first) may change its columns to `new`.

    `fixed` contains the names of columns that must not change.
    """
    *_, old = schemas = tuple(versions)
    for name in fixed:
        if name not in new.names or not new.field(name).equals(old.field(name)):
            now = f"{new.field(name).type}" if name in new.names else "gone"
            raise _refused(
                f"{name!r} is a key, partition or ordering column, and would be {now}",
                "leave it as it is, or copy the rows into a new table",
            )
    before = {name for schema in schemas for name in schema.names}
    for field in new:
        if field.name in old.names:
            _check_change(old.field(field.name), field)
        elif field.name in before:
            raise _refused(
                f"the table had a column {field.name!r} before, whose values are still in older files",
                "take another name",
            )
        elif not field.nullable:
            raise _refused(
                f"{field.name!r} is new and must not be null, and older rows have no value in it", "let it be nullable"
            )


def _check_change(old: pa.Field, new: pa.Field) -> None:
    if not old.type.equals(new.type) and (old.type, new.type) not in WIDER:
        grows = ", ".join(f"{a} into {b}" for a, b in sorted(WIDER, key=str))
        raise _refused(
            f"{old.name!r} is {old.type}, and not every value of that is one of {new.type}",
            f"types may grow ({grows}); for any other add a column",
        )
    if old.nullable and not new.nullable:
        raise _refused(f"{old.name!r} may be null in the rows that are there", "let it be nullable")


def _refused(exists: str, remedy: str) -> BadInput:
    return BadInput(ASKED, exists, remedy)
