"""Archiving moves old completed instants from the active timeline to the archive, an LSM tree.

While the lock is free, an archiver selects instants, adds them to the archive, and puts the archive's manifest, in one
atomic step that stands for taking the lock, archiving and releasing the lock. The archiver then removes the archived
instants from the active timeline one by one, oldest first. While an archiver removes instants, and after it crashes, an
instant may be both in the archive and on the active timeline. Another archiver may then resume the removal, whether or
not the first archiver is alive: removing an instant twice is harmless. Every completed instant is on the active
timeline, in the archive, or in both (promise ARCH, `promises/archiving.py`).

    The module `rules` decides which instants may be archived. The module `reader` defines how a reader reads the
    archive. The module `late` defines what happens to an instant that is published or requested too late.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...kernel.lock import LOCK_IS_FREE
from ...kernel.table import Instant, Table
from ...kernel.timeline import ACTIVE, VISIBLE, Published
from ...machine.composition import Composition
from ...machine.mechanism import Kind, Mechanism
from ...machine.transition import Action, Args, Changes, Guard, limit_left, transition
from ...rules import Rules
from ...validation import whole_number
from ...world import World
from . import reader
from .late import put_back_late_publications, refuse_late_requests
from .rules import ArchiveLimits, Archiving, archivable, last_decided, staying

Times = frozenset[int]
"""Requested times of instants."""

ARCHIVER_ARCHIVES_INSTANTS = "archiver_archives_instants"

ARCHIVABLE = "archivable_instants"
"""The view of the instants that may leave the active timeline now, by ascending requested time."""


class Archiver(NamedTuple):
    """The state of one archiver. `left` lists the archived instants not yet removed from the active timeline, by
    ascending requested time. `records` contains the fields that other mechanisms add to the state
    (`Composition.add_field`).
    """

    step: str = "idle"
    left: tuple[int, ...] = ()
    records: tuple[Any, ...] = ()


ARCHIVER = Kind(name="archiver", prefix="arch", first=Archiver(), service=True)


def compose(composition: Composition) -> None:
    """Add archivers to the model, and let readers read the archive.

    The component `archive` contains the requested times of archived instants, as listed in the archive's manifest. The
    component `removed` contains the requested times of instants removed from the active timeline; it is a subset of
    `archive`. The component `archivings` counts how often an archiver has archived instants.
    """
    if not composition.actors_of(ARCHIVER):
        return
    composition.add_component("archive", frozenset())
    composition.add_component("removed", frozenset())
    composition.add_component("archivings", 0)
    composition.map_view(ACTIVE, instants_left)
    composition.map_view(ARCHIVABLE, archivable_instants)
    if composition.protocol[Archiving].archive_lookup == "never":
        composition.map_view(VISIBLE, visible_instants)
    for me in composition.actors_of(ARCHIVER):
        composition.add(
            transition(ARCHIVER_ARCHIVES_INSTANTS, me, at="idle", to="removing", arguments=instants_to_archive,
                       guards=(LOCK_IS_FREE, ARCHIVING_LEFT, NONE_ON_BOTH, TO_ARCHIVE), effect=archive_instants,
                       changes=("own", "archive", "archivings")),
            transition("archiver_resumes_archiving", me, at="idle", to="removing", arguments=instants_on_both,
                       guards=(LOCK_IS_FREE, SOME_ON_BOTH), effect=resume_archiving),
            transition("archiver_removes_instant", me, at="removing", arguments=next_removal, effect=remove_instant,
                       changes=("own", "removed")),
        )  # fmt: skip
    put_back_late_publications(composition)
    refuse_late_requests(composition)
    reader.compose(composition)


def instants_left(active_instants: Published, removed: Times) -> Published:
    """Define the view `active_instants`: omit the instants that an archiver has removed from the active timeline."""
    return tuple(entry for entry in active_instants if entry.requested not in removed)


def visible_instants(visible_instants: Published, removed: Times) -> Published:
    """Redefine the view `visible_instants` to omit instants removed from the active timeline, for readers that never
    read the archive.
    """
    return tuple(entry for entry in visible_instants if entry.requested not in removed)


def none_is_on_both(archive: Times, removed: Times) -> bool:
    return archive == removed  # `removed` is a subset of `archive`


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


ARCHIVING_LEFT = limit_left("an archiving must be left", "archivings", lambda world: world[ArchiveLimits].archives)
NONE_ON_BOTH = Guard("nothing archived may be on the active timeline", none_is_on_both)
TO_ARCHIVE = Guard("there must be an instant that may go", some_archivable)
SOME_ON_BOTH = Guard("something archived must be on the active timeline", some_is_on_both)


def instants_to_archive(archivable_instants: tuple[int, ...]) -> Iterable[Args]:
    return ((("instants", archivable_instants),),)


def archive_instants(own: Archiver, archive: Times, archivings: int, *, instants: tuple[int, ...]) -> Changes:
    """Add instants to the archive and put the archive's manifest, in one atomic step."""
    archive = with_archived(archive, instants)
    return {"own": own._replace(left=instants), "archive": archive, "archivings": archivings + 1}


def instants_on_both(archive: Times, removed: Times) -> Iterable[Args]:
    """Return the instants that an archiver has archived but not yet removed from the active timeline."""
    return ((("instants", tuple(sorted(archive - removed))),),)


def resume_archiving(own: Archiver, *, instants: tuple[int, ...]) -> Changes:
    """Let an archiver finish a removal that another archiver has begun."""
    return {"own": own._replace(left=instants)}


def next_removal(own: Archiver) -> Iterable[Args]:
    """Return the instant that the archiver removes next, as a tuple of one requested time."""
    return ((("instants", next_to_go(own.left)),),)


def remove_instant(own: Archiver, removed: Times, *, instants: tuple[int, ...]) -> Changes:
    """Remove the oldest archived instant from the active timeline."""
    rest = tuple(instant for instant in own.left if instant not in instants)
    return {"own": own._replace(step="removing" if rest else "idle", left=rest), "removed": removed | set(instants)}


def with_archived(archive: Times, instants: tuple[int, ...]) -> Times:
    return archive | set(instants)


def next_to_go(instants: tuple[int, ...]) -> tuple[int, ...]:
    """Return the oldest of the instants still to be removed. Readers assume that instants older than the active
    timeline are completed, so no write or compaction may be removed before an older one. Cleans and restores may stay.
    """
    return instants[:1]


def check(world: World) -> None:
    """Raise ValueError if the world has an archiver and `instants_retained` is 0."""
    # Readers take an active timeline without writes for an empty table.
    least = int(world.actors.get("archiver", 0) > 0)
    whole_number(world[ArchiveLimits].instants_retained, "world: instants_retained", least=least)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(ARCHIVER,),
    options=Archiving,
    limits=ArchiveLimits,
    after=("metadata_table", "*"),  # `reader` refines a transition that `metadata_table` adds
    check=check,
    actions=(
        Action(ARCHIVER_ARCHIVES_INSTANTS, "under the lock: adds what may go to the archive and puts its manifest",
               "{actor} archives {instants}", service=True),
        Action("archiver_resumes_archiving", "takes over the removal of instants that are archived and still active",
               "{actor} resumes with {instants}, which are archived and still on the active timeline",
               service=True),
        Action("archiver_removes_instant", "takes the oldest of them off the active timeline",
               "{actor} takes {instants} off the active timeline", service=True),
        Action("reader_opens_archive", "reads the manifest of the archived timeline before it lists the active one",
               "{actor} opens the archive"),
        Action("reader_looks_into_archive", "reads the manifest of the archived timeline and what it lists",
               "{actor} reads the archive", continues_call=True),
    ),
)  # fmt: skip
