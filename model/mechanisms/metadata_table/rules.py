"""The metadata table: a second table that lists the files of the first one, and must agree with it (RFC-15).

An actor that publishes an instant first commits its files to the metadata table, under the same lock and in a
deltacommit with the same requested time. Then the instant completes in the data table. So the metadata table never
lacks an instant. The metadata table may have additional instants, of dead actors. Readers list files through the
metadata table instead of the store. Readers use the deltacommits whose instant is complete in the data table ("the
reconciliation of the metadata will be done by the metadata reader": RFC-22, Updating Metadata Table).

The metadata table has one writer at a time, so a deltacommit that another writer began belongs to a dead actor. A
writer rolls back the deltacommit of a dead one before it begins its own. An actor may die before its instant completes
in the data table. If the instant is applied again, its files are listed once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...kernel.table import Compaction, Write
from ...protocol import Protocol
from ...rules import Rules
from ...variants.visibility import with_pending
from ..log_compaction.rules import LogCompaction
from .options import MetadataOptions


class MetadataTable(NamedTuple):
    """Requested times of the complete deltacommits, and of those that were begun."""

    listed: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()

    def begin(self, requested: int) -> MetadataTable:
        """Begin a deltacommit: roll back an unfinished one, and remove what this instant applied earlier."""
        return MetadataTable(self.listed - {requested}, frozenset({requested}))

    def commit(self, requested: int) -> MetadataTable:
        """Complete the deltacommit, unless it was rolled back."""
        added = self.begun & {requested}
        return MetadataTable(self.listed | added, self.begun - added)


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """The rules under which a reader trusts only the metadata table: pending instants are visible."""
    return with_pending(rules) if protocol[MetadataOptions].metadata_trust == "listed" else rules


def through(published: tuple[Any, ...], listed: frozenset[int] | None) -> tuple[Any, ...]:
    """Published instants as seen by a reader that lists files through the metadata table; None: through the store.

    A write whose files are not listed has no files, and the base files of such a compaction do not exist yet.
    """
    if listed is None:
        return published
    seen = (entry if entry.requested in listed else _without_files(entry) for entry in published)
    return tuple(entry for entry in seen if entry is not None)


def _without_files(entry: Any) -> Any:
    if isinstance(entry, Write):
        return entry._replace(files=())
    return None if isinstance(entry, (Compaction, LogCompaction)) else entry
