"""Archivers copy old completed instants to the archive, and then remove the copied instants from the active timeline.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...kernel.lock import LOCK_IS_FREE
from ...kernel.table import Instant, Table
from ...kernel.timeline import ACTIVE, VISIBLE, Published
from ...machine.composition import Composition
from ...machine.mechanism import Kind
from ...machine.transition import Args, Changes, Guard, transition
from ...rules import Rules
from ...world import World
from .options import ArchiveLimits, Archiving
from .rules import archivable, last_decided, staying

Times = frozenset[int]
"""Requested times of instants."""

ARCHIVABLE = "archivable_instants"
"""The view of the instants that may leave the active timeline now, oldest first."""


class Archiver(NamedTuple):
    """The state of one archiver. `left` lists the archived instants not yet removed from the active timeline, by
    ascending requested time.
    """

    step: str = "idle"
    left: tuple[int, ...] = ()
    records: tuple[Any, ...] = ()


ARCHIVER = Kind(name="archiver", prefix="arch", first=Archiver(), service=True)


def compose(composition: Composition) -> None:
    """Add the components (state variables), views and transitions of every archiver to a model.

    The component `archive` contains the requested times of archived instants, as listed in the archive's manifest. The
    component `removed` contains the requested times of instants removed from the active timeline.
    """
    composition.add_component("archive", frozenset())
    composition.add_component("removed", frozenset())
    composition.add_component("archives", 0)
    composition.map_view(ACTIVE, instants_left)
    composition.map_view(ARCHIVABLE, archivable_instants)
    if composition.protocol[Archiving].archive_lookup == "never":
        composition.map_view(VISIBLE, visible_instants)
    for me in composition.actors_of("archiver"):
        composition.add(
            transition("archiver_archives_instants", me, at="idle", to="removing", arguments=instants_to_archive,
                       guards=(LOCK_IS_FREE, ARCHIVING_LEFT, NONE_ON_BOTH, TO_ARCHIVE), effect=archive_instants,
                       changes=("own", "archive", "archives")),
            transition("archiver_resumes_archiving", me, at="idle", to="removing", arguments=instants_on_both,
                       guards=(LOCK_IS_FREE, SOME_ON_BOTH), effect=resume_archiving),
            transition("archiver_removes_instant", me, at="removing", arguments=oldest_left, effect=remove_instant,
                       changes=("own", "removed")),
        )  # fmt: skip


def instants_left(active_instants: Published, removed: Times) -> Published:
    """Define the view `active_instants`: omit the instants that an archiver has removed from the active timeline."""
    return tuple(entry for entry in active_instants if entry.requested not in removed)


def visible_instants(visible_instants: Published, removed: Times) -> Published:
    """Redefine the view `visible_instants` to omit instants removed from the active timeline, for readers that never
    read the archive.
    """
    return tuple(entry for entry in visible_instants if entry.requested not in removed)


def archiving_is_left(archives: int, world: World) -> bool:
    return archives < world[ArchiveLimits].archives


def none_is_on_both(archive: Times, removed: Times) -> bool:
    return archive == removed


def some_is_on_both(archive: Times, removed: Times) -> bool:
    return archive != removed


def archivable_instants(
    active_instants: Published, pending_instants: Iterable[Instant], completed_table: Table, world: World,
    rules: Rules, decisions: tuple[Any, ...] = (),
) -> tuple[int, ...]:  # fmt: skip
    """Define the view `archivable_instants`: the requested times of the instants that may be archived now, in ascending
    order.
    """
    active, retained = list(active_instants), world[ArchiveLimits].instants_retained
    stay = staying(rules, active, completed_table, world.groups, retained) | last_decided(decisions)
    return archivable(rules, active, (instant.requested for instant in pending_instants), stay)


def some_archivable(archivable_instants: tuple[int, ...]) -> bool:
    return bool(archivable_instants)


ARCHIVING_LEFT = Guard("an archiving must be left", archiving_is_left, limit=True)
NONE_ON_BOTH = Guard("nothing archived may be on the active timeline", none_is_on_both)
TO_ARCHIVE = Guard("there must be an instant that may go", some_archivable)
SOME_ON_BOTH = Guard("something archived must be on the active timeline", some_is_on_both)


def instants_to_archive(archivable_instants: tuple[int, ...]) -> Iterable[Args]:
    return ((("instants", archivable_instants),),)


def archive_instants(own: Archiver, archive: Times, archives: int, *, instants: tuple[int, ...]) -> Changes:
    """Under the lock, add instants to the archive and put the archive's manifest."""
    return {"own": own._replace(left=instants), "archive": covered(archive, instants), "archives": archives + 1}


def instants_on_both(archive: Times, removed: Times) -> Iterable[Args]:
    """Return the instants that a crashed archiver has archived but not yet removed from the active timeline."""
    return ((("instants", tuple(sorted(archive - removed))),),)


def resume_archiving(own: Archiver, *, instants: tuple[int, ...]) -> Changes:
    """Let an archiver finish removing instants after a crashed archiver has begun the removal."""
    return {"own": own._replace(left=instants)}


def oldest_left(own: Archiver) -> Iterable[Args]:
    return ((("instants", next_to_go(own.left)),),)


def remove_instant(own: Archiver, removed: Times, *, instants: tuple[int, ...]) -> Changes:
    """Remove the oldest archived instant from the active timeline."""
    left = tuple(instant for instant in own.left if instant not in instants)
    return {"own": own._replace(step="removing" if left else "idle", left=left), "removed": removed | set(instants)}


def covered(archive: Times, instants: tuple[int, ...]) -> Times:
    return archive | set(instants)


def next_to_go(left: tuple[int, ...]) -> tuple[int, ...]:
    return left[:1]
