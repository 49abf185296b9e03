"""Maps each action of the model to the engine calls that perform it: the rows of all mechanisms (`mechanisms`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..mechanism import MappingRow
from ..mechanisms import mapping_rows

MAPPING: Final = tuple(mapping_rows())


def by_action(rows: Iterable[MappingRow]) -> dict[str, MappingRow]:
    """Return the rows as a dictionary from each row's action to the row.

    Raises:
        ValueError: If two of the given rows have the same action.
    """
    table: dict[str, MappingRow] = {}
    for row in rows:
        if row.action in table:
            raise ValueError(f"the mapping has two rows for {row.action}")
        table[row.action] = row
    return table
