"""The metadata table as a component, and the steps by which whoever publishes tells it what it has done.

Its rows are among those by which each kind of actor publishes (`publication_rows`); a table without one has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..machine.transition import Action, Transition
from ..mechanisms.metadata_table import MetadataTable
from . import Setting

ACTIONS = (
    Action("actor_begins_metadata", "begins a deltacommit of its instant in the metadata table, and rolls back what it "
           "finds begun", "{actor} begins to list its files in the metadata table", joins=True),
    Action("actor_commits_metadata", "completes that deltacommit: its files are listed", "{actor} has listed its files",
           joins=True),
)  # fmt: skip
"""No service's: where the data table is told first, a write becomes visible with it."""


def components(setting: Setting) -> dict[str, Any]:
    return {"metadata": MetadataTable()} if setting.world.metadata_table else {}


def transitions(setting: Setting) -> Iterator[Transition]:
    """None of its own."""
    yield from ()
