"""The table of docs/change-rows.md: which anomaly each verb can show in each mode, and the steps of a shortest run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from nbcc.model import Protocol
from nbcc.model.promises.isolation import ANOMALIES
from nbcc.simulator.search.verdicts.isolation import SKEWED, UPDATES, anomalies_in, shortest

from .markdown import table

PAGE: Final = Path(__file__).parents[1] / "docs" / "change-rows.md"
MODES: Final = {"NBCC": "nbcc", "OCC": "occ"}
FIRST: Final = "| anomaly |"
BLIND: Final = {("w1", 1): (), ("w2", 1): ()}
"""The reads of two writers that read nothing."""
VERBS: Final[Mapping[str, Sequence[Mapping[str, Any]]]] = {
    "`upsert`, `delete(keys)`": ({"reads": BLIND},),
    "`update`, `merge`": (
        {"condition_updates": 2}, {"condition_updates": 1}, {"condition_deletes": 1, "condition_updates": 1},
    ),
    "`delete(where=)`": (
        {"condition_deletes": 2}, {"condition_deletes": 1}, {"condition_deletes": 1, "condition_updates": 1},
    ),
}  # fmt: skip
"""Verb of `Table` -> what the worlds have in which it runs concurrently with the same verb, and with others."""


def anomalies_of_verb(verb: str, concurrency: str) -> dict[str, int]:
    """Map each anomaly that a write by `verb` can show under a concurrency mode to the length of a shortest run. The
    other writer runs the same verb, or another.
    """
    shapes: tuple[dict[str, Any], ...] = ({}, {"partitions": 2, "writes": SKEWED.writes})
    worlds = [UPDATES.replace(**shape, **limits) for limits in VERBS[verb] for shape in shapes]
    return shortest([anomalies_in(world, Protocol(concurrency=concurrency)) for world in worlds])


def anomaly_table() -> list[str]:
    """Return the lines of the table. A number is the length of a shortest run in steps."""
    columns = {f"{verb}, {mode}": anomalies_of_verb(verb, value) for verb in VERBS for mode, value in MODES.items()}
    rows = [[name, *(found.get(name, "–") for found in columns.values())] for name in ANOMALIES]
    return list(table(["anomaly", *columns], rows))


def page() -> str:
    """Return the page with the table as it is today."""
    text = PAGE.read_text("utf-8")
    begin = text.index(FIRST)
    end = text.index("\n\n", begin)
    return text[:begin] + "\n".join(anomaly_table()) + text[end:]
