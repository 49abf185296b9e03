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
from .kernel.lock import released
from .machine.transition import Changes, Choice, Effect, Transition, given, transition
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


class Telling(NamedTuple):
    """An actor that tells the metadata table what its instant does; the fields are those of `publication`."""

    me: str
    setting: Setting
    publish: Callable[[Any], tuple[Any, Any]]
    requested: str
    undone: str


def listing_transitions(tells: Telling, since: str, *, then: Effect) -> Iterator[Transition]:
    """The transitions by which an actor tells the metadata table, from the step `since` on.

    `then` is the effect on the actor when it has done so. If the data table was told first, the last of them releases
    the lock.
    """
    begin = given(begin_listing, field=tells.requested)
    begins = transition("actor_begins_metadata", tells.me, at=since, effect=begin, changes=("own", "metadata"))
    if tells.setting.protocol.metadata_again == "refused":
        known = given(is_listed, field=tells.requested)
        gives_up = (given(give_up_listing, publish=tells.publish),)
        begins = transition("actor_begins_metadata", tells.me, at=since, changes=("own", "metadata", "lock"),
                            effect=Choice(known, gives_up, (begin,)))  # fmt: skip
    yield begins
    commit = given(commit_listing, field=tells.requested, undone=tells.undone)
    commits = transition("actor_commits_metadata", tells.me, at=BEGUN, effect=commit, changes=("own", "metadata"))
    commits = commits.extend(then)
    yield commits.extend(release_after_listing, "lock") if since == PUBLISHED else commits


def begin_listing(own: Any, metadata: MetadataTable, field: str) -> Changes:
    """Begin a deltacommit of the instant in the metadata table, and roll back what is found begun there."""
    return {"own": own._replace(step=BEGUN), "metadata": metadata.begin(getattr(own, field))}


def commit_listing(own: Any, metadata: MetadataTable, field: str, undone: str) -> Changes:
    """Complete that deltacommit: the files are listed."""
    return {"metadata": metadata.commit(getattr(own, field), getattr(own, undone) if undone else 0)}


def release_after_listing(lock: str | None, me: str) -> Changes:
    return {"lock": released(lock, me)}


def is_listed(own: Any, metadata: MetadataTable, field: str) -> bool:
    """Whether the metadata table has the instant already (`metadata_again = refused`: an error)."""
    return getattr(own, field) in metadata.listed


def give_up_listing(own: Any, me: str, lock: str | None, publish: Callable[[Any], tuple[Any, Any]]) -> Changes:
    """The actor gives up: the data table will never have its instant."""
    return {"own": publish(own)[0], "lock": released(lock, me)}


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
