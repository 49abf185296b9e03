"""What a listing of the timeline shows while a restore takes instants off it, and how a reader copes with that.

A listing shows the instants that are on the timeline throughout, and any part of those that come or go while it runs.
A restore's plan comes first: a reader that sees the plan ignores what the restore undoes. A reader may miss in its
second listing both an undone instant and the plan. If it misses an instant that the first one showed, it lists again.
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
    SHOWN,
    Reader,
    forget_listing,
    kept_table,
    parts_of,
)
from ...kernel.table import Plan, Table
from ...kernel.timeline import Published
from ...machine.composition import Composition
from ...machine.transition import Args, Changes, Transition, go_to
from ..log_compaction.rules import WRITES
from .rules import Restore, is_gone

Planned = tuple[Restore, ...]


class Seen(NamedTuple):
    """`restores`: how many restores were planned when the listing began; `before`: when the first listing began.

    `first`: the instants with files, up to T, that the listing before has shown.
    """

    restores: int = 0
    before: int = 0
    first: tuple[int, ...] = ()


def compose(composition: Composition) -> None:
    """Refine how readers list."""
    if not composition.of("reader"):
        return
    composition.add_field("reader", "seen", Seen())
    composition.map_view(SHOWN, shown_instants)
    composition.map_view(NEWEST, newest_shown)
    composition.map_view(KEPT, kept_instants)
    composition.map_view(KEPT_TABLE, table_of_kept)
    composition.some("reader_starts_listing").precede(note_first_listing, "own_seen")
    composition.some("reader_starts_listing", "reader_starts_listing_again").extend(begin_listing, "own", "own_seen")
    ends = composition.some("reader_ends_listing", "reader_ends_listing_again")
    ends.replace(lambda each: replace(each, arguments=(listed_parts,)))
    ends.without(KEEPS).replace(_notes_first)
    twice = composition.some("reader_ends_listing_again")
    composition.some(KEEPS).extend(end_listing, "own", "own_seen")
    twice.divert(misses_instant, list_once_more)
    composition.some("reader_reads").divert(is_restored_away, go_to("refused"))


def _notes_first(ends: Transition) -> Transition:
    """The transition that ends the first listing: it notes what was shown before the listing is forgotten."""
    at = ends.effects.index(forget_listing)
    return replace(ends, effects=(*ends.effects[:at], note_first, *ends.effects[at:]))


def note_first_listing(own_seen: Seen, restores: Planned) -> Changes:
    return {"own_seen": own_seen._replace(before=len(restores))}


def begin_listing(own: Reader, own_seen: Seen, published: Published, restores: Planned) -> Changes:
    """Instants that a restore has undone and not deleted yet are there as well."""
    return {
        "own": own._replace(there=present(published, restores)),
        "own_seen": own_seen._replace(restores=len(restores)),
    }


def note_first(own: Reader, own_seen: Seen, shown_instants: Published) -> Changes:
    """Note what the first listing has shown."""
    return {"own_seen": own_seen._replace(restores=0, first=up_to(shown_instants, own.time))}


def end_listing(own: Reader, own_seen: Seen, restores: Planned, *, seen: tuple[int, ...]) -> Changes:
    """Keep the plans that the listing shows; a plan that goes while it runs is not shown."""
    undone = hidden(own_seen, seen, restores)
    plans = tuple(plan for plan in own.plans if plan not in undone and not is_gone(restores, plan))
    return {"own": own._replace(plans=plans), "own_seen": own_seen._replace(restores=len(restores), first=())}


def misses_instant(
    own: Reader, own_seen: Seen, shown_instants: Published, restores: Planned, *, seen: tuple[int, ...]
) -> bool:
    """Whether the listing misses an instant that the one before has shown, and no restore that it sees undid it."""
    known = {*up_to(shown_instants, own.time)} | hidden(own_seen, seen, restores)
    return not {*own_seen.first} <= known


def list_once_more(own: Reader, own_seen: Seen, shown_instants: Published) -> Changes:
    """A restore took the instant off the timeline while the listing ran: list again."""
    now = up_to(shown_instants, own.time)
    again = own._replace(step=LISTED, there=(), plans=())
    return {"own": again, "own_seen": own_seen._replace(restores=0, first=now)}


def is_restored_away(own: Reader, restores: Planned) -> bool:
    """Whether a restore has deleted what an instant has put that the read opens."""
    return bool(restores) and any(is_gone(restores, requested) for requested in (*own.kept, *own.plans))


def ever_published(published: Published, restores: Planned) -> Published:
    """The completed instants, those that were undone as well."""
    return (*published, *chain.from_iterable(each.entries for each in restores)) if restores else published


def present(published: Published, restores: Planned) -> tuple[int, ...]:
    """The requested times of the completed instants that are on storage, hidden or not."""
    return tuple(e.requested for e in ever_published(published, restores) if not is_gone(restores, e.requested))


def listed_parts(own: Reader, own_seen: Seen, published: Published, restores: Planned) -> Iterable[Args]:
    """Every part of what came or went since the listing began, by requested time; plans of restores among it."""
    throughout = _throughout(own, published, restores)
    entries = [entry.requested for entry in ever_published(published, restores)]
    some = [
        (*plans, *part)
        for plans in parts_of([each.requested for each in restores[own_seen.restores :]])
        for undone in (hidden(own_seen, plans, restores),)
        for part in parts_of([each for each in entries if each not in undone and each not in throughout])
    ]
    return ((("seen", part),) for part in some)


def shown_instants(
    own: Reader, own_seen: Seen, published: Published, restores: Planned, *, seen: tuple[int, ...]
) -> Published:
    """The view `shown_instants`: without what a restore has undone whose plan the listing shows."""
    listed = (_throughout(own, published, restores) | {*seen}) - hidden(own_seen, seen, restores)
    return tuple(entry for entry in ever_published(published, restores) if entry.requested in listed)


def newest_shown(newest_shown: int, own_seen: Seen, restores: Planned, *, seen: tuple[int, ...]) -> int:
    """The view `newest_shown`: no instant completes at or before the request of a restore any more."""
    return max(newest_shown, *(each.requested for each in known(own_seen, seen, restores)), 0)


def kept_instants(own: Reader, published: Published, restores: Planned) -> Published:
    """The view `kept_instants`: some of them may have been undone since."""
    return tuple(entry for entry in ever_published(published, restores) if entry.requested in own.kept)


def table_of_kept(own: Reader, kept_instants: Published, plans: tuple[Plan, ...], restores: Planned) -> Table:
    """The view `kept_table`: with plans that were undone."""
    return kept_table(own, kept_instants, all_plans(plans, restores))


def _throughout(own: Reader, published: Published, restores: Planned) -> set[int]:
    """The completed instants that were there when the listing began and still are."""
    return {*own.there} & {*present(published, restores)} if restores else {*own.there}


def hidden(own_seen: Seen, seen: tuple[int, ...], restores: Planned) -> set[int]:
    """What the restores have undone whose plans the listing shows."""
    return {undone for each in known(own_seen, seen, restores) for undone in each.undone}


def known(own_seen: Seen, seen: tuple[int, ...], restores: Planned) -> Planned:
    """The restores whose plans the listing shows."""
    begun = own_seen.restores
    return (*restores[:begun], *(each for each in restores[begun:] if each.requested in seen))


def up_to(entries: Iterable[Any], time: int) -> tuple[int, ...]:
    """The requested times of those completed by `time` that a restore could undo."""
    return tuple(e.requested for e in entries if isinstance(e, WRITES) and (e.completed or 0) <= time)


def all_plans(plans: tuple[Plan, ...], restores: Planned) -> tuple[Plan, ...]:
    """The plans, those that were undone as well."""
    return (*plans, *chain.from_iterable(each.plans for each in restores)) if restores else plans
