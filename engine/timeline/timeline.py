"""The active timeline as an immutable value."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Self

from .. import html
from .index import Index, Key, completion_of
from .instant import ACTIONS, COLUMNS, COMPLETES_AS, HOME, Instant
from .restores import RestorePlan

FOLDER: Final = HOME
INDEXED: Final = f"{FOLDER}/nbcc/index_"
"""The mark of a record index has this path and the time of which the index was built. It is in the timeline folder, so
that each listing of a writer shows it. Hudi's readers ignore folders there.
"""

_WRITTEN_AS: Final = ("commit", "deltacommit", "replacecommit")
"""Completed actions of instants that add data files."""

_COMPLETED_ACTIONS: Final = sorted(ACTIONS - COMPLETES_AS.keys())


@dataclass(frozen=True)
class Timeline:
    """All instants of one listing, each in the most advanced state that the listing shows, ordered by requested time.

    `index` contains the instants, without those that a restore has undone. `begun_as` maps (requested time, completed
    action) to the pending action if the two actions differ. `begun_as` distinguishes the commit of a compaction from
    the commit of a copy-on-write writer. `lacks_archived` is True if the archive has instants that were not joined to
    this timeline. `newest_archived` is the greatest requested time in the names of the archive files. `indexed` is the
    time in the newest mark of a record index; '' if there is none. `undone` contains instants that a restore has undone
    but whose timeline files still exist. `torn` contains completed instants whose files are empty or truncated, for
    example after a power failure.
    """

    index: Index = field(default_factory=Index)
    begun_as: Mapping[tuple[str, str], str] = field(default_factory=dict)
    lacks_archived: bool = False
    newest_archived: str = ""
    indexed: str = ""
    restores: tuple[RestorePlan, ...] = ()
    undone: tuple[Instant, ...] = ()
    torn: tuple[Instant, ...] = ()

    @classmethod
    def of(cls, states: Iterable[Instant], lacks_archived: bool = False) -> Timeline:
        """Return the timeline that consists of the given instant states."""
        return cls().with_states(states, lacks_archived)

    def with_states(self, states: Iterable[Instant], lacks_archived: bool = False) -> Timeline:
        """Return this timeline with additional instant states, given in any order."""
        states = tuple(states)
        begun = {i.key: i.action for i in states if i.action in COMPLETES_AS}
        begun_as = {**self.begun_as, **begun}
        return replace(self, index=self.index.advanced(states), begun_as=begun_as, lacks_archived=lacks_archived)

    def with_archived(self, archived: Timeline) -> Timeline:
        """Return this timeline joined with the instants in the archive."""
        if not archived.instants:
            return replace(self, lacks_archived=False)
        return replace(
            archived,
            index=self.index.joined(archived.index),
            # The listing wins, because it may show a plan that the archive does not record.
            begun_as={**archived.begun_as, **self.begun_as},
            lacks_archived=False,
            restores=self.restores,
            undone=self.undone,
        )

    def without(self, keys: Container[Key]) -> Self:
        """Return this timeline without the instants with the given keys: pairs (requested time, completed action)."""
        begun_as = {key: action for key, action in self.begun_as.items() if key not in keys}
        return replace(self, index=self.index.only(lambda key: key not in keys), begun_as=begun_as)

    def without_undone(self, restores: Iterable[RestorePlan]) -> Self:
        """Return this timeline without the instants that the given restores have undone."""
        plans = tuple(restores)
        requested_times = {requested for plan in plans for requested, _ in plan.undone}
        undone = tuple(
            instant
            for instant in self.instants
            if instant.requested in requested_times and (instant.writes or instant.action == "savepoint")
        )
        keys = {instant.key for instant in undone}
        return replace(self, index=self.index.only(lambda key: key not in keys), restores=plans, undone=undone)

    @cached_property
    def instants(self) -> tuple[Instant, ...]:
        """All instants, ordered by requested time."""
        return tuple(self.index.by_key.values())

    @property
    def completed(self) -> tuple[Instant, ...]:
        """The completed instants, ordered by completion time."""
        return self.index.completed

    @cached_property
    def pending(self) -> tuple[Instant, ...]:
        """The requested and inflight instants, ordered by requested time."""
        return tuple(i for i in self.index.few if not i.completed)

    @cached_property
    def cleans(self) -> tuple[Instant, ...]:
        """The pending and completed cleans, ordered by requested time."""
        return tuple(i for i in self.index.few if i.action == "clean")

    @property
    def pending_compactions(self) -> tuple[Instant, ...]:
        """The pending compaction plans, ordered by requested time."""
        return tuple(i for i in self.pending if i.action == "compaction")

    @cached_property
    def compactions(self) -> tuple[Instant, ...]:
        """The pending and completed compactions, ordered by requested time."""
        return self._begun_as("compaction")

    @cached_property
    def log_compactions(self) -> tuple[Instant, ...]:
        """The pending and completed log compactions, ordered by requested time."""
        return self._begun_as("logcompaction")

    def _begun_as(self, action: str) -> tuple[Instant, ...]:
        keys = sorted(key for key, begun in self.begun_as.items() if begun == action)
        found = (self.index.by_key.get(key) for key in keys)
        return tuple(instant for instant in found if instant is not None)

    @cached_property
    def savepoints(self) -> tuple[Instant, ...]:
        """The completed savepoints, ordered by requested time. A savepoint has the same requested time as the instant
        that it pins.
        """
        return tuple(i for i in self.index.few if i.action == "savepoint" and i.completed)

    def is_pinned(self, time: str) -> bool:
        """Return whether a savepoint pins the table's state as of the completion time `time`."""
        pinned = (self.find(saved.requested) for saved in self.savepoints)
        return any(instant is not None and instant.completed == time for instant in pinned)

    @property
    def greatest_completion(self) -> str | None:
        """The greatest completion time on the timeline; None if no instant has completed.

        Completion times of savepoints do not count, because savepoints may be deleted. The requested time of a restore
        counts as a completion time, because no later instant can complete at or before it.
        """
        newest = next((completion_of(i) for i in reversed(self.completed) if i.action != "savepoint"), None)
        return max((*([newest] if newest else ()), *(plan.requested for plan in self.restores)), default=None)

    @cached_property
    def newest(self) -> str | None:
        """The greatest requested or completion time on the timeline, which every new instant must exceed; None for an
        empty timeline.
        """
        last = (instant.requested for instant in self.instants[-1:])
        return max((*last, *map(completion_of, self.completed[-1:])), default=None)

    def find(self, requested: str, action: str | None = None) -> Instant | None:
        """Return the instant with the given requested time and action; without an action, any instant that writes data.
        """
        wanted = _WRITTEN_AS if action is None else (COMPLETES_AS.get(action, action),)
        candidates = (self.index.by_key.get((requested, completes_as)) for completes_as in wanted)
        return next((instant for instant in candidates if instant is not None), None)

    def at(self, requested: str) -> tuple[Instant, ...]:
        """Return the instants of all actions with the given requested time."""
        found = (self.index.by_key.get((requested, action)) for action in _COMPLETED_ACTIONS)
        return tuple(instant for instant in found if instant is not None)

    def is_compaction(self, instant: Instant) -> bool:
        """Return whether the pending or completed `instant` executes a compaction plan."""
        return self.begun_as.get(instant.key) == "compaction"

    def is_log_compaction(self, instant: Instant) -> bool:
        """Return whether the pending or completed `instant` executes a log compaction plan."""
        return self.begun_as.get(instant.key) == "logcompaction"

    def is_service(self, instant: Instant) -> bool:
        """Return whether `instant` is a compaction, log compaction or clustering, which rewrites files without changing
        rows. A resize is a clustering.
        """
        clusters = self.begun_as.get(instant.key) == "clustering"
        return clusters or self.is_compaction(instant) or self.is_log_compaction(instant)

    def misses(self, before: Timeline, time: str) -> bool:
        """Return whether a write is missing from this timeline although the earlier timeline `before` shows it as
        completed at or before `time`. Writes that a restore has undone are ignored.
        """
        shown, undone = self.index.by_key, {requested for plan in self.restores for requested, _ in plan.undone}
        return any(
            instant.completed
            and instant.completed <= time
            and not ((now := shown.get(key)) and now.completed)
            and instant.requested not in undone
            and instant.writes
            for key, instant in before.index.by_key.items()
        )

    def until(self, time: str) -> Self:
        """Return the timeline as of `time`. Instants that completed after `time` appear as inflight."""
        return replace(self, index=self.index.until(time, self._reopened))

    def _reopened(self, instant: Instant) -> Instant:
        action = self.begun_as.get(instant.key, instant.action)
        return Instant(instant.requested, action, "inflight")

    def __str__(self) -> str:
        """Return a summary such as ``timeline of 3 instants, 1 of them pending, newest completion 2026…``."""
        count = f"{len(self.instants)} instant{'' if len(self.instants) == 1 else 's'}"
        pending = f", {len(self.pending)} of them pending" if self.pending else ""
        return f"timeline of {count}{pending}, newest completion {self.greatest_completion or 'none'}"

    def _repr_html_(self) -> str:
        return html.table(COLUMNS, (instant.row for instant in self.instants), str(self))
