"""Before publishing, an actor checks under the lock whether its instant may still be published.

A mechanism may add a condition that an actor must check before publishing. If the condition does not hold, the actor
releases the lock. It then removes the files and the instant of its unpublished operation.
"""

from __future__ import annotations

from typing import NamedTuple

from ..kernel.lock import LOCK_IS_FREE, release_lock
from ..kernel.publication import ABANDONS, COMMITS
from ..machine.composition import Composition
from ..machine.transition import Effect, Guard, transition

REFUSED = "refused"


class CommitCondition(NamedTuple):
    """The condition that one actor checks before publishing: the conjunction of the conditions added by mechanisms."""

    actor: str
    guard: Guard


def refuse(composition: Composition, kind: str, me: str, guard: Guard, give_up: Effect, check: str = COMMITS) -> None:
    """Let an actor publish only if the condition `guard` holds; otherwise, the actor gives up.

    `give_up` is the effect that removes the actor's files and instant. `check` selects the transitions that test the
    condition, by action or tag.
    """
    checks = composition.select(check, actors=[me])
    if earlier := composition.facts(CommitCondition).get(me):
        both = earlier.guard & guard
        checks.swap(earlier.guard, both)
        composition.select(f"{kind}_is_refused", actors=[me]).swap(~earlier.guard, ~both)
        composition.register(CommitCondition(me, both))
        return
    checks.require(guard)
    composition.register(CommitCondition(me, guard))
    checks.exit(lambda _: transition(f"{kind}_is_refused", me, to=REFUSED, guards=(~guard,), effect=release_lock,
                                         changes=("own", "lock"), tags=(ABANDONS,)))  # fmt: skip
    composition.add(transition(f"{kind}_gives_up", me, at=REFUSED, guards=(LOCK_IS_FREE,), effect=give_up))
