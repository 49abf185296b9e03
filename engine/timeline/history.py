"""The history of a table, and the three views of it. A function states by the type of its timeline which instants it
needs, so that mypy refuses a view that lacks some of them.

`Active`: the instants of one listing. It shows every pending instant and the newest completed ones.

`Current`: the active and archived instants, but not the retired ones (`services.retirement`): those archived ones whose
files are only in slices older than the newest clean. They are nearly all instants of a long history, so a long-lived
service neither decodes their commits nor keeps them in memory. It also lacks a retired instant that the listing still
shows, because the archiver has not deleted its file yet. No service misses it: no plan needs the files of a retired
instant. If the table has been restored, `Current` equals `Whole`, because a restore changes which files are live.

`Whole`: also the retired instants, and so every instant that has ever completed and that no restore has undone. Since
it contains `Current`, it may be used in its place.

    operation                    view                because
    read, window, savepoint      Whole               a row, or a file that a savepoint lists, may be of any age
    read through a state         Whole               its archived part is the checkpoint's list and the archive files
      checkpoint                                     that may be newer; the checkpoint replaces all older commits
    plan of a (log) compaction   Current             it takes files of the current slices only
    plan of a clean              Current             as above; Whole if earlier cleans kept files for savepoints, or if
                                                     the horizon has passed a named consumer
    collection of leftovers      Current             and `write_at`, `at`: a leftover file may name a retired instant
    archiving                    Active, Current     it moves active instants, but not those with logs to merge
    run of a plan                Active              and `write_at`, `at`: the plan is active, its inputs may be of
                                                     archived writes; Whole for a plan of another engine or a named one
    write, conflict check        Active              a concurrent write is not archived; Whole if it looks up files
                                                     (copy-on-write, bulk insert) or has read as of an earlier time
    rollback                     Active              a pending instant is never archived
    restore                      Active              nothing requested after a savepoint is archived

A history is made by `Context.history` from `timeline.commits` (with the archive) or `timeline.checkpointed` (with a
state checkpoint). Two others make one themselves: `audit.table_snapshot` from the files of an audit, and
`reads.travel.list_once` from a listing alone, under the rule that the archive is never read.

A completed instant is first on the active timeline, then on the active timeline and in the archive, then in the archive
alone. A history lists the active timeline first and reads the archive after it, so that it misses no instant. If
the readers of a table find its files without the commits (`Rules.files` is not "listed"), they do not read the archive,
and all views are the active one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NewType

from .instant import Instant
from .retired import RetiredInstants
from .timeline import Timeline

Active = NewType("Active", Timeline)
"""The instants in one listing of the timeline folder, without those that a restore has undone."""

Current = NewType("Current", Timeline)
"""The active and archived instants that a table service may still need."""

Whole = NewType("Whole", Current)
"""All instants, active and archived."""


@dataclass(frozen=True)
class ArchivedInstants:
    """The instants in the archive: `current` without the retired ones, and `retired`."""

    current: Timeline = field(default_factory=Timeline)
    retired: RetiredInstants = field(default_factory=RetiredInstants)

    @cached_property
    def whole(self) -> Timeline:
        """All archived instants. The archive hands out one value until it changes, so that a process which reads often
        decodes the retired instants once.
        """
        return self.current.with_states(self.retired.states()) if self.retired else self.current

    def find(self, requested: str, action: str) -> Instant | None:
        """Return the archived instant with the given requested time and action; `action` may be a pending action."""
        return self.current.find(requested, action) or self.retired.find(requested, action)


@dataclass(frozen=True)
class History:
    """The active timeline and the archived instants that were read after it. `archived` is None if readers of the table
    do not read the archive.
    """

    active: Active
    archived: ArchivedInstants | None = None

    @cached_property
    def whole(self) -> Whole:
        """All instants."""
        return Whole(Current(self.active if self.archived is None else self.active.with_archived(self.archived.whole)))

    @cached_property
    def current(self) -> Current:
        """The instants that table services need. All instants if the table has been restored: those that were retired
        before the restore may be needed again.
        """
        if self.archived is None or self.active.restores:
            return self.whole
        return Current(self.active.without(self.archived.retired).with_archived(self.archived.current))

    def write_at(self, requested: str) -> Instant | None:
        """Return the write with the given requested time, without building `whole`."""
        return self.current.find(requested) or (self.archived.retired.find(requested) if self.archived else None)

    def at(self, requested: str) -> tuple[Instant, ...]:
        """Return the instants of all actions with the given requested time, without building `whole`."""
        found = self.current.at(requested)
        retired = self.archived.retired.find(requested) if self.archived else None
        # Between the publication of a manifest and the deletion of the timeline file, an instant is in both.
        return found if retired is None or retired in found else (*found, retired)
