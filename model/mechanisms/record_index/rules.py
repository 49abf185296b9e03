"""Decides which file group holds a key that concurrent writers have inserted, and which logs a read of it merges.

A write puts a *location* of each key that it does not find in the index: the file group that it has chosen. A location
counts once its write has completed, at the completion time. The *home* of a key as of T is the file group of the first
completed location. Completion times grow, so a later location never becomes the first: a home never changes, and the
index is a set of locations that only grows. The union of two such sets is again one, in any order and any number of
times.

A record in another file group than the home of its key is *forwarded*. The home finds it by the location of its write.
Its completion time decides its file slice among the barriers of the home, as RFC-66 decides it for a log of the home.
Therefore reads and compactions of the home take it, all others hide it, and a clean keeps it until a base file of the
home contains it.

The model numbers sets of keys, and calls each a file group. The keys of the last bucket (`new_keys`) are in no file
group at first. Whether a clean or compaction takes their records does not depend on the other keys of a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Literal, NamedTuple

from ...kernel.table import Log, Plan, Table, Write
from ...machine.marks import mark
from ...machine.options import Limits, Options, limit, option
from ...rules import Rules


class Inserts(Options):
    """The option that decides which file group holds a key that a record index does not contain."""

    inserts: Literal["first_completed", "moved", "updates_only", "newest", "unchecked"] = option(
        "first_completed",
        "who inserts a key that a record index does not contain. first_completed: every writer; the location that "
        "completes first decides, and its file group reads the records in the others. moved: every writer; one that "
        "finds such a location under the lock moves its record there. updates_only: no writer; they update and delete "
        "known keys. newest: as first_completed, but the location that completes last decides. unchecked: every "
        "writer; each file group shows its own records",
    )


class InsertLimits(Limits):
    """The limits of inserts under a record index."""

    new_keys: int = limit(
        0, "1: a record index gives file groups to the keys of the last bucket, which have none at first; 0: buckets "
        "give file groups to all keys",
        section="table",
    )  # fmt: skip
    index_compactions: int = limit(0, "how many compactions of the record index are planned")


class Location(NamedTuple):
    """A record attached to a write of new keys: their number among the file groups of the model, and the file group of
    the log. `indexed` is True if the write has put this location into the index.
    """

    keys: int = -1
    file_group: int = -1
    indexed: bool = False
    kind: str = "location"


class IndexedLocation(NamedTuple):
    """A location in the index: the two times of its write, and the file group."""

    completed: int
    requested: int
    file_group: int


class IndexBase(NamedTuple):
    """A record attached to a plan that compacts the index: the locations in its base file."""

    locations: tuple[IndexedLocation, ...] = ()
    kind: str = "index base"


def location_of(write: Write) -> Location:
    return mark(write, Location)


def index_base(plan: Plan) -> tuple[IndexedLocation, ...]:
    """Return the locations that a plan writes into a base file of the index; () if it is another plan."""
    return mark(plan, IndexBase).locations if plan.marks else ()


def indexed(table: Table, time: float = inf) -> tuple[IndexedLocation, ...]:
    """Return the locations that a reader of the index finds as of `time`, the first completed one first: those in its
    newest base file, and those of the writes that completed after the barrier of this file.
    """
    plans = zip(table.plans, table.completed, strict=True)
    bases = [plan for plan, done in plans if index_base(plan) and done and done <= time]
    base = max(bases, key=lambda plan: plan.requested, default=None)
    late = later_locations(table, base.requested if base else 0, time)
    return tuple(sorted({*(index_base(base) if base else ()), *late}))


def later_locations(table: Table, barrier: int, time: float) -> Iterable[IndexedLocation]:
    """Yield the locations of the writes that completed after `barrier`, up to `time`."""
    for write in table.writes:
        if write.marks and write.completed and barrier < write.completed <= time and location_of(write).indexed:
            yield IndexedLocation(write.completed, write.requested, location_of(write).file_group)


def decides(found: tuple[IndexedLocation, ...]) -> IndexedLocation:
    """Return the location that decides: the first completed one."""
    return found[0]


def home(rules: Rules, table: Table, time: float = inf) -> int | None:
    """Return the file group that holds the new keys as of `time`; None if there is none yet."""
    if not (found := indexed(table, time)):
        return None
    return (found[-1] if rules[Inserts].inserts == "newest" else decides(found)).file_group


def file_groups_shown(rules: Rules, table: Table, time: float) -> tuple[int, ...]:
    """Return the file groups whose reads as of `time` show the new keys."""
    if rules[Inserts].inserts in ("moved", "unchecked"):
        return own_file_groups(table, time)
    found = home(rules, table, time)
    return () if found is None else (found,)


def own_file_groups(table: Table, time: float) -> tuple[int, ...]:
    """Return the file groups that have a record of the new keys as of `time`."""
    done = (location_of(write) for write in table.writes if write.marks and (write.completed or inf) <= time)
    return tuple(sorted({each.file_group for each in done if each.file_group >= 0}))


def has_new_keys(table: Table, group: int) -> bool:
    return any(write.marks and location_of(write).keys == group for write in table.writes)


def is_forwarded(write: Write, known: tuple[IndexedLocation, ...]) -> bool:
    """True if the home finds the record of a write in another file group, by a location that the index contains."""
    return write.requested in {each.requested for each in known}


def read_at_home(rules: Rules, table: Table, writes: tuple[Write, ...], time: float) -> Iterable[Write]:
    """Yield the writes whose records of the new keys a read as of `time` finds in the home, or forwarded to it."""
    known, here = indexed(table, time), home(rules, table, time)
    forwards = rules[Inserts].inserts in ("first_completed", "newest")
    for write in writes:
        if location_of(write).file_group == here or (forwards and is_forwarded(write, known)):
            yield write


class ReadsByIndex(Rules):
    """A read of new keys merges their records in the home, and those that are forwarded to it.

    States with new keys have no shape, so that this rule compares no requested time where shapes are used.
    """

    compares_requested_times = False

    def merged_logs(self, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
        if any(write.marks and location_of(write).keys == group for write in writes):
            writes = tuple(read_at_home(self, table, writes, time))
        return super().merged_logs(table, group, writes, time)

    def bases(self, table: Table, group: int) -> list[tuple[int, int | None]]:
        """Leave out the base files in a file group that is not the home any more. By default there are none."""
        found = super().bases(table, group)
        if not found or not has_new_keys(table, group):
            return found
        here = home(self, table)
        return [(at, done) for at, done in found if home(self, table, at) == here]

    def base_and_writes(self, table: Table, group: int, time: float) -> tuple[int | None, tuple[Write, ...]]:
        if time < inf and has_new_keys(table, group):
            table = self.table_as_of(table, time)  # the home as of then
        return super().base_and_writes(table, group, time)
