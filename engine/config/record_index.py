"""The record index of a table, as its properties record it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

INDEXED: Final = "record-index"
"""What a writer must support in a table with a record index: it inserts no key without a location in the index."""

GLOBAL_INDEX: Final = "GLOBAL_RECORD_LEVEL_INDEX"
TYPES: Final = {"RECORD_INDEX": GLOBAL_INDEX, GLOBAL_INDEX: GLOBAL_INDEX, "RECORD_LEVEL_INDEX": "RECORD_LEVEL_INDEX"}
"""The values of hoodie.index.type that are a record index. Hudi has two names for the one of the whole table."""

NAMES: Final = ("nbcc.record.index", "nbcc.record.index.built")


class RecordIndex(NamedTuple):
    """The record index of a table: its type, one of Hudi's, and the time at which it was built from the rows."""

    type: str
    built: str

    @property
    def in_table(self) -> bool:
        """True if a key has one partition in the whole table."""
        return self.type == GLOBAL_INDEX

    def to_properties(self) -> dict[str, str]:
        return dict(zip(NAMES, self, strict=True))


def record_index_of(values: Mapping[str, str]) -> RecordIndex | None:
    """Return the record index that the properties of a table name. Raises ValueError if its type is unknown."""
    kind, built = (values.get(name, "") for name in NAMES)
    if not kind and INDEXED not in values.get("nbcc.writer.features", "").split(","):
        return None
    if kind not in TYPES.values():
        raise ValueError(f"its {NAMES[0]} is {kind[:40]!r}, and not {' or '.join(sorted({*TYPES.values()}))}")
    return RecordIndex(kind, built)
