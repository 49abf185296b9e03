"""Decides which new file group gets a key if a resize sorts the rows of each partition (`[table] sort_order = 1`).

Such a resize is a clustering by sort order: adjacent rows come into one file group. The file group of a key is then no
function of the key, and its value of the sort column may change with every update. The *holder* of a key is the new
file group whose base file at K, the requested time of the resize, has the key. All keys that no base file has belong to
one file group that the plan names, the *heir*.

K decides both, and neither changes later. So writers that put a record into the new groups agree with readers,
compactors and resizers that meet a late log, which was put into an old group. No rule depends on the old group of a
log: two late inserts of one key, in the groups of two older generations, come into the same new group.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from ...kernel.table import GroupPlan, Log, Table, Write
from ...kernel.writer import WRITER
from ...machine.composition import Composition
from ...machine.marks import mark
from ...machine.selection import Selection
from ...machine.transition import Args, Changes
from ...protocol import Protocol
from ...rules import Rules
from ...world import World
from .rules import ResizeLimits, Resizing, generations, generations_shown, in_own_group

HEIR = 0


class Sorted(NamedTuple):
    """A record attached to a resize that sorts: for each key in a base file at K the new file group that holds it, and
    the heir of all other keys. The file groups of each partition are numbered from 0. -1: the resize does not sort.
    """

    holders: tuple[tuple[int, int], ...] = ()
    heir: int = -1
    kind: str = "sorted"


class SortValue(NamedTuple):
    """A record attached to a write: the new file group whose part of the order has the write's values of the sort
    column. Only the option value `sorted_home = "value"` reads it.
    """

    place: int = 0
    kind: str = "sort value"


def sorts(parts: tuple[GroupPlan, ...], buckets: int, world: World) -> Sorted:
    """Return which new file group holds each key of the inputs of a resize, in the order of the keys; `Sorted()` if
    the resizes of the world do not sort.
    """
    if not world[ResizeLimits].sort_order:
        return Sorted()
    holders: list[tuple[int, int]] = []
    for first in range(0, world.groups, world.buckets):
        partition = range(first, first + world.buckets)
        held = [part.group for part in parts if part.group in partition and (part.base is not None or part.logs)]
        holders += [(group, place * buckets // len(held)) for place, group in enumerate(held)]
    return Sorted(tuple(holders), HEIR)


def sort_shown(table: Table, generation: int) -> Sorted | None:
    """Return the record of the resize that made a generation of file groups; None if it did not sort."""
    found = next((mark(plan, Sorted) for plan in table.plans if plan.marks and plan.requested == generation), Sorted())
    return found if found.heir >= 0 else None


def holder_or_heir(found: Sorted, group: int) -> int:
    return dict(found.holders).get(group, found.heir)


def home_of_late_log(found: Sorted, group: int, table: Table, time: float) -> int:
    """Return the new file group into which a reader, a compactor or the copying resizer merges a late log."""
    return holder_or_heir(found, group)


def place_of(rules: Rules, table: Table, write: Write, group: int, found: Sorted, generation: int, time: float) -> int:
    """Return the file group of a generation in which a read as of `time` finds the record of a write."""
    if (write.completed or inf) < generation:
        return holder_or_heir(found, group)  # in a base file of the resize
    if rules[Resizing].sorted_home == "value":
        return mark(write, SortValue).place
    # A writer that puts a record into the new file groups finds its key in a base file at K, or nowhere.
    own = generation in generations(write)
    return holder_or_heir(found, group) if own else home_of_late_log(found, group, table, time)


def places(rules: Rules, table: Table, group: int, time: float) -> tuple[int, ...]:
    """Return the file groups in which a read as of `time` finds records of a key, that of the oldest record first; ()
    if the file groups that it opens are not sorted.
    """
    generation = generations_shown(table, time)[-1]
    if not generation or (found := sort_shown(table, generation)) is None:
        return ()
    by_range = rules[Resizing].resizing == "by_range"
    here = [place_of(rules, table, write, group, found, generation, time) for write in table.writes
            if group in write.groups and (write.completed or inf) <= time
            and (by_range or in_own_group(table, write, generation))]  # fmt: skip
    return tuple(dict.fromkeys(here))


class ReadsSorted(Rules):
    """A read of a sorted table merges the records of a key in one file group: that of the oldest record.

    States with a resize that sorts have no shape, so that this rule compares no requested time where shapes are used.
    """

    compares_requested_times = False

    def merged_logs(self, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
        generation = generations_shown(table, time)[-1] if any(plan.marks for plan in table.plans) else 0
        if generation and (found := sort_shown(table, generation)):
            first = places(self, table, group, time)[:1]
            writes = tuple([write for write in writes
                            if (place_of(self, table, write, group, found, generation, time),) == first])  # fmt: skip
        return super().merged_logs(table, group, writes, time)


def choose_values(composition: Composition, opens: Selection) -> None:
    """Let each write have any value of the sort column, if the value decides the file group of a record."""
    world, design = composition.world, composition.protocol
    if world[ResizeLimits].sort_order and design[Resizing].sorted_home == "value":
        composition.add_field(WRITER, "sort_value", SortValue())
        opens.add_argument(values).extend(take_value, "own_sort_value")


def values(world: World) -> Iterable[Args]:
    return ((("place", place),) for place in range(world.buckets))


def take_value(*, place: int) -> Changes:
    """Write rows whose values of the sort column are in the part of one new file group."""
    return {"own_sort_value": SortValue(place)}


def check(world: World, kind: str) -> None:
    """Raise ValueError for a world with a sort order that is not modelled. `kind` is the kind of actor that sorts."""
    if world[ResizeLimits].sort_order and not (world[ResizeLimits].sort_order == 1 and world.actors.get(kind, 0)):
        raise ValueError(f"world [table]: sort_order is 0 or 1; with 1, the world needs a {kind}")


def fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError for a world with a sort order under dual writes."""
    if world[ResizeLimits].sort_order and protocol[Resizing].resizing == "dual_write":
        # A dual writer puts a record into the new groups before their base files say which keys they hold.
        raise ValueError("world: a sort order is not modelled with resizing = dual_write")
