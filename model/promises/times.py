"""Promise MONO: times are unique, and instants are published in completion order."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import chain, pairwise
from typing import Any

from ..kernel.publication import READY, Publication
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.clock_waits import REQUESTING
from ..mechanisms.clocks import Clock, clock_of
from ..mechanisms.lost_locks import LostLocks
from ..mechanisms.requests.mechanism import requests_without_lock
from ..model import Model
from .promise import Promise, components_in, protocol_of, value_in
from .shape import shape_of

PLANS = ("plans", "log_plans", "cleans", "rollbacks", "restores")
"""The components of plans. The runner of a plan publishes its instant, with the requested time of the plan."""
OTHERS = ("decisions",)


def monotonic_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise MONO: times are pairwise distinct, each instant is requested before it completes, and instants are
    published in completion order.
    """
    published = model.component(after, "published")
    times = [*_on_timeline(model, after, published), *_of_actors(model, after, published)]
    if len(set(times)) < len(times):
        twice = next(time for time in times if times.count(time) > 1)
        return f"the time t{twice} was taken twice"
    for entry in published:
        if entry.completed <= entry.requested:
            return f"the {entry.action} requested at t{entry.requested} completed at t{entry.completed}, not later"
    for earlier, later in pairwise(published):
        if later.completed < earlier.completed:
            return (
                f"{later.actor} published its {later.action} (completed t{later.completed}) after {earlier.actor}'s "
                f"{earlier.action} (completed t{earlier.completed})"
            )
    return None


def _on_timeline(model: Model, state: State, published: tuple[Any, ...]) -> Iterator[int]:
    done = {entry.requested for entry in published}
    for entry in published:
        yield from (entry.requested, entry.completed)
    # A plan and its completed instant share their requested time, which is counted once.
    for name in PLANS:
        yield from (plan.requested for plan in value_in(model, state, name) if plan.requested not in done)
    # Only the last entry can be without its publication: an entry is made after all before it are published.
    for decided in value_in(model, state, "decisions")[-1:]:
        if not isinstance(decided, int) and decided not in published:
            yield decided.completed


def _of_actors(model: Model, state: State, published: tuple[Any, ...]) -> Iterator[int]:
    if not may_repeat_times(model):
        return
    known = {(entry.requested, entry.actor) for entry in published}
    decided = (entry for entry in value_in(model, state, "decisions") if not isinstance(entry, int))
    used = {entry.completed for entry in chain(published, decided)}
    for me, each in model.composition.facts(Publication).items():
        own = model.component(state, me)
        requested = getattr(own, each.requested)
        # Between taking a time and putting it, the state of the actor alone has it.
        if each.kind in REQUESTING and requested and (requested, me) not in known:
            yield requested
        if own.step == READY and own.completed and own.completed not in used:
            yield own.completed


def may_repeat_times(model: Model) -> bool:
    """True if two actors could be assigned equal times: clocks differ, clocks are coarse, locks can be lost, or
    requests need no lock.

    Only then does promise MONO also check times that are not yet on the timeline.
    """

    def compute() -> bool:
        actors = chain.from_iterable(model.actors.values())
        return model.world[LostLocks].lock_losses > 0 or requests_without_lock(model.protocol) or any(
            clock_of(model.world, protocol_of(model, me)) != Clock() for me in actors
        )

    return model.derive(model.initial, (), "times may repeat", compute)


def _on_times(model: Model) -> tuple[str, ...]:
    actors = model.composition.facts(Publication) if may_repeat_times(model) else ()
    return ("published", *components_in(model, *PLANS, *OTHERS), *actors)


def _shape(model: Model, *states: State) -> Hashable | None:
    others = components_in(model, *PLANS[1:], *OTHERS)
    return None if others or may_repeat_times(model) else shape_of(model, *states)


MONO = Promise(
    name="MONO",
    about="Times are pairwise distinct, requested < completed, published in the order of completion.",
    source="RFC-66, global monotonically increasing timestamp",
    kind="state",
    holds=monotonic_holds,
    sometimes=lambda model, state: len(model.component(state, "published")) > 1,
    reads=_on_times,
    shape=_shape,
)
