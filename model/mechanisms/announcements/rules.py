"""The rules of announcements, and of the entries of the decision log that decide them.

An actor announces what it asks for: the completed instant that it wants to publish, a plan, or the rollback of a write.
The author of an entry, the actor that creates it, decides the announcements of every actor. Requested times are even,
and the times that entries assign are odd, so that no two are equal. Each entry also reserves one time, later than the
times of its instants and earlier than all times of later entries. A plan that is made from the entries up to this one
has the reserved time as its requested time. It contains exactly what completed before that time, however late another
entry decides the plan.

The author knows the last entry and the names on the timeline, and reads no other entry. The name of a planned rollback
does not contain the write that it undoes, so that each entry carries the writes that this and earlier entries undid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...kernel.table import Plan
from ..rollback.rules import Rollback

PLANS: dict[type, str] = {Plan: "plans", Rollback: "rollbacks"}
"""Each type of announced plans, and the component (state variable) of those plans on the timeline."""

Name = tuple[int, str]
"""The requested time of an instant or plan, and its action or, for a plan, the component of these plans."""


class DecidedEntry(NamedTuple):
    """One entry of the decision log. `items` are the decided instants, with their completion times, and the decided
    plans. `reserved` is the requested time of plans that are made from the entries up to this one. `undone` contains
    the requested times of the writes that this entry and earlier entries decided to roll back.
    """

    items: tuple[Any, ...] = ()
    reserved: int = 0
    undone: tuple[int, ...] = ()


NO_ENTRY = DecidedEntry()
"""What an actor knows if the decision log is empty."""


def name_of(item: Any) -> Name:
    """Return the name of an announcement, an item of an entry, or an object on the timeline."""
    return item.requested, PLANS.get(type(item)) or item.action


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


def completion_after(last: int, requested: int) -> int:
    """Return the completion time of the next item of an entry. It is later than `last`, the time before it in the log,
    and later than the requested time of the instant.
    """
    return odd_after(max(last, requested))


def undecided(announcements: Iterable[Any], last: DecidedEntry, timeline: Iterable[Any]) -> frozenset[Any]:
    """Return the announcements that no entry up to `last` has decided, as far as `last` and the names on the timeline
    show.

    A write that was rolled back may be rolled back again, because its writer may have put its instant once more.
    """
    decided = {name_of(each) for each in (*timeline, *last.items)}
    undone = {(requested, "deltacommit") for requested in last.undone}
    return frozenset(
        each for each in announcements if decides(each) not in decided and name_of(each) not in decided | undone
    )


def next_entry(last: DecidedEntry, announcements: Iterable[Any]) -> DecidedEntry:
    """Return the entry after `last` that decides the given announcements. The first mention of a name counts: a commit
    excludes a rollback of the same write.
    """
    time, items, mentioned = last.reserved, list[Any](), set[Name]()
    for each in sorted(announcements, key=commits_first):
        if is_mentioned(each, mentioned):
            continue
        mentioned.add(decides(each))
        if type(each) not in PLANS:
            time = completion_after(time, each.requested)
        items.append(each if type(each) in PLANS else each._replace(completed=time))
    undone = (*last.undone, *(each.target for each in items if isinstance(each, Rollback)))
    # A plan comes first, because an earlier entry has reserved its time.
    return DecidedEntry(tuple(sorted(items, key=lambda each: type(each) not in PLANS)), odd_after(time), undone)


def commits_first(announcement: Any) -> tuple[bool, int]:
    return isinstance(announcement, Rollback), announcement.requested


def is_mentioned(announcement: Any, mentioned: set[Name]) -> bool:
    return decides(announcement) in mentioned


def unpublished(entry: DecidedEntry, timeline: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the items of an entry that are not on the timeline, in the order in which they must be put there."""
    return tuple(item for item in entry.items if not is_put(item, timeline))


def is_put(item: Any, timeline: tuple[Any, ...]) -> bool:
    """True if an item is on the timeline. The runner of a plan changes its state, but not its name."""
    if type(item) in PLANS:
        return name_of(item) in map(name_of, timeline)
    return item in timeline
