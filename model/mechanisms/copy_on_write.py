"""Copy-on-write tables: a write merges its rows onto the base file of each group that it touches, and puts a new one.

There are no log files, so no compactor. A writer chooses the base files when it requests its instant: two writers that
chose the same base file lose the rows of one of them, unless a conflict check (mechanism `occ`) aborts the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from ..fields import nearest
from ..files.copy_on_write import newest_base
from ..kernel.timeline import PENDING
from ..kernel.writer import REQUESTS, Writer, groups_of, on_instant
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit
from ..machine.transition import Action, Args, Changes, Transition
from ..table import Instant
from ..world import World

TableType = Literal["MERGE_ON_READ", "COPY_ON_WRITE"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableKind(Limits):
    """The type of the table."""

    table_type: str = limit("MERGE_ON_READ", "whether writes put log files or base files", section="table")


@on_instant("onto")
class Onto(NamedTuple):
    """The base files that a write merges: (group, requested time of the base file, None if the group has none)."""

    bases: tuple[tuple[int, int | None], ...] = ()


def is_copy_on_write(world: World) -> bool:
    """Whether writes put base files instead of log files."""
    return world[TableKind].table_type == "COPY_ON_WRITE"


def compose(composition: Composition) -> None:
    """Make each writer choose its base files when it requests an instant, and put base files."""
    writers = composition.of("writer")
    if not is_copy_on_write(composition.world) or not writers:
        return
    composition.add_field("writer", "onto", Onto())
    composition.select("writer_writes_log", actors=writers).replace(writes_base)
    composition.select(REQUESTS, actors=writers).extend(choose_bases, "own_onto")
    composition.map_view(PENDING, pending_commits)


def writes_base(writes_log: Transition) -> Transition:
    """The transition that puts a base file, in the place of the one that puts a log file."""
    return replace(writes_log.renamed("writer_writes_base"), arguments=(next_base,))


def next_base(own: Writer, me: str, world: World) -> Iterable[Args]:
    group, _ = world.files(me, own.number)[own.files]
    return ((("group", group),),)


def choose_bases(own: Writer, me: str, world: World, published: tuple[Any, ...]) -> Changes:
    """Choose the newest base file of each group."""
    return {"own_onto": Onto(tuple((group, newest_base(published, group)) for group in groups_of(world, me, own)))}


def pending_commits(pending_instants: Iterable[Instant]) -> Iterator[Instant]:
    """The pending instants; every write of a copy-on-write table is a commit."""
    for each in pending_instants:
        yield each._replace(action="commit") if each.action == "deltacommit" else each


def check(world: World) -> None:
    """Refuse what is not modelled for copy-on-write tables."""
    if (kind := world[TableKind].table_type) not in (types := get_args(TableType)):
        raise ValueError(f"world [table]: type {kind!r} is not known; {nearest(str(kind), types)}")
    if not is_copy_on_write(world):
        return
    for actor in ("cleaner", "clusterer", "loader", "replacer", "restorer"):
        if world.actors.get(actor):
            raise ValueError(f"world: a {actor} of a COPY_ON_WRITE table is not modelled; leave the {actor} out")
    if world.actors.get("compactor") or world.actors.get("log_compactor") or world.log_versions > 1:
        raise ValueError("world: a COPY_ON_WRITE table has no log files, so no compactor and no log versions")
    for (writer, number), versions in world.writes.items():
        if max(versions) > 1:
            raise ValueError(
                f"world: write {number} of {writer} puts one base file in a file group of a COPY_ON_WRITE table, "
                f"not several log versions, found {versions!r}"
            )


MECHANISM = Mechanism(
    compose=compose,
    after=("occ",),
    limits=TableKind,
    check=check,
    actions=(
        Action("writer_writes_base", "copy on write: merges its rows onto a base file and puts the new one",
               "{actor} writes the base of group {group}"),
    ),
)  # fmt: skip
