"""The active timeline as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from .. import html
from .instant import COLUMNS, COMPLETES_AS, HOME, Instant
from .restores import RestorePlan

FOLDER: Final = HOME

_ADVANCE: Final = {"requested": 0, "inflight": 1, "completed": 2}
_WRITTEN_AS: Final = ("commit", "deltacommit", "replacecommit")
"""What an action that adds data files completes as."""


@dataclass(frozen=True)
class Timeline:
    """All instants of one listing, each in the highest state seen, ordered by requested time.

    `begun_as` remembers under which action a completed instant was pending, where that differs: it tells the commit
    of a compaction from that of a copy-on-write writer. `archived`: some instants have left for the archive. What
    `restores` have undone is not among the instants; what is left of it there, in whatever state, is in `undone`.
    `torn`: completed instants whose files are empty or cut short, as a power cut may leave them.
    """

    instants: tuple[Instant, ...] = ()
    begun_as: Mapping[tuple[str, str], str] = field(default_factory=dict)
    archived: bool = False
    restores: tuple[RestorePlan, ...] = ()
    undone: tuple[Instant, ...] = ()
    torn: tuple[Instant, ...] = ()

    @classmethod
    def of(cls, seen: Iterable[Instant], archived: bool = False) -> Timeline:
        """The timeline that these states of instants add up to."""
        return cls().grown(seen, archived)

    def grown(self, seen: Iterable[Instant], archived: bool = False) -> Timeline:
        """The timeline of a listing that shows these states, too, in any order."""
        highest, begun_as = dict(self._highest), dict(self.begun_as)
        last, rising = next(reversed(highest), ("", "")), True
        for instant in seen:
            action = instant.action
            key = (instant.requested, COMPLETES_AS.get(action, action))
            if action in COMPLETES_AS:
                begun_as[key] = action
            known = highest.get(key)
            if known is None:
                last, rising = key, rising and key > last
                highest[key] = instant
            elif _supersedes(instant, known):
                highest[key] = instant
        if not rising:
            highest = {key: highest[key] for key in sorted(highest)}
        timeline = replace(self, instants=tuple(highest.values()), begun_as=begun_as, archived=archived)
        vars(timeline)["_highest"] = highest  # what it would come to by itself
        return timeline

    def joined(self, archived: Iterable[Instant]) -> Timeline:
        """The timeline with what has left it for the archive: nothing is out of sight then."""
        seen = tuple(archived)
        if not seen:
            return replace(self, archived=False)
        begun = (Instant(requested, action, "requested") for (requested, _), action in self.begun_as.items())
        whole = Timeline.of((*seen, *begun, *self.instants))
        return replace(whole, restores=self.restores, undone=self.undone)

    def without_undone(self, restores: Iterable[RestorePlan]) -> Timeline:
        """The timeline as these restores leave it."""
        plans = tuple(restores)
        gone = {requested for plan in plans for requested, _ in plan.undone}

        def is_undone(instant: Instant) -> bool:
            return instant.requested in gone and (instant.writes or instant.action == "savepoint")

        left = tuple(instant for instant in self.instants if not is_undone(instant))
        return replace(self, instants=left, restores=plans, undone=tuple(i for i in self.instants if is_undone(i)))

    @cached_property
    def completed(self) -> tuple[Instant, ...]:
        """Completed instants in the order of their completion."""
        return tuple(sorted((i for i in self.instants if i.completed), key=completion_of))

    @cached_property
    def pending(self) -> tuple[Instant, ...]:
        """Requested and inflight instants by requested time."""
        return tuple(i for i in self.instants if not i.completed)

    @property
    def pending_compactions(self) -> tuple[Instant, ...]:
        """Plans that have not completed."""
        return tuple(i for i in self.pending if i.action == "compaction")

    @cached_property
    def savepoints(self) -> tuple[Instant, ...]:
        """Completed savepoints by requested time, which is that of the instant that each pins."""
        return tuple(i for i in self.instants if i.action == "savepoint" and i.completed)

    def is_pinned(self, time: str) -> bool:
        """Whether a savepoint keeps what a read as of that completion time opens."""
        pinned = (self.find(saved.requested) for saved in self.savepoints)
        return any(instant is not None and instant.completed == time for instant in pinned)

    @property
    def greatest_completion(self) -> str | None:
        """The newest completion time, None if nothing has completed. A savepoint, which may be dropped, does not count;
        the request of a restore does: nothing completes at or before it any more.
        """
        completed = (i.completed for i in self.instants if i.completed and i.action != "savepoint")
        return max((*completed, *(plan.requested for plan in self.restores)), default=None)

    @cached_property
    def newest(self) -> str | None:
        """The greatest time of any kind: what a clock must not go before. None on an empty timeline."""
        last = [instant.requested for instant in self.instants[-1:]]
        return max((*last, *(i.completed for i in self.instants if i.completed)), default=None)

    def completed_before(self, time: str) -> tuple[Instant, ...]:
        """Instants with a completion strictly before `time`: what a plan with that barrier may take."""
        return tuple(i for i in self.completed if completion_of(i) < time)

    def find(self, requested: str, action: str | None = None) -> Instant | None:
        """The instant requested then, among those that write data or of the action named."""
        wanted = _WRITTEN_AS if action is None else (COMPLETES_AS.get(action, action),)
        found = (self._highest.get((requested, completes_as)) for completes_as in wanted)
        return next((instant for instant in found if instant is not None), None)

    def is_compaction(self, instant: Instant) -> bool:
        """Whether `instant`, pending or completed, carries out a compaction plan."""
        return self.begun_as.get((instant.requested, instant.completes_as)) == "compaction"

    def is_log_compaction(self, instant: Instant) -> bool:
        """Whether `instant`, pending or completed, carries out the plan of a log compaction."""
        return self.begun_as.get((instant.requested, instant.completes_as)) == "logcompaction"

    def is_service(self, instant: Instant) -> bool:
        """Whether `instant` rewrites files and changes no row."""
        return self.is_compaction(instant) or self.is_log_compaction(instant)

    def misses(self, before: Timeline, time: str) -> bool:
        """Whether an earlier listing has shown a write complete by `time` that this misses, and not by a restore."""
        there, undone = self._highest, {requested for plan in self.restores for requested, _ in plan.undone}
        return any(
            instant.completed
            and instant.completed <= time
            and not ((now := there.get(key)) and now.completed)
            and instant.requested not in undone
            and instant.writes
            for key, instant in before._highest.items()
        )

    def until(self, time: str) -> Timeline:
        """The timeline without what completed after `time`: those instants count as inflight."""
        return replace(
            self, instants=tuple(self._reopened(i) if i.completed and i.completed > time else i for i in self.instants)
        )

    def _reopened(self, instant: Instant) -> Instant:
        action = self.begun_as.get((instant.requested, instant.completes_as), instant.action)
        return Instant(instant.requested, action, "inflight")

    def __str__(self) -> str:
        """``timeline of 3 instants, 1 of them pending, newest completion 2026…``."""
        count = f"{len(self.instants)} instant{'' if len(self.instants) == 1 else 's'}"
        pending = f", {len(self.pending)} of them pending" if self.pending else ""
        return f"timeline of {count}{pending}, newest completion {self.greatest_completion or 'none'}"

    def _repr_html_(self) -> str:
        return html.table(COLUMNS, (instant.row for instant in self.instants), str(self))

    @cached_property
    def _highest(self) -> dict[tuple[str, str], Instant]:
        """The instants by their requested time and the action that they complete as, in their order."""
        return {(instant.requested, instant.completes_as): instant for instant in self.instants}


def _supersedes(instant: Instant, known: Instant) -> bool:
    """Whether a state of an instant counts rather than another. Of two alike, which nobody should have put, the first
    by name does, so that it does not matter in which order they are seen."""
    advance = _ADVANCE[instant.state] - _ADVANCE[known.state]
    return advance > 0 or (advance == 0 and instant.file_name < known.file_name)


def completion_of(instant: Instant) -> str:
    """The completion time of an instant that is known to be completed."""
    assert instant.completed is not None, f"{instant} is pending"
    return instant.completed
