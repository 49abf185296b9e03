"""Writers that delete or update the rows that match a condition first read the table (docs/change-rows.md).

Such a writer finds the matching rows in the newest settled state T, and then requests an instant and writes what it has
computed from these rows. The read set of the write is a set of keys: those whose rows matched at T. An optimistic
writer counts as begun when it reads, so it aborts if a write to a file group that it has read completes after T. A
non-blocking writer is blind: it neither sees nor excludes a write that completes after T.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from ..kernel.clock import TakeTime
from ..kernel.compactor import COMPACTOR
from ..kernel.reader import READER
from ..kernel.writer import WRITE_LEFT, WRITER, WRITER_REQUESTS_INSTANT, Writer, request_instant
from ..machine.composition import Composition
from ..machine.marks import mark
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit
from ..machine.transition import Action, Changes, Transition, transition
from ..world import World
from .copy_on_write import is_copy_on_write

DELETE, UPDATE = "delete", "update"
FINDS = {DELETE: "writer_finds_rows_to_delete", UPDATE: "writer_finds_rows_to_update"}
"""Verb -> the action in which the writer reads the table."""

READS_ROWS = "reads rows"
"""The tag of the transition by which a writer reads the rows from which it computes its write."""

HAS_ROWS = "has found the rows that match"


class Conditions(Limits):
    """The limits on writers that read the table before they write."""

    condition_deletes: int = limit(0, "how many writers, the first ones, delete the rows that match a condition")
    condition_updates: int = limit(0, "how many writers, after those that delete, update the rows that match")


class RowsRead(NamedTuple):
    """The state from which a write was computed: the time T, and the requested times of the completed writes that the
    writer read. A write carries it as a mark.
    """

    time: int = 0
    seen: tuple[int, ...] = ()
    kind: str = "rows read"


def verb_of(world: World, actor: str) -> str:
    """Return the verb by which a writer changes rows, `delete` or `update`; '' for a writer that reads nothing."""
    place, limits = actor.removeprefix(WRITER.prefix), world[Conditions]
    number = int(place) if place.isdecimal() else 0
    if not 0 < number <= limits.condition_deletes + limits.condition_updates:
        return ""
    return DELETE if number <= limits.condition_deletes else UPDATE


def reads_rows(world: World) -> bool:
    """True if a writer of the world reads the table before it writes."""
    return bool(world[Conditions].condition_deletes or world[Conditions].condition_updates)


def groups_read(world: World, actor: str, number: int) -> tuple[int, ...] | None:
    """Return the file groups that a write reads: those that the world declares, or all if the writer looks for rows. In
    a world with such writers, every other write reads nothing. None: the world says nothing about reads.
    """
    declared = world.reads.get((actor, number))
    if declared is not None or not reads_rows(world):
        return declared
    return tuple(range(world.groups)) if verb_of(world, actor) else ()


def has_seen(world: World, later: Any, earlier: Any) -> bool:
    """True if the write `later` began after the write `earlier` had completed: it was requested, or read the table,
    afterwards.
    """
    if verb_of(world, later.actor):
        return earlier.requested in mark(later, RowsRead).seen
    return bool(later.requested >= (earlier.completed or inf))


def began(world: World, actor: str, requested: int, read: RowsRead) -> int:
    """Return the time since which completed writes may conflict with a write: its request, or the time of its read."""
    return read.time if verb_of(world, actor) else requested


def compose(composition: Composition) -> None:
    """Let the writers that change rows by a condition read the table before they request an instant."""
    world = composition.world
    changers = [me for me in composition.actors_of(WRITER) if verb_of(world, me)]
    if changers:
        composition.add_field(WRITER, "rows_read", RowsRead())
    for me in changers:
        composition.select(WRITER_REQUESTS_INSTANT, actors=[me]).replace(after_the_read)
        composition.add(transition(FINDS[verb_of(world, me)], me, at="idle", to=HAS_ROWS, guards=(WRITE_LEFT,),
                                   effect=find_rows, changes=("own_rows_read",), tags=(READS_ROWS,)))  # fmt: skip


def after_the_read(requests: Transition) -> Transition:
    """Return the request of a writer that has read the table, which does not forget what it has read."""
    return replace(requests, action="writer_requests_change", at=HAS_ROWS, effects=(request_change,))


def find_rows(published: tuple[Any, ...], settled_time: int) -> Changes:
    """Read the table as of its newest settled time T."""
    seen = tuple(entry.requested for entry in published if entry.completed <= settled_time)
    return {"own_rows_read": RowsRead(settled_time, seen)}


def request_change(own: Writer, clock: int, request_time: TakeTime) -> Changes:
    """In one step under the lock, take the requested time and put the requested instant."""
    changes = request_instant(own, clock, request_time)
    requested: Any = changes["own"]
    return {**changes, "own": requested._replace(records=own.records)}


def check(world: World) -> None:
    """Raise ValueError for a world in which writers that read the table are not modelled."""
    if not reads_rows(world):
        return
    limits = world[Conditions]
    wanted, writers = limits.condition_deletes + limits.condition_updates, world.actors.get(WRITER.name, 0)
    if wanted > writers:
        raise ValueError(f"world: {wanted} writers change rows by a condition, and the world has {writers} writers")
    for what, there in _not_modelled(world):
        if there:
            raise ValueError(f"world: writers that change rows by a condition together with {what} are not modelled")


def _not_modelled(world: World) -> Iterable[tuple[str, bool]]:
    flat, kinds = world.flat(), {kind for kind, count in world.actors.items() if count}
    yield "other actors than writers, compactors and readers", bool(kinds - TOGETHER)
    yield "copy-on-write tables", is_copy_on_write(world)
    yield "partial updates or merge functions", bool(world.custom or flat["columns"])
    for name in ("retries", "resends", "endless"):
        yield name, bool(flat[name])


TOGETHER = {kind.name for kind in (WRITER, COMPACTOR, READER)}
"""The kinds of actors with which writers that read the table are modelled."""


def fit(world: World, protocol: Any) -> None:
    """Raise ValueError if writers that read the table would request their instants without the lock."""
    if reads_rows(world) and protocol.to_mapping()["requests"] == "put_if_absent":
        raise ValueError("world: writers that change rows by a condition request their instants under the lock")


def verb_and_write(world: World, actor: str, number: int) -> str:
    """Return the verb of a writer; two writers are symmetric only if they have the same verb."""
    return verb_of(world, actor)


MECHANISM = Mechanism(
    compose=compose,
    limits=Conditions,
    check=check,
    fit=fit,
    of_write=verb_and_write,
    actions=(
        Action(FINDS[DELETE], "reads the newest settled state, and finds the rows to delete",
               "{actor} finds the rows to delete"),
        Action(FINDS[UPDATE], "reads the newest settled state, and finds the rows to update",
               "{actor} finds the rows to update"),
        Action("writer_requests_change", "under the lock: takes a requested time for what it computed from its read",
               "{actor} requests an instant for the rows that it has found"),
    ),
)  # fmt: skip
