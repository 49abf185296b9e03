"""Defines the values of the metadata table (RFC-15), and the rules by which a reader lists files through it."""

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
        deltacommit of the same instant listed.
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
    """Return the published instants that a reader sees through the metadata table or the store. If `listed` is None,
    the reader lists files through the store; otherwise it lists files through the metadata table.

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
