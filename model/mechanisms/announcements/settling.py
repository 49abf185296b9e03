"""Queriers that settle the time of their query by an entry of the log, because no actor takes a lock.

Every instant that a later entry decides completes after the times that an entry reserves. A querier therefore creates
an entry, which also decides what is announced, and sees it published. The time that its entry reserves is settled then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...answers import BadInput
from ...machine.composition import Composition
from ...machine.transition import Action, Branch, Changes, Guard, transition
from ...world import World
from ..queries import QUERIER, QUERIER_SETTLES, READING, SETTLED, UNSETTLED, Querier
from .author import (
    ALL_PUBLISHED,
    KNOWS_TAIL,
    LISTED,
    LISTING,
    Deciding,
    Log,
    announced_later,
    create_entry,
    end_listing,
    fail,
    learn_tail,
    number_is_taken,
    publishes_item,
    start_listing,
)
from .rules import with_clean_time


def settle_by_entries(composition: Composition) -> None:
    """Let queriers settle the times of their queries by entries of the log."""
    if not composition.actors_of(QUERIER):
        return
    composition.add_field(QUERIER, "deciding", Deciding())
    composition.find(QUERIER_SETTLES).replace(lambda settles: replace(
        settles, at=KNOWS_TAIL, guards=(ALL_PUBLISHED, HAS_CREATED), effects=(end_settling,), changes=("own",)
    ))  # fmt: skip
    for me in composition.actors_of(QUERIER):
        composition.add(
            transition("querier_learns_tail", me, at=UNSETTLED, to=KNOWS_TAIL, effect=learn_tail),
            publishes_item(composition, QUERIER.name, me),
            transition("querier_starts_listing_announced", me, at=KNOWS_TAIL, to=LISTING, effect=start_listing,
                       guards=(ALL_PUBLISHED, ~HAS_CREATED)),
            transition("querier_ends_listing_announced", me, at=LISTING, to=LISTED, arguments=announced_later,
                       effect=end_listing),
            transition("querier_creates_entry", me, at=LISTED, changes=("own", "entries"),
                       effect=Branch(number_is_taken, (fail_to_settle,), (create_to_settle,))),
        )  # fmt: skip


def has_created(own: Querier) -> bool:
    """True if the querier has created an entry. It then knows that its time is settled, or in the future."""
    return own.settled >= own.until or bool(own.refusal)


HAS_CREATED = Guard("it must have created its entry", has_created)


def fail_to_settle(own: Querier, own_deciding: Deciding) -> Changes:
    """Learn the tail again, because another actor has created the entry with the same number."""
    return {**fail(own, own_deciding), "own": own._replace(step=UNSETTLED)}


def create_to_settle(own: Querier, own_deciding: Deciding, entries: Log, world: World) -> Changes:
    """Create the next entry. A time after those that it reserves is in the future."""
    changes: dict[str, Any] = {**create_entry(own, own_deciding, entries, world)}
    settled = with_clean_time(changes["entries"][-1], world).reserved
    refusal = "" if own.until <= settled else BadInput.__name__
    return {**changes, "own": own._replace(step=KNOWS_TAIL, settled=settled, refusal=refusal)}


def end_settling(own: Querier) -> Changes:
    """End the decision: everything that completed by the settled time is on the timeline."""
    return {"own": own._replace(step=READING if own.refusal else SETTLED), "own_deciding": Deciding()}


def settling_actions() -> Iterator[Action]:
    """Yield the actions by which queriers create an entry."""
    yield Action("querier_learns_tail", "lists the decision log for the number of its last entry",
                 "{actor} learns the tail of the log", continues_call=True)  # fmt: skip
    yield Action("querier_publishes_item", "puts the next item of the last entry on the timeline",
                 "{actor} publishes an item of the last entry", continues_call=True)  # fmt: skip
    yield Action("querier_starts_listing_announced", "begins to list the announcements",
                 "{actor} starts listing the announcements", continues_call=True)  # fmt: skip
    yield Action("querier_ends_listing_announced", "ends the listing of the announcements",
                 "{actor} ends its listing; of later announcements it shows {seen}", continues_call=True)  # fmt: skip
    yield Action("querier_creates_entry", "creates an entry, which reserves a time later than all that completed",
                 "{actor} creates an entry, or finds it taken", continues_call=True)  # fmt: skip
