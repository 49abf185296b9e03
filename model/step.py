"""A step, and a row of the table of actions: what it touches, when it can happen, what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Args = tuple[tuple[str, object], ...]


class Step(NamedTuple):
    """One action of one actor; `args` are (name, value) pairs, so that a step is a value that can be looked up."""

    actor: str
    action: str
    args: Args = ()


class Action(NamedTuple):
    """What is known of an action without a world: `says` is a sentence with {actor} and the names of its args.

    `joins`: at the grain `peer` it follows its actor's step before it directly, because one call does both.
    """

    name: str
    about: str
    says: str
    joins: bool = False


class Guard(NamedTuple):
    """A condition. `reason` says in words what must be so; a budget is a limit of the world, not of the protocol.

    `rests_on`: components, of those that its row reads, which its answer rests on; (): all of them. Where these are
    few it is looked at once per values of them, before the rest of the row.
    """

    reason: str
    holds: Callable[..., bool]
    budget: bool = False
    rests_on: tuple[str, ...] = ()


def one_way(*_: object) -> Iterable[Args]:
    """The choices of a row whose effect has no arguments."""
    return ((),)


class Row(NamedTuple):
    """One action of one actor in one world under one protocol.

    `reads` names the components whose values are given, in this order, to guards, choices and effect. The first one is
    the actor's own; `own` are the guards over that component alone (looked at first, once per value of it).
    `choices` gives the arguments that are possible now; `effect(*values, **args)` gives the new values of `writes`.
    No step may look at, or change, anything that is not named here: memo and independence rest on it, a test holds it.
    """

    action: str
    actor: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    own: tuple[Guard, ...]
    effect: Callable[..., tuple[Any, ...]]
    guards: tuple[Guard, ...] = ()
    choices: Callable[..., Iterable[Args]] = one_way

    def reading(self, *more: str) -> Row:
        """The row that is given these components as well, behind its own: none of its functions sees them."""

        def as_before(function: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *values, **args: function(*values[: len(self.reads)], **args)

        return self._replace(
            reads=(*self.reads, *more),
            effect=as_before(self.effect),
            guards=tuple(guard._replace(holds=as_before(guard.holds)) for guard in self.guards),
            choices=as_before(self.choices),
        )

    def asking(self, guard: Guard, *more: str) -> Row:
        """The row with another condition, which is given the actor's own component and these."""
        row, mine = self.reading(*more), slice(len(self.reads) - 1, None)
        asked = guard._replace(holds=lambda own, *values: guard.holds(own, *values[mine]))
        return row._replace(guards=(*row.guards, asked))


class Refused(ValueError):
    """A step that cannot happen in this state; `reasons` lists every condition that was false."""

    def __init__(self, step: Step, reasons: tuple[str, ...]) -> None:
        self.step = step
        self.reasons = reasons
        super().__init__(f"{step.actor} cannot do {step.action}: {'; '.join(reasons)}")

    def __reduce__(self) -> tuple[type[Refused], tuple[Step, tuple[str, ...]]]:
        return type(self), (self.step, self.reasons)  # else another process could not be told
