"""Maps each action of the model to the calls that perform it on the engine and on Apache Hudi's client: the rows of all
mechanisms (`mechanisms`).

One call of Hudi's client performs several steps of the model. With the world's option `granularity = call`, the model
executes all steps of a call atomically.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from .mechanism import MappingRow, PeerStep
from .mechanisms import mapping_rows

MAPPING: Final = tuple(mapping_rows())

STEPS: Final[Mapping[str, PeerStep]] = {row.action: row.hudi for row in MAPPING if row.hudi}
"""Action -> the step of Apache Hudi."""
IMPOSSIBLE: Final = {action: step.because for action, step in STEPS.items() if step.impossible}
"""Action that cannot be played on Apache Hudi -> the reason."""


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
