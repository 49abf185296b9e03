"""The active timeline as an immutable value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from .. import html
from .instant import ACTIONS, COLUMNS, COMPLETES_AS, HOME, Instant
from .restores import RestorePlan

FOLDER: Final = HOME

_ADVANCE: Final = {"requested": 0, "inflight": 1, "completed": 2}
Key = tuple[str, str]
"""Requested time and completed action, which identify an instant."""

_MANY: Final = ("commit", "deltacommit")
_WRITTEN_AS: Final = ("commit", "deltacommit", "replacecommit")
"""Completed actions of instants that add data files."""

_COMPLETED_ACTIONS: Final = sorted(ACTIONS - COMPLETES_AS.keys())


@dataclass(frozen=True)
class Timeline:
    """All instants of one listing, each in the most advanced state that the listing shows, ordered by requested time.

    `begun_as` maps (requested time, completed action) to the pending action if the two actions differ. `begun_as`
    distinguishes the commit of a compaction from the commit of a copy-on-write writer. `archived` is True if some
    instants are in the archive. `newest_archived` is the greatest requested time in the names of the archive files.
    `instants` omits the instants undone by a restore. `undone` contains instants that a restore has undone but whose
    timeline files still exist. `torn` contains completed instants whose files are empty or truncated, for example after
    a power failure.
    """

    instants: tuple[Instant, ...] = ()
    begun_as: Mapping[tuple[str, str], str] = field(default_factory=dict)
    archived: bool = False
    newest_archived: str = ""
    restores: tuple[RestorePlan, ...] = ()
    undone: tuple[Instant, ...] = ()
    torn: tuple[Instant, ...] = ()

    @classmethod
    def of(cls, states: Iterable[Instant], archived: bool = False) -> Timeline:
        """Return the timeline that consists of the given instant states."""
        return cls().with_states(states, archived)

    def with_states(self, states: Iterable[Instant], archived: bool = False) -> Timeline:
        """Return this timeline with additional instant states, given in any order."""
        highest, begun_as = dict(self._highest), dict(self.begun_as)
        added, ended, is_renamed = dict[Key, Instant](), list[Instant](), False
        for instant in states:
            action = instant.action
            key = (instant.requested, COMPLETES_AS.get(action, action))
            if action in COMPLETES_AS:
                begun_as[key] = action
            home = highest if key in highest else added
            other = home.get(key)
            if other is not None and not _supersedes(instant, other):
                continue
            is_renamed = is_renamed or (other is not None and other.state == "completed")
            home[key] = instant
            if instant.completed:
                ended.append(instant)
        _insert(highest, added)
        timeline = replace(self, instants=tuple(highest.values()), begun_as=begun_as, archived=archived)
        vars(timeline)["_highest"] = highest  # fill the cached properties, which would compute the same
        if "completed" in vars(self) and not is_renamed:
            vars(timeline)["completed"] = _with_ended(self.completed, ended)
        return timeline

    def with_archived(self, archived: Timeline) -> Timeline:
        """Return this timeline joined with the instants in the archive."""
        if not archived.instants:
            return replace(self, archived=False)
        _ = archived.completed  # computed once for all timelines that are joined with this one
        whole = archived.with_states(self.instants)
        begun_as = {**whole.begun_as, **self.begun_as}
        joined = replace(whole, begun_as=begun_as, restores=self.restores, undone=self.undone)
        vars(joined).update({"_highest": whole._highest, "completed": whole.completed, "parts": (self, archived)})
        return joined

    @property
    def parts(self) -> tuple[Timeline, Timeline] | None:
        """The listed and the archived timeline from which `with_archived` made this one; None for other timelines."""
        parts: tuple[Timeline, Timeline] | None = vars(self).get("parts")
        return parts

    def without(self, keys: Container[Key]) -> Timeline:
        """Return this timeline without the instants with the given keys: pairs (requested time, completed action)."""
        left = tuple(instant for key, instant in self._highest.items() if key not in keys)
        return replace(self, instants=left, begun_as={k: v for k, v in self.begun_as.items() if k not in keys})

    def without_undone(self, restores: Iterable[RestorePlan]) -> Timeline:
        """Return this timeline without the instants that the given restores have undone."""
        plans = tuple(restores)
        requested_times = {requested for plan in plans for requested, _ in plan.undone}

        def is_undone(instant: Instant) -> bool:
            return instant.requested in requested_times and (instant.writes or instant.action == "savepoint")

        left = tuple(instant for instant in self.instants if not is_undone(instant))
        return replace(self, instants=left, restores=plans, undone=tuple(i for i in self.instants if is_undone(i)))

    @cached_property
    def completed(self) -> tuple[Instant, ...]:
        """The completed instants, ordered by completion time."""
        return tuple(sorted((i for i in self.instants if i.completed), key=_order))

    @cached_property
    def pending(self) -> tuple[Instant, ...]:
        """The requested and inflight instants, ordered by requested time."""
        return tuple(i for i in self._few if not i.completed)

    @cached_property
    def cleans(self) -> tuple[Instant, ...]:
        """The pending and completed cleans, ordered by requested time."""
        return tuple(i for i in self._few if i.action == "clean")

    @cached_property
    def _few(self) -> tuple[Instant, ...]:
        """All instants but the completed commits and delta commits, which make up nearly all of a long history."""
        if self.parts is None:
            return tuple(i for i in self.instants if not (i.completed and i.action in _MANY))
        keys = sorted({i.key for part in self.parts for i in part._few})
        return tuple(i for i in map(self._highest.__getitem__, keys) if not (i.completed and i.action in _MANY))

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
        found = (self._highest.get(key) for key in keys)
        return tuple(instant for instant in found if instant is not None)

    @cached_property
    def savepoints(self) -> tuple[Instant, ...]:
        """The completed savepoints, ordered by requested time. A savepoint has the same requested time as the instant
        that it pins.
        """
        return tuple(i for i in self._few if i.action == "savepoint" and i.completed)

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
        candidates = (self._highest.get((requested, completes_as)) for completes_as in wanted)
        return next((instant for instant in candidates if instant is not None), None)

    def at(self, requested: str) -> tuple[Instant, ...]:
        """Return the instants of all actions with the given requested time."""
        found = (self._highest.get((requested, action)) for action in _COMPLETED_ACTIONS)
        return tuple(instant for instant in found if instant is not None)

    def is_compaction(self, instant: Instant) -> bool:
        """Return whether the pending or completed `instant` executes a compaction plan."""
        return self.begun_as.get(instant.key) == "compaction"

    def is_log_compaction(self, instant: Instant) -> bool:
        """Return whether the pending or completed `instant` executes a log compaction plan."""
        return self.begun_as.get(instant.key) == "logcompaction"

    def is_service(self, instant: Instant) -> bool:
        """Return whether `instant` is a compaction or log compaction, which rewrites files without changing rows."""
        return self.is_compaction(instant) or self.is_log_compaction(instant)

    def misses(self, before: Timeline, time: str) -> bool:
        """Return whether a write is missing from this timeline although the earlier timeline `before` shows it as
        completed at or before `time`. Writes that a restore has undone are ignored.
        """
        present, undone = self._highest, {requested for plan in self.restores for requested, _ in plan.undone}
        return any(
            instant.completed
            and instant.completed <= time
            and not ((now := present.get(key)) and now.completed)
            and instant.requested not in undone
            and instant.writes
            for key, instant in before._highest.items()
        )

    def until(self, time: str) -> Timeline:
        """Return the timeline as of `time`. Instants that completed after `time` appear as inflight."""
        return replace(
            self, instants=tuple(self._reopened(i) if i.completed and i.completed > time else i for i in self.instants)
        )

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

    @cached_property
    def _highest(self) -> dict[Key, Instant]:
        """Map each pair (requested time, completed action) to its instant, ordered by requested time."""
        return {instant.key: instant for instant in self.instants}


def _supersedes(instant: Instant, other: Instant) -> bool:
    """Return whether `instant` should replace `other`, a less advanced state of the same instant.

    If two files represent the same state, the alphabetically first file name is used, regardless of the listing order.
    """
    advance = _ADVANCE[instant.state] - _ADVANCE[other.state]
    return advance > 0 or (advance == 0 and instant.file_name < other.file_name)


def _insert(highest: dict[Key, Instant], added: dict[Key, Instant]) -> None:
    """Add instants to those of a timeline, ordered by key. Only the instants after the first added one are moved, so a
    long history is not sorted again.
    """
    first = min(added, default=None)
    while first is not None and highest and next(reversed(highest)) > first:
        key, instant = highest.popitem()
        added[key] = instant
    highest.update((key, added[key]) for key in sorted(added))


def _with_ended(known: tuple[Instant, ...], ended: Iterable[Instant]) -> tuple[Instant, ...]:
    """Return the completed instants `known`, which are ordered by completion time, and `ended` in the same order.
    Instants that end are newer than nearly all of `known`, so a long history is not sorted again.
    """
    added = sorted(ended, key=_order)
    first = bisect_left(known, _order(added[0]), key=_order) if added else len(known)
    return (*known[:first], *sorted((*known[first:], *added), key=_order))


def _order(instant: Instant) -> tuple[str, Key]:
    return completion_of(instant), instant.key


def completion_of(instant: Instant) -> str:
    """Return the completion time of an instant that is known to be completed."""
    assert instant.completed is not None, f"{instant} is pending"
    return instant.completed
