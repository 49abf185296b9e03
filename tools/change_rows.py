"""The table of docs/change-rows.md: which anomaly each verb can show in each mode, and the steps of a shortest run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nbcc.model.promises.isolation import ANOMALIES
from nbcc.simulator.search.verdicts.isolation import VERBS, anomalies_of_verb

from .markdown import table

PAGE: Final = Path(__file__).parents[1] / "docs" / "change-rows.md"
MODES: Final = {"NBCC": "nbcc", "OCC": "occ"}
FIRST: Final = "| anomaly |"


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
