"""Detection of a ``hoodie.properties`` file that was cut short.

A cut file may still parse, as a table with other rules, another lock or none. nbcc writes the checksum last: a file of
nbcc that was cut has no valid checksum. Java writes the keys in any order; there a missing mandatory key or line end
shows the cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .concurrency import OPTION as CONCURRENCY
from .properties import CHECKSUM, decode_properties, table_checksum

MANDATORY: Final = ("hoodie.table.name", "hoodie.table.type", "hoodie.table.version")
"""Keys without which a table would be read wrongly (docs/hudi-format.md)."""

LAYOUT: Final = "hoodie.timeline.layout.version"
"""Mandatory as well, except before version 8, where its absence means layout 1."""

OWN_MANDATORY: Final = (
    "hoodie.table.recordkey.fields",
    "hoodie.table.partition.fields",
    "hoodie.record.merge.mode",
    "hoodie.table.create.schema",
    "nbcc.buckets",
    "nbcc.reader.features",
    "nbcc.writer.features",
    CONCURRENCY,
)
"""Further keys that every table of nbcc has."""


def whole_properties(data: bytes, mandatory: Sequence[str] | None = None) -> dict[str, str] | str:
    """The properties in a whole text; else what is wrong with it, as the second half of a sentence.

    `mandatory`: the keys that it must have, if not all that its kind of table must.
    """
    values = decode_properties(data)
    if lacking := [key for key in mandatory or _mandatory(values) if key not in values]:
        return f"it lacks {', '.join(lacking)}"
    if CHECKSUM not in values:
        return f"it lacks {CHECKSUM}, without which a file that was cut short looks whole"
    if values[CHECKSUM] != table_checksum(values["hoodie.table.name"], values.get("hoodie.database.name", "")):
        return f"its {CHECKSUM} is not that of its table name"
    if not data.endswith((b"\n", b"\r")):
        return "its last line has no end"
    return values


def _mandatory(values: Mapping[str, str]) -> tuple[str, ...]:
    """Any key of nbcc marks a table of nbcc, because a cut may have removed ``nbcc.format`` itself."""
    old = values.get("hoodie.table.version", "") in ("0", "1", "2", "3", "4", "5", "6", "7")
    keys = MANDATORY if old else (*MANDATORY, LAYOUT)
    own = any(key.startswith("nbcc.") for key in values)
    return (*keys, "nbcc.format", *OWN_MANDATORY) if own else keys
