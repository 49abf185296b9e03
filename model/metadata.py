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

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from .actions import Setting
from .conditions import at
from .step import Row
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


def listing(setting: Setting) -> Literal["", "before the data", "after the data", "before the lock"]:
    """When whoever publishes tells the metadata table; '' without one."""
    if not setting.world.metadata_table:
        return ""
    if setting.protocol.metadata_commit == "after_data":
        return "after the data"
    return "before the data" if setting.protocol.metadata_lock == "under_lock" else "before the lock"


def step_before(setting: Setting, ready: str) -> str:
    """The step to which the completion time leads: that from which it publishes, or tells the metadata table."""
    return UNLISTED if listing(setting) == "before the data" else ready


def listing_rows(
    me: str,
    setting: Setting,
    since: str,
    *,
    then: Callable[[Any], Any],
    publish: Callable[[Any], tuple[Any, Any]],
    requested: Callable[[Any], int],
    undone: Callable[[Any], int],
) -> Iterator[Row]:
    """The rows by which `me` tells the metadata table what its instant does, from the step `since` on.

    `then(own)` is what it is afterwards; the other functions are those of `publication_rows`. Where the data table was
    told first, the lock is given back with the last of them.
    """
    lock = ("lock",) if since == PUBLISHED else ()

    def begins(own: Any, metadata: MetadataTable) -> tuple[Any, ...]:
        return own._replace(step=BEGUN), metadata.begin(requested(own))

    def commits(own: Any, metadata: MetadataTable, *held: str | None) -> tuple[Any, ...]:
        back = (None if name == me else name for name in held)
        return then(own), metadata.commit(requested(own), undone(own)), *back

    begin = Row("actor_begins_metadata", me, (me, "metadata"), (me, "metadata"), (at(me, since),), begins)
    yield begin if setting.protocol.metadata_again == "applied" else _refusing(me, begin, publish, requested)
    both = (me, "metadata", *lock)
    yield Row("actor_commits_metadata", me, both, both, (at(me, BEGUN),), commits)


def _refusing(me: str, begin: Row, publish: Callable[[Any], tuple[Any, Any]], requested: Callable[[Any], int]) -> Row:
    """Whoever finds that the metadata table has its instant gives up: the data table will never have it."""

    def begins(own: Any, metadata: MetadataTable, lock: str | None) -> tuple[Any, ...]:
        if requested(own) in metadata.listed:
            return publish(own)[0], metadata, None if lock == me else lock
        return *begin.effect(own, metadata), lock

    return begin._replace(reads=(*begin.reads, "lock"), writes=(*begin.writes, "lock"), effect=begins)


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
