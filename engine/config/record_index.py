"""The record index of a table, as its properties record it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

INDEXED: Final = "record-index"
"""What a writer must support in a table with a record index: it inserts no key without a location in the index."""

GLOBAL_INDEX: Final = "GLOBAL_RECORD_LEVEL_INDEX"
TYPES: Final = {"RECORD_INDEX": GLOBAL_INDEX, GLOBAL_INDEX: GLOBAL_INDEX, "RECORD_LEVEL_INDEX": "RECORD_LEVEL_INDEX"}
"""The values of hoodie.index.type that are a record index. Hudi has two names for the one of the whole table."""

NAMES: Final = ("nbcc.record.index", "nbcc.record.index.built", "nbcc.record.index.inserts")

UPDATES_ONLY: Final = "updates_only"
MOVED: Final = "moved"
INSERTS: Final = (UPDATES_ONLY, MOVED)
"""Which writes insert a key that the index lacks, by the names of the model's option `inserts`. updates_only: a bulk
insert alone. moved: every write; one that finds the key in another partition under the lock moves its record there.
"""


class RecordIndex(NamedTuple):
    """The record index of a table: its type, one of Hudi's, the time at which it was built from the rows, and which
    writes insert keys.
    """

    type: str
    built: str
    inserts: str = UPDATES_ONLY

    @property
    def in_table(self) -> bool:
        """True if a key has one partition in the whole table."""
        return self.type == GLOBAL_INDEX

    def to_properties(self) -> dict[str, str]:
        return dict(zip(NAMES, self, strict=True))


def record_index_of(values: Mapping[str, str]) -> RecordIndex | None:
    """Return the record index that the properties of a table name. Raises ValueError for an unknown value."""
    kind, built, inserts = (values.get(name, "") for name in NAMES)
    if not kind and INDEXED not in values.get("nbcc.writer.features", "").split(","):
        return None
    if kind not in TYPES.values():
        raise ValueError(f"its {NAMES[0]} is {kind[:40]!r}, and not {' or '.join(sorted({*TYPES.values()}))}")
    if (inserts := inserts or UPDATES_ONLY) not in INSERTS:
        raise ValueError(f"its {NAMES[2]} is {inserts[:40]!r}, and not {' or '.join(INSERTS)}")
    return RecordIndex(kind, built, inserts)
