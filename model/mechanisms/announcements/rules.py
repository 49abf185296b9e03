"""The rules of announcements, and of the entries of the decision log that decide them.

An actor announces what it asks for: the completed instant that it wants to publish, a plan, or the rollback of a write.
The author of an entry, the actor that creates it, decides the announcements of every actor. Requested times are even,
and the times that entries assign are odd, so that no two are equal. Each entry also reserves one time, later than the
times of its instants and earlier than all times of later entries. A plan that is made from the entries up to this one
has the reserved time as its requested time. It contains exactly what completed before that time, however late another
entry decides the plan. A clean has a second reserved time, so that it never has the time of a compaction.

The author knows the last entry and the names on the timeline, and reads no other entry. The name of a planned rollback
does not contain the write that it undoes, so that each entry carries the writes that this and earlier entries undid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...kernel.table import Plan
from ...world import World
from ..cleaning.mechanism import CLEANER
from ..cleaning.rules import Clean
from ..restores.rules import Restore, is_undone
from ..rollback.rules import Rollback
from ..savepoints import Savepoint

PLANS: dict[type, str] = {Plan: "plans", Clean: "cleans", Rollback: "rollbacks", Restore: "restores"}
"""Each type of announced plans, and the component (state variable) of those plans on the timeline."""
COMPONENTS: dict[type, str] = {**PLANS, Savepoint: "savepoints"}
"""The same for all types that are not completed instants. An entry assigns a completion time to a savepoint."""

EXCLUSIVE = (Plan, Clean, Savepoint)
"""The types of which an entry decides at most one, and none that was made before the last one. Two compactions might
take the same logs, and a clean might delete the files of a savepoint.
"""

Name = tuple[int, str]
"""The requested time of an instant or plan, and its action or, for a plan or savepoint, the component of these."""


class DecidedEntry(NamedTuple):
    """One entry of the decision log. `items` are the decided instants, with their completion times, and the decided
    plans. `reserved` is the requested time of compactions that are planned from the entries up to this one; that of a
    clean is later (`clean_time`). `undone` contains the requested times of the writes that this entry and earlier
    entries decided to roll back. `planned` is the time reserved by the last entry, up to this one, that decided one
    of the types `EXCLUSIVE`; 0 if there is none.
    """

    items: tuple[Any, ...] = ()
    reserved: int = 0
    undone: tuple[int, ...] = ()
    planned: int = 0


NO_ENTRY = DecidedEntry()
"""What an actor knows if the decision log is empty."""


def name_of(item: Any) -> Name:
    """Return the name of an announcement, an item of an entry, or an object on the timeline."""
    return item.requested, COMPONENTS.get(type(item)) or item.action


def decides(item: Any) -> Name:
    """Return the name of the instant or plan that an announcement asks to decide. A rollback asks to decide the write
    that it undoes: commit and rollback of one write exclude each other.
    """
    return (item.target, "deltacommit") if isinstance(item, Rollback) else name_of(item)


def odd_after(time: int) -> int:
    """Return the next odd time, which is a time that only entries assign."""
    return time + 1 + time % 2


def even_after(time: int) -> int:
    """Return the next even time, which is a time that only clocks return."""
    return time + 2 - time % 2


def clean_time(reserved: int) -> int:
    """Return the requested time of a clean that is planned from the entries up to the one that reserves `reserved`."""
    return odd_after(reserved)


def with_clean_time(last: DecidedEntry, world: World) -> DecidedEntry:
    """Return the last entry for the author of the next one, whose times are later than all times that the last one
    reserves. An entry reserves a time for a clean only if the world has a cleaner.
    """
    return last._replace(reserved=clean_time(last.reserved)) if world.actors.get(CLEANER.name) else last


def completion_after(last: int, requested: int) -> int:
    """Return the completion time of the next item of an entry. It is later than `last`, the time before it in the log,
    and later than the requested time of the instant.
    """
    return odd_after(max(last, requested))


def undecided(announcements: Iterable[Any], last: DecidedEntry, timeline: Iterable[Any]) -> frozenset[Any]:
    """Return the announcements that no entry up to `last` has decided, as far as `last` and the names on the timeline
    show.

    A write that was rolled back may be rolled back again, because its writer may have put its instant once more. What a
    restore has undone is decided, and a restore decides each restore that was announced before its time.
    """
    # The items of the last entry may not be on the timeline yet; those of earlier entries are.
    there = (*timeline, *last.items)
    decided = {name_of(each) for each in there}
    undone = {(requested, "deltacommit") for requested in last.undone}
    restores = restores_in(there)
    return frozenset(
        each for each in announcements
        if decides(each) not in decided and name_of(each) not in decided | undone and not is_restored(each, restores)
        and not is_stale(each, last)
    )  # fmt: skip


def is_stale(announcement: Any, last: DecidedEntry) -> bool:
    """True if a plan or savepoint was made from an entry before the last one that decided one (`EXCLUSIVE`)."""
    return isinstance(announcement, EXCLUSIVE) and made_from(announcement) < last.planned


def made_from(announcement: Any) -> int:
    """Return the time of a plan, or for a savepoint the time reserved by the entry from which its files were found."""
    planned_from: int = getattr(announcement, "planned_from", announcement.requested)
    return planned_from


def restores_in(there: Iterable[Any]) -> tuple[Restore, ...]:
    return tuple(each for each in there if isinstance(each, Restore))


def is_restored(announcement: Any, restores: tuple[Restore, ...]) -> bool:
    """True if a restore has decided an announcement: it has undone the instant, or it is a restore that was decided
    since the announcement.
    """
    if isinstance(announcement, Restore):
        return any(each.requested >= announcement.requested for each in restores)
    return is_undone_announcement(announcement, restores)


def is_undone_announcement(announcement: Any, restores: tuple[Restore, ...]) -> bool:
    """True if a restore of an earlier entry has undone the announced instant, or the instant that it pins."""
    return is_undone(restores, announcement.requested)


def next_entry(last: DecidedEntry, announcements: Iterable[Any]) -> DecidedEntry:
    """Return the entry after `last` that decides the given announcements. The first mention of a name counts: a commit
    excludes a rollback of the same write, and a restore excludes the commits of all instants that it undoes. An entry
    decides at most one compaction, clean or savepoint.

    A restore has the time that `last` reserves: what it undoes completed before, and everything else completes after.
    """
    time, items, mentioned = last.reserved, list[Any](), set[Name]()
    # At most one: it decides the others as well, which were announced before its time.
    restores = tuple(each._replace(requested=restore_time(each, last)) for each in restores_in(announcements))[:1]
    # Commits first: of a commit and a rollback of one write, the commit wins in an entry.
    for each in sorted((each for each in announcements if not isinstance(each, Restore)), key=commits_first):
        if is_mentioned(each, mentioned) or is_excluded(each, restores) or is_second_plan(each, items):
            continue
        mentioned.add(decides(each))
        if type(each) not in PLANS:
            time = completion_after(time, each.requested)
        items.append(each if type(each) in PLANS else each._replace(completed=time))
    undone = (*last.undone, *(each.target for each in items if isinstance(each, Rollback)))
    # A plan comes first, because an earlier entry has reserved its time.
    # `sorted` is stable, so that commits stay in the order of their completion times.
    ordered = (*restores, *sorted(items, key=lambda each: type(each) not in PLANS))
    reserved = odd_after(time)
    planned = reserved if any(isinstance(each, EXCLUSIVE) for each in items) else last.planned
    return DecidedEntry(ordered, reserved, undone, planned)


def is_second_plan(announcement: Any, items: list[Any]) -> bool:
    """True for a plan or savepoint if an entry with the given items decides one already (`EXCLUSIVE`)."""
    return isinstance(announcement, EXCLUSIVE) and any(isinstance(each, EXCLUSIVE) for each in items)


def restore_time(announced: Restore, last: DecidedEntry) -> int:
    """Return the requested time of a restore in the entry after `last`, which is not that of its announcement."""
    return last.reserved


def is_excluded(announcement: Any, restores: tuple[Restore, ...]) -> bool:
    """True if a restore in the same entry undoes the announced instant."""
    return is_undone(restores, announcement.requested)


def commits_first(announcement: Any) -> tuple[bool, int]:
    return isinstance(announcement, Rollback), announcement.requested


def is_mentioned(announcement: Any, mentioned: set[Name]) -> bool:
    return decides(announcement) in mentioned


def unpublished(entry: DecidedEntry, timeline: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the items of an entry that are not on the timeline, in the order in which they must be put there. An item
    that a restore has undone is not among them: if a stalled actor puts it again, no actor believes it.
    """
    restores = restores_in(timeline)
    return tuple(item for item in entry.items if not is_put(item, timeline) and not is_undone_item(item, restores))


def is_undone_item(item: Any, restores: tuple[Restore, ...]) -> bool:
    return not isinstance(item, Restore) and is_undone(restores, item.requested)


def is_put(item: Any, timeline: tuple[Any, ...]) -> bool:
    """True if an item is on the timeline. The runner of a plan changes its state, but not its name."""
    if type(item) in PLANS:
        return name_of(item) in map(name_of, timeline)
    return item in timeline
