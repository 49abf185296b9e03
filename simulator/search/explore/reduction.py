"""Partial-order reduction: a search fuses an actor's private steps with the actor's next visible step.

A transition is private if it uses only its actor's component (state variable), and no other actor or checked promise
uses this component. A private step commutes with all steps of other actors, so a search can delay it until the actor's
next visible step.

A visible step, such as a crash, may be possible after any number of the actor's private steps; the search tries every
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nbcc.model.machine import TransitionSystem
from nbcc.model.machine.bound import BoundTransition


def touched(transition: BoundTransition) -> frozenset[str]:
    """Return the components (state variables) that a transition reads or writes."""
    return frozenset((*transition.reads, *transition.writes))


def private_transitions(model: TransitionSystem, promises: Iterable[Any]) -> frozenset[tuple[str, str]]:
    """Return the pairs (actor, action) of private transitions, which a search may fuse with visible steps."""
    rows = model.transitions
    watched = {name for promise in promises for name in promise.reads(model)}
    shared = {name for row in rows for name in touched(row) - {row.component}} | watched
    return frozenset(
        (row.actor, row.action)
        for row in rows
        if touched(row) == {row.component} and row.component not in shared
    )  # fmt: skip


def symmetric(private: frozenset[tuple[str, str]], exchangeable: Sequence[Sequence[str]]) -> frozenset[tuple[str, str]]:
    """Return the private transitions whose counterparts for all exchangeable actors are private too."""
    others = {name: each for each in exchangeable for name in each}
    return frozenset(
        (actor, action) for actor, action in private
        if all((other, action) in private for other in others.get(actor, (actor,)))
    )  # fmt: skip
