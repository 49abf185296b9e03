"""Savepoints and restores that are announced, and that entries of the log decide.

A restorer announces to which savepoint it wants to return. The author of the entry that decides the restore finds what
it undoes: everything that completed after the savepoint, and every instant that is pending when the author has ended
its listings. The restore has the time that the entry before reserves, and it is the first item of its entry. So nothing
that it undoes completes after its time, and nothing else completes before it.

An actor that knows an old entry may put an item once more that a restore has undone. No actor believes it, because the
plan of the restore stays on the timeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...kernel.publication import Publication
from ...kernel.table import Plans, Table
from ...kernel.timeline import Published
from ...kernel.writer import Writer
from ...machine.composition import Composition
from ...machine.transition import Changes, Guard, Transition, preset, transition
from ...protocol import Protocol
from ...rules import Rules
from ...world import World
from ..cleaning.mechanism import CLEANER
from ..restores.mechanism import PLANNED, RESTORER, RESTORER_PLANS_RESTORE, Planned, Restorer, put_plan, to_undo
from ..restores.rules import Restore, newest_savepoint
from ..savepoints import (
    PINNED,
    SAVEPOINTER,
    SAVEPOINTER_PINS_INSTANT,
    SAVEPOINTER_PUBLISHES_SAVEPOINT,
    Savepoint,
    Savepointer,
    SavepointList,
    pin_instant,
)
from .author import ANNOUNCED, Deciding, Log, Timeline, announce, last_known
from .rules import COMPONENTS, NO_ENTRY, is_restored, unpublished


def savepoints_and_restores(composition: Composition) -> None:
    """Let savepointers and restorers announce, and let every author decide and publish savepoints and restores."""
    savepointers, restorers = composition.actors_of(SAVEPOINTER), composition.actors_of(RESTORER)
    if not savepointers:
        return
    pins = composition.select(SAVEPOINTER_PINS_INSTANT, actors=savepointers)
    if composition.actors_of(CLEANER):
        pins.replace(finds_files)
        composition.add(*(transition(SAVEPOINTER_ANNOUNCES, me, at=PINNED, to=ANNOUNCED, effect=announce_pinned,
                                     changes=("announced",)) for me in savepointers))  # fmt: skip
    else:  # no other actor decides anything that concerns the files of the savepoint
        pins.replace(announces_savepoint)
    composition.select(SAVEPOINTER_PUBLISHES_SAVEPOINT, actors=savepointers).remove()
    if restorers:
        composition.select(RESTORER_PLANS_RESTORE, actors=restorers).replace(announces_restore)
    kinds = [kind for kind, actors in composition.actors.items() if actors]
    ends = composition.find(*(f"{kind}_ends_listing_announced" for kind in kinds))
    if restorers:
        ends.extend(preset(fill_restores, table_protocol=composition.protocol))
    puts = tuple(name for name in ("published", *COMPONENTS.values()) if name in composition.components)
    effect = publish_any if restorers else publish_savepoint
    composition.find(*(f"{kind}_publishes_item" for kind in kinds)).replace(
        lambda each: replace(each, effects=(effect,), changes=("own", *puts))
    )


def publication_of_savepoints(me: str) -> Publication:
    """Describe how a savepointer has its savepoint decided, like another actor its instant."""
    return Publication(SAVEPOINTER.name, me, ANNOUNCED, lambda own: (Savepointer(), None), "pinned")


# What is announced.


def announces_savepoint(pins: Transition) -> Transition:
    return replace(pins, to=ANNOUNCED, effects=(announce_savepoint,),
                   changes=("own", "announced", "savepoints_begun", "savepoints"))  # fmt: skip


def announce_savepoint(
    own: Savepointer, me: str, savepoints_begun: int, savepoints: SavepointList, published: Published,
    completed_table: Table, world: World, rules: Rules, announced: frozenset[Any],
) -> Changes:  # fmt: skip
    """Put the inflight savepoint, and announce it."""
    pinned = pin_instant(own, me, savepoints_begun, savepoints, published, completed_table, world, rules)
    # The mechanism `savepoints` pins under the lock, which is not held here.
    changes: dict[str, Any] = {name: value for name, value in pinned.items() if name != "lock"}
    begun = changes["savepoints"][-1]
    return {**changes, "own": changes["own"]._replace(step=ANNOUNCED), **announce(begun, announced)}


SAVEPOINTER_ANNOUNCES = "savepointer_announces"


def finds_files(pins: Transition) -> Transition:
    """Return a copy of the transition by which a savepointer pins an instant: a clean may be decided after it, and
    before the savepoint is announced.
    """
    return replace(pins, guards=(*pins.guards, LAST_IS_PUBLISHED), effects=(find_files,),
                   changes=("own", "savepoints_begun", "savepoints"))  # fmt: skip


def last_is_published(entries: Log, timeline: Timeline) -> bool:
    return not unpublished((entries or (NO_ENTRY,))[-1], timeline)


LAST_IS_PUBLISHED = Guard("every item of the last entry must be published", last_is_published)


def find_files(
    own: Savepointer, me: str, savepoints_begun: int, savepoints: SavepointList, published: Published,
    completed_table: Table, world: World, rules: Rules, entries: Log,
) -> Changes:  # fmt: skip
    """Put the inflight savepoint, and remember the last entry from which its files were found."""
    pinned = pin_instant(own, me, savepoints_begun, savepoints, published, completed_table, world, rules)
    changes: dict[str, Any] = {name: value for name, value in pinned.items() if name != "lock"}
    *others, begun = changes["savepoints"]
    made = begun._replace(planned_from=(entries or (NO_ENTRY,))[-1].reserved)
    return {**changes, "savepoints": (*others, made)}


def announce_pinned(own: Savepointer, savepoints: SavepointList, announced: frozenset[Any]) -> Changes:
    return announce(next(each for each in savepoints if each.requested == own.pinned), announced)


def announces_restore(plans: Transition) -> Transition:
    return replace(plans, to=ANNOUNCED, effects=(announce_restore,), changes=("own", "announced"))


def announce_restore(
    me: str, entries: Log, savepoints: SavepointList, announced: frozenset[Any]
) -> Changes:
    """Announce a restore to the newest savepoint. Only a restore that is decided later has a time as late as the
    announcement.
    """
    saved = newest_savepoint(savepoints)
    assert saved is not None, "the guard saw the same savepoints"
    # This names the announcement. The entry that decides it gives the restore its time.
    time = (entries or (NO_ENTRY,))[-1].reserved
    asked = Restore(time, saved.at, me, inflight=False, undone=(), saved_writes=saved.writes)
    return {"own": Restorer(step=ANNOUNCED), **announce(asked, announced)}


# What an author does.


def fill_restores(
    own_deciding: Deciding, table_protocol: Protocol, restores: Planned, published: Published, plans: Plans,
    savepoints: SavepointList, every_writer: Mapping[str, Writer],
) -> Changes:  # fmt: skip
    """Find what each listed restore undoes: all that completed after its savepoint, and all that is pending now."""

    def filled(asked: Restore) -> Restore:
        # The savepoint that was asked for, even if a newer one was decided meanwhile.
        to = tuple(each for each in savepoints if each.at == asked.at)
        undone = to_undo(table_protocol, restores, published, plans, to, every_writer)
        return asked._replace(undone=undone)

    listed = frozenset(filled(each) if isinstance(each, Restore) else each for each in own_deciding.listed)
    return {"own_deciding": own_deciding._replace(listed=listed)}


def publish_savepoint(
    own_deciding: Deciding, entries: Log, timeline: Timeline, published: Published, plans: Plans,
    savepoints: SavepointList, cleans: tuple[Any, ...] = (),
) -> Changes:  # fmt: skip
    """Put the earliest item that the timeline lacks, perhaps a savepoint."""
    item = unpublished(last_known(own_deciding, entries), timeline)[0]
    values = {"published": published, "plans": plans, "savepoints": _without(savepoints, item), "cleans": cleans}
    component = COMPONENTS.get(type(item), "published")
    return {component: (*values[component], item)}


def publish_any(
    own_deciding: Deciding, entries: Log, timeline: tuple[Any, ...], published: Published, plans: Plans,
    savepoints: SavepointList, restores: Planned,
) -> Changes:  # fmt: skip
    """Put the earliest item that the timeline lacks, perhaps a savepoint or a restore."""
    item = unpublished(last_known(own_deciding, entries), timeline)[0]
    if not isinstance(item, Restore):
        return publish_savepoint(own_deciding, entries, timeline, published, plans, savepoints)
    runs = Restorer(restore=item.requested, undone=item.undone, to=item.at, saved_writes=item.saved_writes)
    changes = put_plan(runs, item.runner, restores, published, plans, savepoints, read_meanwhile=True)
    return {name: value for name, value in changes.items() if name != "own"}


def _without(savepoints: SavepointList, item: Any) -> SavepointList:
    """Return the savepoints without the inflight one that a decided savepoint replaces."""
    replaced = item.requested if isinstance(item, Savepoint) else None
    return tuple(each for each in savepoints if each.requested != replaced)


# How an actor ends a decision.


def run_restore(own: Restorer, own_deciding: Deciding, restores: Planned) -> Changes:
    """Prepare to run the restore, which an entry has decided."""
    decided = next(each for each in restores if is_restored(own_deciding.announcement, (each,)))
    return {"own": own._replace(step=PLANNED, restore=decided.requested, undone=decided.undone)}


def drop_refused(own: Savepointer, own_deciding: Deciding, savepoints: SavepointList, savepoints_begun: int,
                 announced: frozenset[Any]) -> Changes:  # fmt: skip
    """Remove the inflight savepoint and its announcement, because an entry has decided a plan since its files were
    found. The savepointer begins again.
    """
    left = tuple(each for each in savepoints if each.requested != own.pinned)
    announced = announced - {own_deciding.announcement}
    return {"own": Savepointer(), "savepoints": left, "savepoints_begun": savepoints_begun - 1, "announced": announced}


def end_savepoint() -> Changes:
    """End the operation: the savepoint is on the timeline."""
    return {"own": Savepointer()}
