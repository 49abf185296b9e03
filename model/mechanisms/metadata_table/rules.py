"""The metadata table: a second table that lists the files of the first one, and must agree with it (RFC-15).

An actor that publishes an instant first commits its files to the metadata table, under the same lock, in a deltacommit
of the same requested time. Then the instant completes in the data table. So the metadata table is never behind; it is
ahead by what a dead actor has left. Readers list files through it instead of the store. They use those of its
deltacommits whose instant is complete in the data table ("the reconciliation of the metadata will be done by the
metadata reader": RFC-22, Updating Metadata Table).

It has one writer at a time, so a deltacommit that a writer finds begun belongs to a dead actor. The writer rolls it
back before it begins its own. An instant that is applied twice, because its actor died before it completed in the data
table, is in it once.
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
    """Requested times: of the deltacommits that are complete, and of those that were begun."""

    listed: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()

    def begin(self, requested: int) -> MetadataTable:
        """Begin a deltacommit: roll back one that was begun, and remove what this instant applied earlier."""
        return MetadataTable(self.listed - {requested}, frozenset({requested}))

    def commit(self, requested: int) -> MetadataTable:
        """Complete the deltacommit, unless it was rolled back."""
        added = self.begun & {requested}
        return MetadataTable(self.listed | added, self.begun - added)


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """The rules under which a reader trusts only the metadata table: pending instants are visible."""
    return with_pending(rules) if protocol[MetadataOptions].metadata_trust == "listed" else rules


def through(published: tuple[Any, ...], listed: frozenset[int] | None) -> tuple[Any, ...]:
    """Published instants as a reader sees them that lists files through the metadata table; None: through the store.

    A write whose files are not listed has none, and a compaction's base files are not there yet.
    """
    if listed is None:
        return published
    seen = (entry if entry.requested in listed else _without_files(entry) for entry in published)
    return tuple(entry for entry in seen if entry is not None)


def _without_files(entry: Any) -> Any:
    if isinstance(entry, Write):
        return entry._replace(files=())
    return None if isinstance(entry, (Compaction, LogCompaction)) else entry
