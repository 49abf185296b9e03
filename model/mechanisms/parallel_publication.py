"""The instants of one entry of the decision log are put on the timeline in any order, also at the same time.

The next entry is still created only after all instants of the last one are on the timeline. An instant takes effect
when it and all instants of its entry that complete before it are on the timeline. Instants thus take effect in the
order of their completion times, and the component (state variable) `published` has them in this order. The component
`early` contains the instants on the timeline that have not taken effect.

A listing of the timeline shows early instants, too. A reader therefore reads the last entry of the log after its first
listing. Its time is earlier than each instant of this entry that the listing has missed. A writer returns only when the
entry that decides its instant is published, because a reader ignores an instant behind a missing one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from ..kernel.compactor import COMPACTOR
from ..kernel.compactor import PLANS as PUTS_PLAN
from ..kernel.reader import (
    KEPT,
    NEWEST,
    READER,
    READER_STARTS_LISTING,
    READER_STARTS_LISTING_AGAIN,
    Reader,
    start_listing,
    start_second_listing,
)
from ..kernel.table import Instant, Plans
from ..kernel.timeline import ACTIVE, PENDING, Published
from ..kernel.writer import WRITER
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, ProtocolOptions, option
from ..machine.transition import Action, Args, Changes, Component, Guard, Preset, Transition, preset, transition
from ..protocol import Protocol
from ..world import World
from .announcements.author import ALL_PUBLISHED, DECIDED, KNOWS_TAIL, Deciding, Log, Timeline, last_known, learn_tail
from .announcements.rules import PLANS, DecidedEntry, unpublished
from .decision_log import DecisionLog
from .rollback.rollbacker import ROLLBACKER

PUBLISHERS = (WRITER, COMPACTOR, ROLLBACKER)
KINDS = (*PUBLISHERS, READER)
"""The kinds of actors with which parallel publication is modelled."""


class PublicationOrder(Options):
    """The option that selects in which order the instants of one entry are published."""

    publication: Literal["ascending", "parallel"] = option(
        "ascending",
        "ascending: the instants of an entry of the decision log are published one after the other, in the order of "
        "their completion times; parallel: in any order, and readers ignore an instant behind a missing one",
    )
    settled_by: Literal["entry", "listing"] = option(
        "entry",
        "entry: under parallel publication, a reader's time is earlier than each instant of the last entry that it "
        "lacks; listing: it is the newest instant that the reader lists",
    )


def is_parallel(protocol: ProtocolOptions) -> bool:
    """True if the instants of an entry are published in any order. Without announcements, an entry has one instant."""
    return protocol[DecisionLog].decision == "free" and protocol[PublicationOrder].publication == "parallel"


def compose(composition: Composition) -> None:
    """Let actors publish the instants of an entry in any order, and readers ignore those behind a missing one."""
    if not is_parallel(composition.protocol):
        return
    composition.add_component("early", ())
    composition.map_view("timeline", timeline_with_early)
    composition.map_view(ACTIVE, active_with_early)
    composition.map_view(PENDING, pending_but_early)
    composition.map_view(KEPT, kept_with_early)
    if composition.protocol[PublicationOrder].settled_by == "entry":
        composition.map_view(NEWEST, newest_settled)
    for kind in PUBLISHERS:
        composition.find(f"{kind.name}_publishes_item").replace(publishes_any)
        composition.find(f"{kind.name}_finds_decided").require(ENTRY_IS_KNOWN)
        for me in composition.actors_of(kind):
            composition.add(transition(f"{kind.name}_learns_newer_tail", me, at=KNOWS_TAIL, effect=learn_tail,
                                       guards=(ALL_PUBLISHED, DECIDED, ~ENTRY_IS_KNOWN)))  # fmt: skip
    composition.select(PUTS_PLAN, actors=composition.actors_of(ROLLBACKER)).replace(choosing_without_early)
    composition.find(READER_STARTS_LISTING).replace(partial(listing_early, start_listing))
    composition.find(READER_STARTS_LISTING_AGAIN).replace(partial(listing_early, start_second_listing))


# What is on the timeline.


def timeline_with_early(timeline: Timeline, early: Published) -> Timeline:
    return (*timeline, *early)


def active_with_early(active_instants: Published, early: Published) -> Published:
    return (*active_instants, *early)


def pending_but_early(pending_instants: Iterable[Instant], early: Published) -> Iterator[Instant]:
    names = {(entry.requested, entry.action) for entry in early}
    yield from (each for each in pending_instants if (each.requested, each.completes_as) not in names)


def kept_with_early(own: Reader, kept_instants: Published, early: Published) -> Published:
    return (*kept_instants, *(entry for entry in early if entry.requested in own.instants))


def choosing_without_early(plans: Transition) -> Transition:
    """Return a copy of the transition by which a rollbacker plans: the write of an early instant has not failed."""
    *others, failed = plans.guards
    choose, *more = plans.effects
    assert isinstance(choose, Preset)
    failed = replace(failed, holds=preset(failed.holds, published=Component(ACTIVE)))
    return replace(plans, guards=(*others, failed), effects=(preset(choose, published=Component(ACTIVE)), *more))


# How an entry is published.


def publishes_any(publishes: Transition) -> Transition:
    """Return a copy of the transition by which an actor publishes an item: it may be any unpublished one."""
    changes = (*publishes.changes, "early")
    return replace(publishes, arguments=(any_unpublished,), effects=(publish_any,), changes=changes)


def any_unpublished(own_deciding: Deciding, entries: Log, timeline: Timeline) -> Iterable[Args]:
    """Yield the requested time of each item of the last known entry that the timeline lacks."""
    left = unpublished(last_known(own_deciding, entries), timeline)
    return ((("item", (each.requested,)),) for each in left)


def publish_any(
    own_deciding: Deciding, entries: Log, timeline: Timeline, published: Published, plans: Plans, early: Published,
    rollbacks: tuple[Any, ...] = (), *, item: tuple[int],
) -> Changes:  # fmt: skip
    """Put one item of the last known entry on the timeline. Those that take effect by that are in `published`."""
    entry = last_known(own_deciding, entries)
    put = next(each for each in unpublished(entry, timeline) if each.requested in item)
    if component := PLANS.get(type(put)):
        values = {"plans": plans, "rollbacks": rollbacks}
        return {component: (*values[component], put)}
    there = (*early, put)
    settled = settled_items(entry, unpublished(entry, (*timeline, put)))
    effective = tuple(each for each in settled if each in there)
    return {"published": (*published, *effective), "early": tuple(each for each in there if each not in effective)}


def settled_items(entry: DecidedEntry, missing: Iterable[Any]) -> tuple[Any, ...]:
    """Return the completed instants of an entry that complete before every missing one."""
    bound = bound_of(missing)
    return tuple(each for each in entry.items if type(each) not in PLANS and (not bound or each.completed < bound))


def bound_of(missing: Iterable[Any]) -> int:
    """Return the completion time of the first missing instant; 0 if none is missing."""
    return min((each.completed for each in missing if type(each) not in PLANS), default=0)


def knows_entry(own_deciding: Deciding, entries: Log, timeline: Timeline) -> bool:
    """True if the last entry that the actor knows is the one that decides its announcement, or a later one."""
    mine, last = own_deciding.announcement, last_known(own_deciding, entries)
    if mine is None or type(mine) in PLANS:
        return True
    instants = (each for each in timeline if type(each) not in PLANS and each.requested == mine.requested)
    return any(each.completed < last.reserved for each in instants)


ENTRY_IS_KNOWN = Guard("it must know the entry that decides its announcement", knows_entry)


# How readers choose their time.


def listing_early(listed: Callable[..., Changes], starts: Transition) -> Transition:
    """Return a copy of a transition that starts a listing, which also shows early instants."""

    def lists(own: Reader, published: Published, plans: Plans, early: Published) -> Changes:
        return listed(own, (*published, *early), plans)

    return replace(starts, effects=tuple(lists if each is listed else each for each in starts.effects))


def newest_settled(shown_instants: Published, entries: Log) -> int:
    """Redefine the view `newest_shown`: a reader's time is earlier than each instant of the last entry that its first
    listing has missed. The reader reads the entry after this listing, so that all earlier entries are published before
    its second listing.
    """
    known = {each.requested for each in shown_instants}
    bound = bound_of(each for entry in entries[-1:] for each in entry.items if each.requested not in known)
    return max((each.completed for each in shown_instants if not bound or each.completed < bound), default=0)


def fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError for a world in which parallel publication is not modelled."""
    known = [kind.name for kind in KINDS]
    others = [kind for kind, count in sorted(world.actors.items()) if count and kind not in known]
    if is_parallel(protocol) and others:
        raise ValueError(f"world: publication = 'parallel' is not modelled with a {others[0].replace('_', ' ')}")


def _actions() -> Iterator[Action]:
    for kind in PUBLISHERS:
        yield Action(f"{kind.name}_learns_newer_tail",
                     "lists the decision log again, because a later entry than the known one decides its announcement",
                     "{actor} learns the newer tail of the log", continues_call=True)  # fmt: skip


MECHANISM = Mechanism(
    compose=compose,
    options=PublicationOrder,
    after=("announcements", "*"),
    fit=fit,
    actions=tuple(_actions()),
)
