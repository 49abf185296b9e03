"""Defines the input of `nbcc prove`: a transition relation over any number of actors, with an inductive invariant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .logic import Relation, Sort, Term, Update, both

Formula = Callable[[Any], Term]
"""State -> truth value."""


@dataclass(frozen=True)
class SetParameter:
    """An action parameter whose value is a set of elements, such as the instants in a listing."""

    arguments: tuple[Sort, ...]


@dataclass(frozen=True)
class NewTimes:
    """New times for elements of several sorts, such as the items that one entry of a log decides: for each sort a
    function from its elements to times, and a time after all of them.
    """

    of: tuple[Callable[[Term], Term], ...]
    last: Term


@dataclass(frozen=True)
class TimesParameter:
    """An action parameter whose value is a `NewTimes`, for elements of the given sorts.

    A proof covers all values. `least` returns the only value that is compared with the model. Its arguments are the
    state and the action's earlier parameters.
    """

    sorts: tuple[Sort, ...]
    least: Callable[..., NewTimes]


Parameter = Sort | SetParameter | TimesParameter | str


@dataclass(frozen=True)
class Move:
    """An action of the transition relation. `others` names the actions of the executable model for which it stands,
    unless it stands for the action with the same words: "writer takes lock" stands for `writer_takes_lock`.

    `guard` and `updates` take the state and one value for each parameter. `updates` returns the new values of the
    relations that change.
    """

    name: str
    parameters: tuple[Parameter, ...]
    guard: Callable[..., Term]
    updates: Callable[..., Mapping[str, Update]]
    others: tuple[str, ...] = ()

    @property
    def stands_for(self) -> tuple[str, ...]:
        """The names of the corresponding actions of the executable model."""
        return self.others or (self.name.replace(" ", "_"),)

    def extend(
        self, guard: Callable[..., Term] | None = None, updates: Callable[..., Mapping[str, Update]] | None = None
    ) -> Move:
        """Return a copy of the action with an additional guard and additional updates."""
        if guard is not None:
            both_guards = partial(_and, self.guard, guard)
            return replace(self, guard=both_guards).extend(None, updates)
        return self if updates is None else replace(self, updates=partial(_joined, self.updates, updates))


def _and(first: Callable[..., Term], second: Callable[..., Term], *arguments: Any) -> Term:
    return both(first(*arguments), second(*arguments))


def _joined(
    first: Callable[..., Mapping[str, Update]], second: Callable[..., Mapping[str, Update]], *arguments: Any
) -> Mapping[str, Update]:
    return {**first(*arguments), **second(*arguments)}


@dataclass(frozen=True)
class Claim:
    """A promise as a formula. The formula `holds` must be true in every state; the formula `step` must be true for
    every pair of consecutive states.
    """

    promise: str
    about: str
    holds: Formula | None = None
    step: Callable[[Any, Any], Term] | None = None
    by: tuple[str, ...] = ()
    """The clauses that imply it; all of them unless given. Fewer clauses make a shorter proof."""
    missing: tuple[str, ...] = ()
    """What the promise of the model says and neither this formula nor another of the relation covers: one sentence
    each. A promise with such a sentence is PROVED IN PART.
    """


@dataclass(frozen=True)
class ProvedSystem:
    """A transition relation with its invariant and the promises that the invariant implies."""

    relations: tuple[Relation, ...]
    initially: Formula
    actions: tuple[Move, ...]
    clauses: Mapping[str, Formula]
    claims: tuple[Claim, ...]
    background: Mapping[str, Formula] = field(default_factory=dict)
    """Facts about fixed relations, assumed in every state."""
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Clause -> the other clauses with which its proof is tried first."""
    common: frozenset[str] = frozenset()
    """Clauses whose proofs use no other clauses than these: those of the core and of its actors. The clauses of one
    mechanism rest on them, never the reverse."""

    def premises(self, clause: str) -> tuple[str, ...]:
        """Return the clauses that a proof of the given clause may assume."""
        return tuple(name for name in self.clauses if name in self.common or clause not in self.common)

    def support(self, promise: str) -> frozenset[str]:
        """Return the clauses of the invariant that the proof of a promise uses."""
        used = {name for claim in self.claims if claim.promise == promise for name in claim.by or self.clauses}
        return self.common if used <= self.common else frozenset(self.clauses)
