"""Detects a truncated ``hoodie.properties`` file.

A truncated properties file may still be parsed, but would describe a table with different rules or a different lock.
nbcc writes the checksum last, so a truncated file that nbcc wrote has no valid checksum. Java programs write the keys
in any order, so a truncated file of a Java program may contain the checksum. For this reason, mandatory keys and the
final newline are checked too.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def whole_properties(data: bytes) -> dict[str, str] | str:
    """Return the properties in `data`. If the file is damaged, return a phrase that describes the damage."""
    values = decode_properties(data)
    if lacking := lacking_keys(values):
        return f"it lacks {', '.join(lacking)}"
    if CHECKSUM not in values:
        return f"it lacks {CHECKSUM}, without which a file that was cut short looks whole"
    if values[CHECKSUM] != table_checksum(values["hoodie.table.name"], values.get("hoodie.database.name", "")):
        return f"its {CHECKSUM} is not that of its table name"
    if not data.endswith((b"\n", b"\r")):
        return "its last line has no end"
    return values


def lacking_keys(values: Mapping[str, str]) -> list[str]:
    """Return the keys that must be present in the properties of a table, and are not."""
    old = values.get("hoodie.table.version", "") in ("0", "1", "2", "3", "4", "5", "6", "7")
    keys = MANDATORY if old else (*MANDATORY, LAYOUT)
    own = any(key.startswith("nbcc.") for key in values)
    needed = (*keys, "nbcc.format", *OWN_MANDATORY) if own else keys
    return [key for key in needed if key not in values]
