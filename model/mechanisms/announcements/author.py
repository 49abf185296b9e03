"""The steps by which an actor has its announcement decided: it learns the tail of the decision log, publishes the last
entry, lists the announcements, and creates the next entry.

The actor learns the tail before it lists. If an actor fails to create two entries after its announcement, the author of
the second one learned the tail after the announcement, and then listed it. The second entry decides the announcement.
An actor thus fails to create an entry at most twice (promise BOUNDED).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...kernel.publication import Publish
from ...machine.composition import Composition
from ...machine.transition import Action, Args, Branch, Changes, Guard, Transition, subsets, transition
from ...world import World
from ..restores.rules import Restore
from .rules import (
    NO_ENTRY,
    PLANS,
    DecidedEntry,
    is_restored,
    name_of,
    next_entry,
    restores_in,
    undecided,
    unpublished,
    with_clean_time,
)

ANNOUNCED, KNOWS_TAIL = "has announced", "knows the tail"
LISTING, LISTED = "lists the announcements", "has listed the announcements"
DECIDING = (ANNOUNCED, KNOWS_TAIL, LISTING, LISTED)
"""The steps at which an actor waits for the decision of its announcement."""

WRITER_FINDS_DECIDED, COMPACTOR_FINDS_DECIDED = "writer_finds_decided", "compactor_finds_decided"

Log = tuple[DecidedEntry, ...]
Timeline = tuple[Any, ...]


class Deciding(NamedTuple):
    """What an actor knows while it has its announcement decided. `announcement` is None while it makes a plan. `tail`
    is the number of the last entry that it knows. `listed` contains the announcements that it found undecided.
    `failed` counts how often another actor created the entry first. `void` is the entry that it has created under a
    number that was used before (`log_cut`).
    """

    announcement: Any = None
    tail: int = 0
    listed: frozenset[Any] = frozenset()
    failed: int = 0
    void: DecidedEntry | None = None


def on_timeline(
    published: tuple[Any, ...], plans: tuple[Any, ...], rollbacks: tuple[Any, ...] = (),
    restores: tuple[Any, ...] = (), savepoints: tuple[Any, ...] = (), cleans: tuple[Any, ...] = (),
) -> Timeline:  # fmt: skip
    """Define the view of everything that items of entries put on the timeline."""
    saved = (each for each in savepoints if each.completed is not None)
    return (*published, *plans, *cleans, *rollbacks, *restores, *saved)


def last_known(own_deciding: Deciding, entries: Log) -> DecidedEntry:
    """Return the last entry that the actor knows."""
    if own_deciding.void is not None:
        return own_deciding.void
    return entries[own_deciding.tail - 1] if own_deciding.tail else NO_ENTRY


# The conditions.


def all_is_published(own_deciding: Deciding, entries: Log, timeline: Timeline) -> bool:
    return not unpublished(last_known(own_deciding, entries), timeline)


def is_decided(own_deciding: Deciding, timeline: Timeline) -> bool:
    """True if the announced instant or plan is on the timeline."""
    mine = own_deciding.announcement
    if isinstance(mine, Restore):
        return is_restored(mine, restores_in(timeline))
    return mine is not None and name_of(mine) in map(name_of, timeline)


def is_refused(own_deciding: Deciding, entries: Log, timeline: Timeline) -> bool:
    """True if an entry has decided against the announcement: it committed the write that the actor wants to roll back,
    or undid the write that the actor wants to commit, or that it wants to roll back itself.
    """
    mine = own_deciding.announcement
    if mine is None or is_decided(own_deciding, timeline):
        return False
    return not undecided({mine}, last_known(own_deciding, entries), timeline)


def is_open(own_deciding: Deciding, entries: Log, timeline: Timeline) -> bool:
    """True if the actor has announced, and knows no decision about its announcement."""
    mine = own_deciding.announcement
    return mine is not None and bool(undecided({mine}, last_known(own_deciding, entries), timeline))


def announces_nothing(own_deciding: Deciding) -> bool:
    return own_deciding.announcement is None


ALL_PUBLISHED = Guard("every item of the last entry that it knows must be published", all_is_published)
SOME_UNPUBLISHED = Guard("an item of the last entry that it knows must be unpublished", all_is_published, negated=True)
DECIDED = Guard("what it announced must be decided", is_decided)
REFUSED = Guard("the opposite of what it announced must be decided", is_refused)
OPEN = Guard("what it announced must be undecided", is_open)
ANNOUNCES_NOTHING = Guard("it must not have announced anything", announces_nothing)


# The effects.


def announce_instant(own: Any, announced: frozenset[Any], publish: Publish) -> Changes:
    """Put the announcement of the actor's instant, with all that another actor needs to complete it."""
    return announce(publish(own._replace(completed=0))[1], announced)


def announce(announcement: Any, announced: frozenset[Any]) -> Changes:
    """Put an announcement if its name is absent. Several runners of one plan announce the same instant."""
    # What was announced first counts, as with put-if-absent: a second runner has the announcement of the first decided.
    there = next((each for each in announced if name_of(each) == name_of(announcement)), announcement)
    return {"own_deciding": Deciding(there), "announced": announced | {there}}


def learn_tail(own_deciding: Deciding, entries: Log) -> Changes:
    """List the decision log for the number of its last entry."""
    # What it has listed goes: it was undecided as of an older tail.
    return {"own_deciding": own_deciding._replace(tail=len(entries), listed=frozenset(), void=None)}


def publish_next(
    own_deciding: Deciding, entries: Log, timeline: Timeline, published: tuple[Any, ...], plans: tuple[Any, ...],
    rollbacks: tuple[Any, ...] = (), cleans: tuple[Any, ...] = (),
) -> Changes:  # fmt: skip
    """Put the earliest item of the last known entry that the timeline lacks."""
    # One item a step, the earliest first: readers must not meet a later completion without an earlier one.
    item = unpublished(last_known(own_deciding, entries), timeline)[0]
    values = {"published": published, "plans": plans, "rollbacks": rollbacks, "cleans": cleans}
    component = PLANS.get(type(item), "published")
    return {component: (*values[component], item)}


def publishes_item(composition: Composition, kind: str, me: str) -> Transition:
    """Return the transition by which an actor publishes the next item of the last entry that it knows."""
    puts = tuple(name for name in ("published", "plans", "rollbacks", "cleans") if name in composition.components)
    return transition(f"{kind}_publishes_item", me, at=KNOWS_TAIL, guards=(SOME_UNPUBLISHED,), effect=publish_next,
                      changes=puts)  # fmt: skip


def start_listing(own_deciding: Deciding, announced: frozenset[Any], entries: Log, timeline: Timeline) -> Changes:
    """Begin to list the announcements. The listing contains all that are there now."""
    return {"own_deciding": own_deciding._replace(listed=known_open(own_deciding, announced, entries, timeline))}


def announced_later(
    own_deciding: Deciding, announced: frozenset[Any], entries: Log, timeline: Timeline
) -> Iterable[Args]:
    """Yield every subset of the announcements put since the listing began: a listing may contain any of them."""
    later = known_open(own_deciding, announced - own_deciding.listed, entries, timeline)
    # By requested time, which names an announcement in a trace; sorted, so that every run has the same order.
    return ((("seen", part),) for part in subsets(sorted({each.requested for each in later})))


def end_listing(
    own_deciding: Deciding, announced: frozenset[Any], entries: Log, timeline: Timeline, *, seen: tuple[int, ...]
) -> Changes:
    """End the listing, and leave out the announcements that are decided by now."""
    listed = own_deciding.listed | {each for each in announced if each.requested in seen}
    # As far as the actor knows: it has published everything up to its tail, and looks at the timeline again.
    return {"own_deciding": own_deciding._replace(listed=known_open(own_deciding, listed, entries, timeline))}


def known_open(
    own_deciding: Deciding, announcements: frozenset[Any], entries: Log, timeline: Timeline
) -> frozenset[Any]:
    return undecided(announcements, last_known(own_deciding, entries), timeline)


def number_is_taken(own_deciding: Deciding, entries: Log) -> bool:
    return own_deciding.tail < len(entries)


def fail(own: Any, own_deciding: Deciding) -> Changes:
    """Learn the tail again, because another actor has created the entry with the same number."""
    # The count is the bound of promise BOUNDED, so that it is part of the state.
    deciding = own_deciding._replace(listed=frozenset(), failed=own_deciding.failed + 1)
    return {"own": own._replace(step=ANNOUNCED), "own_deciding": deciding}


def create_entry(own: Any, own_deciding: Deciding, entries: Log, world: World) -> Changes:
    """Create the next entry, which decides every announcement that the actor has listed."""
    entry = next_entry(with_clean_time(last_known(own_deciding, entries), world), own_deciding.listed)
    deciding = own_deciding._replace(tail=own_deciding.tail + 1, listed=frozenset())
    return {"own": own._replace(step=KNOWS_TAIL), "own_deciding": deciding, "entries": (*entries, entry)}


def author_steps(
    composition: Composition, kind: str, me: str, lists_if: Guard, *,
    first: str = ANNOUNCED, creates: Branch | None = None,
) -> tuple[Transition, ...]:  # fmt: skip
    """Return the five transitions of an author, which begins at the step `first` and lists the announcements only if
    the condition `lists_if` holds.
    """
    return (
        transition(f"{kind}_learns_tail", me, at=first, to=KNOWS_TAIL, effect=learn_tail),
        publishes_item(composition, kind, me),
        transition(f"{kind}_starts_listing_announced", me, at=KNOWS_TAIL, to=LISTING, effect=start_listing,
                   guards=(ALL_PUBLISHED, lists_if)),
        transition(f"{kind}_ends_listing_announced", me, at=LISTING, to=LISTED, arguments=announced_later,
                   effect=end_listing),
        transition(f"{kind}_creates_entry", me, at=LISTED, changes=("own", "entries"),
                   effect=creates or Branch(number_is_taken, (fail,), (create_entry,))),
    )  # fmt: skip


def author_actions(
    kind: str, *, creates: str, learns: str = "lists the decision log for the number of its last entry",
    ends: str = "ends the listing of the announcements", entry: str = "an entry",
) -> Iterator[Action]:  # fmt: skip
    """Yield the actions of an author. The keywords are the words that differ by kind of author."""
    yield Action(f"{kind}_learns_tail", learns, "{actor} learns the tail of the log", continues_call=True)
    yield Action(f"{kind}_publishes_item", "puts the next item of the last entry on the timeline",
                 "{actor} publishes an item of the last entry", continues_call=True)  # fmt: skip
    yield Action(f"{kind}_starts_listing_announced", "begins to list the announcements",
                 "{actor} starts listing the announcements", continues_call=True)  # fmt: skip
    yield Action(f"{kind}_ends_listing_announced", ends,
                 "{actor} ends its listing; of later announcements it shows {seen}", continues_call=True)  # fmt: skip
    yield Action(f"{kind}_creates_entry", creates, f"{{actor}} creates {entry}, or finds it taken",
                 continues_call=True)  # fmt: skip


def forget(own_deciding: Deciding) -> Changes:
    """Forget what a crashed actor knew, because no other actor can observe it."""
    return {"own_deciding": Deciding()}
