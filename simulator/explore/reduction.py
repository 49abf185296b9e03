"""Reduction: an actor's private steps happen together with its next visible one.

A row is private if it touches its own component alone, no row of another component touches that component, and no
promise under watch rests on it. Such a step commutes with every step of everybody else, so a run that takes it early
and one that takes it just before the actor's next visible step pass through the same values of everything that anybody
else, or a promise, can see. An actor's visible step, a crash among them, is taken after each number of private steps
that could have happened: a crash chooses how many had. Where another actor looks at the component (to roll it back,
to let it expire, because a protocol reads what is not published), its rows are not private and stay steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nbcc.model import Model
from nbcc.model.machine.bound import BoundTransition

from .transition_system import TransitionSystem


def touched(row: BoundTransition) -> frozenset[str]:
    """The components that a row reads or writes."""
    return frozenset((*row.reads, *row.writes))


def private_rows(model: Model | TransitionSystem, promises: Iterable[Any]) -> frozenset[tuple[str, str]]:
    """The rows, as (actor, action), that may be fused under this protocol and for these promises."""
    rows = model.transitions
    watched = {name for promise in promises for name in promise.reads(model)}
    shared = {name for row in rows for name in touched(row) - {row.component}} | watched
    return frozenset(
        (row.actor, row.action)
        for row in rows
        if touched(row) == {row.component} and row.component not in shared
    )  # fmt: skip


def symmetric(private: frozenset[tuple[str, str]], exchangeable: Sequence[Sequence[str]]) -> frozenset[tuple[str, str]]:
    """The private rows whose counterparts under every exchange are private, too."""
    others = {name: each for each in exchangeable for name in each}
    return frozenset(
        (actor, action) for actor, action in private
        if all((other, action) in private for other in others.get(actor, (actor,)))
    )  # fmt: skip
