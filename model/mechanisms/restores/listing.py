"""Defines how readers list a timeline from which a restore is removing instants.

A listing shows every instant that stays on the timeline throughout the listing. A listing also shows an arbitrary
subset of the instants that appear or disappear during the listing. The plan of a restore is on the timeline before any
instant is removed. A reader whose listing shows the plan of a restore ignores the instants that the restore undoes. If
a restore is planned during a reader's second listing, the listing may show neither the plan nor an instant that the
restore removes. If the second listing misses an instant that the first listing showed, the reader lists again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from ...kernel.reader import (
    KEEPS,
    KEPT,
    KEPT_TABLE,
    LISTED,
    NEWEST,
    READER,
    READER_ENDS_LISTING,
    READER_ENDS_LISTING_AGAIN,
    READER_READS,
    READER_STARTS_LISTING,
    READER_STARTS_LISTING_AGAIN,
    SHOWN,
    SURE,
    Reader,
    keep_instants,
    kept_table,
    take_time,
)
from ...kernel.table import Plan, Table
from ...kernel.timeline import Published
from ...machine.composition import Composition
from ...machine.transition import Args, Changes, Transition, go_to, preset, subsets
from ..log_compaction.rules import ADDS_FILES
from .rules import Restore, is_gone

Planned = tuple[Restore, ...]


class SeenRestores(NamedTuple):
    """The extra state of each reader in a model with restores. `restores` is the number of restores already planned
    when the current listing began; `before` is their number when the first listing began.

    `first` contains the requested times of writes and compactions in the previous listing; those that completed after
    the reader's time are omitted.
    """

    restores: int = 0
    before: int = 0
    first: tuple[int, ...] = ()


def compose(composition: Composition) -> None:
    """Let readers list the timeline in a way that tolerates concurrent restores."""
    if not composition.actors_of(READER):
        return
    composition.add_field(READER, "seen", SeenRestores())
    composition.map_view(SHOWN, shown_instants)
    composition.map_view(NEWEST, newest_shown)
    composition.map_view(KEPT, kept_instants)
    composition.map_view(KEPT_TABLE, table_of_kept)
    composition.find(READER_STARTS_LISTING).extend(begin_first_listing, "own", "own_seen")
    composition.find(READER_STARTS_LISTING_AGAIN).extend(begin_listing, "own", "own_seen")
    # From the general to the special: each `replace` overwrites effects that the one before it has set.
    ends = composition.find(READER_ENDS_LISTING, READER_ENDS_LISTING_AGAIN).replace(_ends_listing)
    ends.without(KEEPS).replace(_ends_first_listing)
    composition.find(READER_ENDS_LISTING_AGAIN).replace(_ends_second_listing)
    composition.find(READER_READS).divert(is_restored_away, go_to("refused"))


def _ends_listing(ends: Transition) -> Transition:
    # By identity: other mechanisms have added effects of their own, which stay in their places.
    effects = (keep_shown if effect is keep_instants else effect for effect in ends.effects)
    return replace(ends, arguments=(listed_parts,), effects=tuple(effects))


def _ends_first_listing(ends: Transition) -> Transition:
    return replace(ends, effects=(preset(end_first_listing, takes_time=take_time in ends.effects),))


def _ends_second_listing(ends: Transition) -> Transition:
    return replace(ends, to="", effects=(end_second_listing,))


def begin_first_listing(own: Reader, own_seen: SeenRestores, published: Published, restores: Planned) -> Changes:
    """Begin the first listing, and record the number of restores planned so far."""
    return begin_listing(own, own_seen._replace(before=len(restores)), published, restores)


def begin_listing(own: Reader, own_seen: SeenRestores, published: Published, restores: Planned) -> Changes:
    """Begin a listing, which may also show undone instants that a restore has not yet deleted."""
    there = own._replace(at_start=present(published, restores))
    return {"own": there, "own_seen": own_seen._replace(restores=len(restores))}


def end_first_listing(
    own: Reader, own_seen: SeenRestores, shown_instants: Published, restores: Planned, takes_time: bool,
    *, seen: tuple[int, ...],
) -> Changes:  # fmt: skip
    """Record the listed instants. The reader's time becomes the maximum of the completion times of listed instants and
    the requested times of listed restores.
    """
    # Under `read_time = clock` the time was taken before the listing, and must stay as it is.
    time = newest(shown_instants, known(own_seen, seen, restores)) if takes_time else own.time
    first = up_to(shown_instants, time)
    return {
        "own": own._replace(at_start=(), plans=(), time=time),
        "own_seen": own_seen._replace(restores=0, first=first),
    }


def keep_shown(
    own: Reader, own_seen: SeenRestores, shown_instants: Published, restores: Planned, *, seen: tuple[int, ...]
) -> Changes:
    """Record the listed plans, and the listed instants that completed at or before the reader's time T.

    A plan that disappears during the listing is left out.
    """
    undone = hidden(own_seen, seen, restores)
    plans = tuple(plan for plan in own.plans if plan not in undone and not is_gone(restores, plan))
    kept = tuple(entry.requested for entry in shown_instants if entry.completed <= own.time)
    after = own._replace(at_start=(), instants=kept, plans=plans)
    # `first` is dropped: it is not compared again, and would only multiply the states.
    return {"own": after, "own_seen": SeenRestores(len(restores), own_seen.before)}


def end_second_listing(
    own: Reader, own_seen: SeenRestores, shown_instants: Published, restores: Planned, *, seen: tuple[int, ...]
) -> Changes:
    """Accept the listing, or list again if an instant of the previous listing is missing.

    An instant is missing if a restore has removed it during the listing, and the listing does not show the plan of the
    restore.
    """
    now = up_to(shown_instants, own.time)
    if misses(own_seen.first, now, hidden(own_seen, seen, restores)):
        # Back to the second listing, not to the first: the reader keeps the time that it has taken.
        again = own._replace(step=LISTED, at_start=(), plans=())
        return {"own": again, "own_seen": own_seen._replace(restores=0, first=now)}
    return keep_shown(own._replace(step=SURE), own_seen, shown_instants, restores, seen=seen)


def misses(before: tuple[int, ...], now: tuple[int, ...], undone: set[int]) -> bool:
    """True if an instant of the previous listing has disappeared, and no restore in the current listing explains this.
    """
    return not {*before} <= {*now} | undone


def is_restored_away(own: Reader, restores: Planned) -> bool:
    """True if a restore has removed an instant or plan that the read needs. A plan that is newer than the read's time
    divides no logs that the read keeps.
    """
    # A plan counts, too: without it the logs that it divides would belong to one slice.
    needed = (*own.instants, *(plan for plan in own.plans if plan <= own.time))
    return bool(restores) and any(is_gone(restores, requested) for requested in needed)


def ever_published(published: Published, restores: Planned) -> Published:
    """Return all completed instants, including those undone by a restore."""
    return (*published, *chain.from_iterable(each.entries for each in restores)) if restores else published


def present(published: Published, restores: Planned) -> tuple[int, ...]:
    """Return the requested times of the completed instants whose files exist. An undone instant is included until the
    restore deletes its files.
    """
    # By files, not by the plan: a listing shows an undone instant until its timeline file is deleted.
    return tuple(e.requested for e in ever_published(published, restores) if not is_gone(restores, e.requested))


def listed_parts(own: Reader, own_seen: SeenRestores, published: Published, restores: Planned) -> Iterable[Args]:
    """Yield each possible listing as a tuple of requested times. A listing may show any of the restore plans and
    instants that appeared or disappeared since it began.
    """
    # All subsets: a storage may show each concurrent change or not, and in no particular order.
    throughout = _throughout(own, published, restores)
    entries = [entry.requested for entry in ever_published(published, restores)]
    some = [
        (*plans, *part)
        for plans in subsets([each.requested for each in restores[own_seen.restores :]])
        for undone in (hidden(own_seen, plans, restores),)
        for part in subsets([each for each in entries if each not in undone and each not in throughout])
    ]
    return ((("seen", part),) for part in some)


def shown_instants(
    own: Reader, own_seen: SeenRestores, published: Published, restores: Planned, *, seen: tuple[int, ...]
) -> Published:
    """Define the view `shown_instants`: the instants in the listing, without those undone by a restore in the listing.
    """
    listed = (_throughout(own, published, restores) | {*seen}) - hidden(own_seen, seen, restores)
    return tuple(entry for entry in ever_published(published, restores) if entry.requested in listed)


def newest_shown(shown_instants: Published, own_seen: SeenRestores, restores: Planned, *, seen: tuple[int, ...]) -> int:
    """Define the view `newest_shown`: the maximum of the completion times of listed instants and the requested times of
    listed restores.
    """
    return newest(shown_instants, known(own_seen, seen, restores))


def newest(entries: Published, restores: Planned) -> int:
    """Return the maximum of the completion times of `entries` and the requested times of `restores`. Once a restore is
    planned, no instant can complete at or before the restore's requested time.
    """
    return max((*(each.completed for each in entries), *(each.requested for each in restores)), default=0)


def kept_instants(own: Reader, published: Published, restores: Planned) -> Published:
    """Define the view `kept_instants`: the instants that a reader has listed, even if a restore has undone them since.
    """
    return tuple(entry for entry in ever_published(published, restores) if entry.requested in own.instants)


def table_of_kept(own: Reader, kept_instants: Published, plans: tuple[Plan, ...], restores: Planned) -> Table:
    """Define the view `kept_table`: the table that a reader has listed, including plans that a restore has undone
    since.
    """
    return kept_table(own, kept_instants, all_plans(plans, restores))


def _throughout(own: Reader, published: Published, restores: Planned) -> set[int]:
    return {*own.at_start} & {*present(published, restores)} if restores else {*own.at_start}


def hidden(own_seen: SeenRestores, seen: tuple[int, ...], restores: Planned) -> set[int]:
    """Return the requested times of the instants undone by the restores that the listing shows."""
    return {undone for each in known(own_seen, seen, restores) for undone in each.undone}


def known(own_seen: SeenRestores, seen: tuple[int, ...], restores: Planned) -> Planned:
    """Return the restores whose plans are in the listing."""
    begun = own_seen.restores
    return (*restores[:begun], *(each for each in restores[begun:] if each.requested in seen))


def up_to(entries: Iterable[Any], time: int) -> tuple[int, ...]:
    """Return the requested times of the instants with data files that completed at or before `time`."""
    return tuple(e.requested for e in entries if isinstance(e, ADDS_FILES) and (e.completed or 0) <= time)


def all_plans(plans: tuple[Plan, ...], restores: Planned) -> tuple[Plan, ...]:
    """Return all compaction plans, including those undone by a restore."""
    return (*plans, *chain.from_iterable(each.plans for each in restores)) if restores else plans
