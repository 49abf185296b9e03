"""Reduction: a search fuses the private steps of an actor with the actor's next visible step.

A transition is private if it touches only the component of its actor, no transition of another actor touches this
component, and no judged promise reads it. A private step commutes with all steps of other actors. Consider two runs.
One run takes a private step early, and the other run takes the private step just before the actor's next visible step.
In both runs all other actors read the same values.

A visible step, such as a crash, is taken after each possible number of private steps. The transitions of a component
are not private if another actor reads the component. For example, another actor reads a writer's component to roll back
its write, or to let its heartbeat expire.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nbcc.model import Model
from nbcc.model.machine.bound import BoundTransition

from .transition_system import TransitionSystem


def touched(transition: BoundTransition) -> frozenset[str]:
    """Return the components that a transition reads or writes."""
    return frozenset((*transition.reads, *transition.writes))


def private_transitions(model: Model | TransitionSystem, promises: Iterable[Any]) -> frozenset[tuple[str, str]]:
    """Return the transitions, as (actor, action), that the search may fuse under this protocol and for these promises.
    """
    rows = model.transitions
    watched = {name for promise in promises for name in promise.reads(model)}
    shared = {name for row in rows for name in touched(row) - {row.component}} | watched
    return frozenset(
        (row.actor, row.action)
        for row in rows
        if touched(row) == {row.component} and row.component not in shared
    )  # fmt: skip


def symmetric(private: frozenset[tuple[str, str]], exchangeable: Sequence[Sequence[str]]) -> frozenset[tuple[str, str]]:
    """Return the private transitions that stay private under every exchange of actors."""
    others = {name: each for each in exchangeable for name in each}
    return frozenset(
        (actor, action) for actor, action in private
        if all((other, action) in private for other in others.get(actor, (actor,)))
    )  # fmt: skip
