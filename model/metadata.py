"""The metadata table: a second table that says which files the first one has, and must agree with it (RFC-15).

Whoever publishes an instant first commits, under the same lock, what it has put or taken away to the metadata table, in
a deltacommit of the same requested time; then the instant completes in the data table. So the metadata table is never
behind, and ahead by what a dead actor has left. Readers list files through it instead of the store, and of its
deltacommits believe those alone whose instant is complete in the data table ("the reconciliation of the metadata will
be done by the metadata reader": RFC-22, Updating Metadata Table).

There is one writer at a time, and what it finds begun is a dead one's: it rolls that back before it begins its own. An
instant that is applied twice, because who had applied it died before the data table knew, is in it once.

`metadata_commit`: after_data, the instant completes first, and the metadata table is told afterwards. `metadata_lock`:
outside_lock, it is told before the lock is taken, so that two may do so at once. `metadata_again`: refused, an instant
that it has already is an error. What a reader does otherwise is `metadata_read`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .table import Compaction, LogCompaction, Write

UNLISTED = "about to list its files"
BEGUN = "listing its files"
TOLD = "sure that its files are listed"
PUBLISHED = "published, its files not listed"


class MetadataTable(NamedTuple):
    """Requested times: of the deltacommits that are complete, and of those that were begun."""

    listed: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()

    def begin(self, requested: int) -> MetadataTable:
        """A deltacommit begins: what another had begun is rolled back, what this instant had applied goes."""
        return MetadataTable(self.listed - {requested}, frozenset({requested}))

    def commit(self, requested: int, undone: int) -> MetadataTable:
        """It completes, if nobody has rolled it back; the files of the write `undone` (0: none) are out of it."""
        added = self.begun & {requested}
        return MetadataTable((self.listed | added) - {undone}, self.begun - added)


def through(published: tuple[Any, ...], listed: frozenset[int] | None) -> tuple[Any, ...]:
    """Published instants as they look to whoever lists files through the metadata table; None: to who lists the store.

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
