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
from ...machine.transition import Action, Branch, Changes, Guard
from ...world import World
from ..queries import QUERIER, QUERIER_SETTLES, READING, SETTLED, UNSETTLED, Querier
from .author import (
    ALL_PUBLISHED,
    KNOWS_TAIL,
    Deciding,
    Log,
    author_actions,
    author_steps,
    create_entry,
    fail,
    number_is_taken,
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
        creates = Branch(number_is_taken, (fail_to_settle,), (create_to_settle,))
        composition.add(
            *author_steps(composition, QUERIER.name, me, ~HAS_CREATED, first=UNSETTLED, creates=creates)
        )


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
    yield from author_actions(
        QUERIER.name, creates="creates an entry, which reserves a time later than all that completed"
    )
