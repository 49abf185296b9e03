"""Chooses the announced instants that the next entry of the decision log decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..clock import to_instant, to_millis
from ..context import Context
from ..errors import BadInput, Conflict
from ..timeline import Instant, completion_of
from ..timeline.announcements import Announced, Announcement, Bucket
from ..timeline.decisions import Decision, LogEntry
from ..timeline.history import Active
from ..timeline.restores import ACTION as RESTORE
from ..timeline.restores import decode_restore_plan, encode_restore_plan
from ..timeline.savepoints import ACTION as SAVEPOINT
from .commit_protocol import undone_conflict
from .conflicts import conflict_with, found_conflict, shared_places
from .idempotency import Repeated, repeated
from .restoring import plan_restore, refuse_lost, refuse_newer


def decided_on(timeline: Active, name: Announced) -> Instant | None:
    """Return the instant of an announcement on the timeline. A restore has a later time than its announcement, and
    decides each restore that was announced before its time.
    """
    if is_restore(name):
        since = (each for each in timeline.instants if each.action == RESTORE and each.requested >= name.requested)
        return min(since, key=lambda each: each.requested, default=None)
    return timeline.find(name.requested, name.action)


def is_restore(name: Announced) -> bool:
    return name.is_plan and name.action == RESTORE


@dataclass
class Candidates:
    """The instants that the entry after `tail` decides. `timeline` was listed after `tail` was read; `loaded` has the
    announcements that must be checked. `floor` is the floor of the entry, at least that of the tail. `final` has the
    writes that the timeline alone forbids, whether or not the entry comes to be.

    The items are in the order in which they were considered, and each has an odd completion time. Requested times of
    announced writes are even, so that the two are never equal. An entry has at most one plan or savepoint.
    """

    context: Context
    tail: LogEntry
    timeline: Active
    loaded: Mapping[Announced, Announcement | None]
    floor: str = ""
    items: list[Decision] = field(default_factory=list)
    garbage: list[Announced] = field(default_factory=list)
    refused: dict[Announced, Conflict] = field(default_factory=dict)
    final: set[Announced] = field(default_factory=set)
    _plan: Decision | None = None
    _undone: frozenset[str] = frozenset()
    _millis: int = 0
    _batches: dict[str, Instant] = field(default_factory=dict)
    _buckets: list[tuple[Instant, set[Bucket]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # A floor never falls: an archiver relies on it for instants that it has already deleted.
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

    def order(self, name: Announced) -> tuple[bool, bool, bool]:
        """Return the order in which names are considered. A restore comes first: it undoes all pending instants. Then
        comes a bulk insert: what completes after it in the same entry is merged onto its base files. A write is
        committed rather than rolled back, so other plans come last.
        """
        announcement = self.loaded.get(name)
        has_bases = announcement is not None and announcement.footprint is not None and announcement.footprint.bases
        return not is_restore(name), name.is_plan, not has_bases

    def consider(self, name: Announced) -> None:
        """Decide the announced instant, unless it is decided already or must not be. Plans are considered last."""
        if self.tail.decides(name) is not None:
            return  # its author deletes the announcement, or the author of a later entry
        there = decided_on(self.timeline, name)
        is_decided = there is not None and (name.is_plan or there.completed is not None)
        if is_decided or (not name.is_plan and self._is_archived(name)):
            self.garbage.append(name)
            return
        announcement = self.loaded.get(name)
        if (name.is_checked and announcement is None) or name.requested in self._undone:
            return  # deleted since the listing; or a later round finds it undone
        if announcement is not None and (name.is_plan or name.action == SAVEPOINT):
            self._consider_exclusive(name, announcement)
            return
        refusal = undone_conflict(self.context, self.timeline, name.requested, name.action)
        if refusal is None and announcement is not None:
            refusal = self._refusal(announcement)
        if refusal is not None:
            self.final.add(name)
        elif announcement is not None:
            refusal = self._rival(announcement)
        if refusal is not None:
            self.refused[name] = refusal
        elif self._is_in_time(name):
            self._add(name, announcement)

    def _consider_exclusive(self, name: Announced, announcement: Announcement) -> None:
        if is_restore(name):
            self._consider_restore(name, announcement)
        elif name.is_plan:
            self._consider_plan(name, announcement)
        else:
            self._consider_savepoint(name, announcement)

    def _consider_plan(self, name: Announced, plan: Announcement) -> None:
        """Decide a plan if no other plan was decided since the entry from which it was made: the two might take the
        same files. A rollback also must not undo what is committed, and no archiver may have passed the plan's time.
        """
        undone = self.timeline.find(plan.undoes) if plan.undoes else None
        committed = (undone is not None and undone.completed) or any(i.requested == plan.undoes for i in self.items)
        is_passed = name.requested <= self.floor
        if plan.planned_from < self.tail.planned or is_passed or (committed and plan.undoes):
            because = "its write is committed" if committed else "another plan or an archiver was faster"
            self._refuse(name, Conflict(f"put the plan {name.requested}", because, "make a new plan"))
        elif self._plan is None:
            self._plan = Decision(
                self.number, "plan", name.requested, name.action, name.requested, announced=name
            )
            self.items.append(self._plan)

    def _consider_restore(self, name: Announced, asked: Announcement) -> None:
        """Decide a restore, unless its savepoint was deleted, or a newer one was made. The timeline shows all that has
        completed before the time that the tail reserves, and nothing else completes before this entry.
        """
        savepoint = decode_restore_plan(asked.data, name.requested).savepoint
        saved = next((each for each in self.timeline.savepoints if each.requested == savepoint), None)
        try:
            if saved is None:
                raise BadInput(f"restore the savepoint {savepoint}", "it was deleted", "restore another savepoint")
            refuse_newer(self.timeline, saved)
            refuse_lost(self.context, self.timeline, saved)
        except BadInput as refusal:
            self._refuse(name, Conflict(refusal.asked, refusal.exists, refusal.remedy))
            return
        time = self.tail.plan_time(RESTORE)
        plan = plan_restore(self.context, self.timeline, saved, time)
        self._undone = frozenset(requested for requested, _ in plan.undone)
        self._plan = Decision(self.number, "plan", time, RESTORE, time, encode_restore_plan(plan), name)
        self.items.append(self._plan)

    def _consider_savepoint(self, name: Announced, savepoint: Announcement) -> None:
        """Decide a savepoint, unless a plan was decided since the entry from which it was made: a clean or a restore
        may delete its files. An archiver must not have passed its instant.
        """
        pinned = (each for each in self.timeline.at(name.requested) if each.writes and each.completed)
        is_there = any(completion_of(each) > self.floor for each in pinned)
        if savepoint.planned_from < self.tail.planned or not is_there:
            because = "its instant was undone or archived, or another plan was faster"
            self._refuse(name, Conflict(f"make a savepoint of {name.requested}", because, "make it again"))
        elif self._plan is None:
            self._plan = self._add(name, savepoint)

    def _refuse(self, name: Announced, because: Conflict) -> None:
        self.garbage.append(name)  # for good: no later entry decides it
        self.refused[name] = because

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
        """Return why an instant of the timeline forbids a write."""
        batch_id, footprint, requested = announcement.batch_id, announcement.footprint, announcement.name.requested
        if batch_id is not None and (there := repeated(self.context, self.timeline, batch_id)):
            return there
        return None if footprint is None else found_conflict(self.context, requested, footprint, self.timeline)

    def _rival(self, announcement: Announcement) -> Conflict | None:
        """Return why an earlier item of this entry forbids a write."""
        batch_id, footprint, requested = announcement.batch_id, announcement.footprint, announcement.name.requested
        if batch_id is not None and batch_id in self._batches:
            return Repeated(batch_id, self._batches[batch_id])
        if footprint is None:
            return None
        compared = ((instant, shared_places(footprint, buckets)) for instant, buckets in self._buckets)
        return next((conflict_with(requested, instant, shared) for instant, shared in compared if shared), None)

    def _add(self, name: Announced, announcement: Announcement | None) -> Decision:
        completed = to_instant(self._next_millis(to_millis(name.requested) + 1))
        item = Decision(self.number, "commit", name.requested, name.action, completed, announced=name)
        self.items.append(item)
        if announcement is not None and announcement.batch_id is not None:
            self._batches[announcement.batch_id] = item.instant
        if announcement is not None and announcement.footprint is not None:
            self._buckets.append((item.instant, {*announcement.footprint.buckets, *announcement.footprint.bases}))
        return item

    def _next_millis(self, least: int = 0) -> int:
        """Return the next odd number of milliseconds. The first one is read from the clock, which the tail's time and
        the considered requests have advanced: it exceeds all times of earlier entries.
        """
        first = to_millis(self.context.clock.read()) if not self._millis else 0
        # `| 1` makes a time odd, and steps of two keep it odd.
        self._millis = max(self._millis + 2, first | 1, least | 1)
        return self._millis
