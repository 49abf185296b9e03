"""Defines the content of the metadata table (RFC-15), and how readers list files through it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...kernel.table import Compaction, Write
from ...protocol import Protocol
from ...rules import Rules
from ...variants.visibility import with_pending
from ..log_compaction.rules import LogCompaction
from .options import MetadataOptions


class MetadataTable(NamedTuple):
    """The content of the metadata table: the requested times of its completed deltacommits (`listed`) and pending
    deltacommits (`begun`).
    """

    listed: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()

    def begin(self, requested: int) -> MetadataTable:
        """Begin a deltacommit with the given requested time in the metadata table. Roll back any pending deltacommit.
        Remove any completed deltacommit with the given requested time.
        """
        return MetadataTable(self.listed - {requested}, frozenset({requested}))

    def commit(self, requested: int) -> MetadataTable:
        """Complete the deltacommit requested at `requested`, unless it has been rolled back."""
        added = self.begun & {requested}
        return MetadataTable(self.listed | added, self.begun - added)


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for readers that trust only the metadata table, and therefore also see pending instants."""
    return with_pending(rules) if protocol[MetadataOptions].metadata_trust == "listed" else rules


def through(published: tuple[Any, ...], listed: frozenset[int] | None) -> tuple[Any, ...]:
    """Return the published instants as a reader sees them through the metadata table. `listed` contains the instants in
    the metadata table; None if the reader does not use the metadata table.

    If a write is not in the metadata table, the reader sees none of its files. Compactions that are not in the metadata
    table are omitted.
    """
    if listed is None:
        return published
    seen = (entry if entry.requested in listed else _without_files(entry) for entry in published)
    return tuple(entry for entry in seen if entry is not None)


def _without_files(entry: Any) -> Any:
    if isinstance(entry, Write):
        return entry._replace(files=())
    return None if isinstance(entry, (Compaction, LogCompaction)) else entry
