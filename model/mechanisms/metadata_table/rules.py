"""The metadata table: a second table that lists the files of the data table, and must agree with the data table
(RFC-15).

An actor that publishes an instant first commits its files to the metadata table. The commit to the metadata table is a
deltacommit with the requested time of the instant, under the lock that covers publication. After the commit to the
metadata table, the instant completes in the data table. Therefore the metadata table contains every completed instant
of the data table. The metadata table may also contain instants of dead actors. Readers list files through the metadata
table instead of the store. Readers use only deltacommits whose instant is complete in the data table. RFC-22, "Updating
Metadata Table", says that "the reconciliation of the metadata will be done by the metadata reader".

The metadata table has one writer at a time, so a deltacommit that another writer began belongs to a dead actor. A
writer rolls back the deltacommit of a dead actor before it begins its own deltacommit. An actor may die before its
instant completes in the data table. If the instant of a dead actor is applied a second time, the metadata table lists
its files once.
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
    """The requested times of the complete deltacommits (`listed`), and of the pending deltacommits (`begun`)."""

    listed: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()

    def begin(self, requested: int) -> MetadataTable:
        """Begin a deltacommit. Roll back an unfinished deltacommit of any actor, and remove files that an earlier
        deltacommit of this instant listed.
        """
        return MetadataTable(self.listed - {requested}, frozenset({requested}))

    def commit(self, requested: int) -> MetadataTable:
        """Complete the deltacommit with this requested time, unless it was rolled back."""
        added = self.begun & {requested}
        return MetadataTable(self.listed | added, self.begun - added)


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules of a reader that trusts only the metadata table: pending instants are visible."""
    return with_pending(rules) if protocol[MetadataOptions].metadata_trust == "listed" else rules


def through(published: tuple[Any, ...], listed: frozenset[int] | None) -> tuple[Any, ...]:
    """Return the published instants that a reader sees. If `listed` is None, the reader lists files through the store,
    otherwise through the metadata table.

    The result shows a write without files if the metadata table does not list the files of the write. The result omits
    a compaction whose files are not listed.
    """
    if listed is None:
        return published
    seen = (entry if entry.requested in listed else _without_files(entry) for entry in published)
    return tuple(entry for entry in seen if entry is not None)


def _without_files(entry: Any) -> Any:
    if isinstance(entry, Write):
        return entry._replace(files=())
    return None if isinstance(entry, (Compaction, LogCompaction)) else entry
