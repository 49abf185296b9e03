"""Before an archiver archives, it raises the floor: requests without the lock get no time at or below it.

A writer that requests its instant without the lock may put it after an archiver has listed the pending instants. The
archiver therefore puts the floor first, and then lists the instants that it archives. A writer reads the floor after it
has put its requested instant. The later of the two sees the other: either the archiver archives nothing past the
pending instant, or the writer withdraws its request before it has put a file, and takes a later time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock, take_lock
from ...kernel.timeline import Published
from ...kernel.writer import Writer
from ...machine.composition import Composition
from ...machine.transition import Changes, Guard, Transition, preset, transition
from ..archiving.mechanism import ARCHIVER, ARCHIVER_ARCHIVES_INSTANTS, TO_ARCHIVE
from ..clocks import Clock, all_readings

HAS_TIME, PUT, RAISED = "has an unlocked time", "has put its request", "has raised the floor"


class Unlocked(NamedTuple):
    """The requested time that a writer has read from its clock and not yet put on the timeline; 0 if there is none."""

    requested: int = 0


def compose(composition: Composition, puts_request: str, own_clock: Clock) -> None:
    """Let archivers raise the floor, and writers compare their requested times with it after the action `puts_request`.
    """
    if not composition.actors_of(ARCHIVER):
        return
    composition.add_component("floor", 0)
    for me in composition.actors_of(ARCHIVER):
        # Two steps: a request may be put between the floor and the listing, which then shows it.
        composition.select(ARCHIVER_ARCHIVES_INSTANTS, actors=[me]).split(raises_floor, archives)
        composition.add(transition("archiver_finds_request", me, at=RAISED, to="idle", guards=(HOLDS_LOCK, ~TO_ARCHIVE),
                                   effect=release_lock, changes=("own", "lock")))  # fmt: skip
    puts = composition.find(puts_request)
    puts.insert_after(PUT, lambda me: transition("writer_reads_floor", me, guards=(ABOVE_FLOOR,)))
    for each in puts:
        composition.add(transition("writer_withdraws_request", each.actor, at=PUT, to=HAS_TIME,
                                   effect=preset(withdraw, own_clock=own_clock), guards=(~ABOVE_FLOOR, LOCK_IS_FREE),
                                   arguments=preset(all_readings, own_clock=own_clock)))  # fmt: skip


def raises_floor(archives: Transition) -> Transition:
    """Return the first half: under the lock, the archiver puts the floor."""
    half = replace(archives, action="archiver_raises_floor", to=RAISED, effects=(raise_floor,), arguments=(),
                   changes=("own", "floor"))  # fmt: skip
    return half.extend(take_lock, "lock")


def archives(whole: Transition) -> Transition:
    """Return the second half: the archiver lists the timeline again, archives, and releases the lock."""
    half = replace(whole, action="archiver_archives_above_floor", at=RAISED, guards=(HOLDS_LOCK, TO_ARCHIVE))
    return half.extend(release_lock, "lock")


def raise_floor(floor: int, archivable_instants: tuple[int, ...], active_instants: Published) -> Changes:
    """Raise the floor to the times of the instants that may be archived."""
    # Completion times, which are later than the requested times of the same instants.
    return {"floor": max(floor, *(each.completed for each in active_instants if each.requested in archivable_instants))}


def is_above(own: Writer, floor: int) -> bool:
    return own.requested > floor


ABOVE_FLOOR = Guard("its requested time must be above the floor", is_above)


def withdraw(own: Writer, clock: int, floor: int, own_clock: Clock, *, ahead: int = 0) -> Changes:
    """Under the lock, delete the requested instant. Then read a time above the floor."""
    return {"own": own._replace(requested=0), "own_unlocked": read_clock(own_clock, clock, ahead, floor)}


def read_clock(own_clock: Clock, clock: int, ahead: int, after: int) -> Unlocked:
    """Return the next even time after `after` that the writer's clock shows."""
    time, _ = own_clock.take(clock, ahead, after)
    return Unlocked(time + time % 2)
