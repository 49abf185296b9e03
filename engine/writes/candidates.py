"""Chooses the announced instants that the next entry of the decision log decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..clock import to_instant, to_millis
from ..context import Context
from ..errors import Conflict
from ..timeline import Instant
from ..timeline.announcements import Announced, Announcement, Bucket
from ..timeline.decisions import Decision, LogEntry
from ..timeline.history import Active
from .commit_protocol import undone_conflict
from .conflicts import conflict_with, found_conflict, shared_places
from .idempotency import Repeated, repeated


@dataclass
class Candidates:
    """The instants that the entry after `tail` decides. `timeline` was listed after `tail` was read; `loaded` has the
    announcements that must be checked. `floor` is the floor of the entry, at least that of the tail.

    The items are in the order in which they were considered, and each has an odd completion time. Requested times of
    announced writes are even, so that the two are never equal. An entry has at most one plan.
    """

    context: Context
    tail: LogEntry
    timeline: Active
    loaded: Mapping[Announced, Announcement | None]
    floor: str = ""
    items: list[Decision] = field(default_factory=list)
    garbage: list[Announced] = field(default_factory=list)
    refused: dict[Announced, Conflict] = field(default_factory=dict)
    _plan: Decision | None = None
    _millis: int = 0
    _batches: dict[str, Instant] = field(default_factory=dict)
    _buckets: list[tuple[Instant, set[Bucket]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.floor = max(self.floor, self.tail.floor)

    @property
    def number(self) -> int:
        """The number of the entry."""
        return self.tail.number + 1

    def entry(self) -> LogEntry:
        """Return the entry. A plan comes first: its time was reserved by an earlier entry."""
        reserved = to_instant(self._next_millis())
        planned = self.tail.planned if self._plan is None else self.number
        items = tuple(sorted(self.items, key=lambda item: item.time))
        return LogEntry(self.number, items, reserved, planned, self.floor, self.tail.decision)

    def order(self, name: Announced) -> tuple[bool, bool]:
        """Return the order in which names are considered. A bulk insert comes first: what completes after it in the
        same entry is merged onto its base files. A write is committed rather than rolled back, so plans come last.
        """
        announcement = self.loaded.get(name)
        has_bases = announcement is not None and announcement.footprint is not None and announcement.footprint.bases
        return name.is_plan, not has_bases

    def consider(self, name: Announced) -> None:
        """Decide the announced instant, unless it is decided already or must not be. Plans are considered last."""
        if self.tail.decides(name) is not None:
            return  # its author deletes the announcement, or the author of a later entry
        there = self.timeline.find(name.requested, name.action)
        if there is not None and (name.is_plan or there.completed is not None):
            self.garbage.append(name)
            return
        if not name.is_plan and self._is_archived(name):
            self.garbage.append(name)
            return
        announcement = self.loaded.get(name)
        if name.is_checked and announcement is None:
            return  # deleted since the listing
        if name.is_plan and announcement is not None:
            self._consider_plan(name, announcement)
            return
        refusal = undone_conflict(self.context, self.timeline, name.requested, name.action)
        if refusal is None and announcement is not None:
            refusal = self._refusal(announcement)
        if refusal is not None:
            self.refused[name] = refusal
        elif self._is_in_time(name):
            self._add(name, announcement)

    def _consider_plan(self, name: Announced, plan: Announcement) -> None:
        """Decide a plan if no other plan was decided since the entry from which it was made: the two might take the
        same files. A rollback also must not undo what is committed, and no archiver may have passed the plan's time.
        """
        undone = self.timeline.find(plan.undoes) if plan.undoes else None
        committed = (undone is not None and undone.completed) or any(i.requested == plan.undoes for i in self.items)
        is_passed = name.requested <= self.floor
        if plan.planned_from < self.tail.planned or is_passed or (committed and plan.undoes):
            self.garbage.append(name)  # for good: neither is ever undone
            self.refused[name] = Conflict(
                f"put the plan {name.requested}",
                "its write is committed" if committed else "another plan or an archiver was faster",
                "make a new plan",
            )
        elif self._plan is None:
            self._plan = Decision(
                self.number, "plan", name.requested, name.action, name.requested, announced=name
            )
            self.items.append(self._plan)

    def _is_archived(self, name: Announced) -> bool:
        """Return whether an archiver has archived an instant. The listing may show its pending state and miss its
        completed one, if both were deleted meanwhile. The archive is only read for a request that is not above the
        floor.
        """
        if name.requested > self.floor:
            return False
        archived = self.context.commits.history(self.timeline).archived
        return archived is not None and archived.find(name.requested, name.action) is not None

    def _is_in_time(self, name: Announced) -> bool:
        """Return whether the requested time is not in the future, which would drag all later times along."""
        try:
            self.context.clock.not_before(name.requested)
        except Conflict:
            return False
        return True

    def _refusal(self, announcement: Announcement) -> Conflict | None:
        batch_id, footprint, requested = announcement.batch_id, announcement.footprint, announcement.name.requested
        if batch_id is not None:
            if batch_id in self._batches:
                return Repeated(batch_id, self._batches[batch_id])
            if there := repeated(self.context, self.timeline, batch_id):
                return there
        if footprint is None:
            return None
        for instant, buckets in self._buckets:
            if shared := shared_places(footprint, buckets):
                return conflict_with(requested, instant, shared)
        return found_conflict(self.context, requested, footprint, self.timeline)

    def _add(self, name: Announced, announcement: Announcement | None) -> None:
        completed = to_instant(self._next_millis(to_millis(name.requested) + 1))
        item = Decision(self.number, "commit", name.requested, name.action, completed, announced=name)
        self.items.append(item)
        if announcement is not None and announcement.batch_id is not None:
            self._batches[announcement.batch_id] = item.instant
        if announcement is not None and announcement.footprint is not None:
            self._buckets.append((item.instant, {*announcement.footprint.buckets, *announcement.footprint.bases}))

    def _next_millis(self, least: int = 0) -> int:
        """Return the next odd number of milliseconds. The first one is read from the clock, which the tail's time and
        the considered requests have advanced: it exceeds all times of earlier entries.
        """
        first = to_millis(self.context.clock.read()) if not self._millis else 0
        self._millis = max(self._millis + 2, first | 1, least | 1)
        return self._millis
