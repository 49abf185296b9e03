"""A system made of positional rows, for models of other people: packed and memoised like the table's own model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nbcc.model import State, Step
from nbcc.model.machine.bound import Bound, BoundGuard, BoundTransition
from nbcc.model.machine.state import Coding
from nbcc.model.machine.stepper import Stepper
from nbcc.model.machine.transition import Args


class Guard(NamedTuple):
    """A condition. `reason` says in words what must be so; a budget is a limit of the world, not of the protocol."""

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
    """

    action: str
    actor: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    own: tuple[Guard, ...]
    effect: Callable[..., tuple[Any, ...]]
    guards: tuple[Guard, ...] = ()
    choices: Callable[..., Iterable[Args]] = one_way


def bound(row: Row) -> BoundTransition:
    """The row as a transition whose names are resolved."""

    def guards(some: Iterable[Guard], reads: tuple[str, ...]) -> tuple[BoundGuard, ...]:
        return tuple(BoundGuard(each.reason, each.holds, reads, each.budget) for each in some)

    def effect(*values: Any, **args: Any) -> dict[str, Any]:
        return dict(zip(row.writes, row.effect(*values, **args), strict=True))

    own, others = guards(row.own, row.reads[:1]), guards(row.guards, row.reads)
    arguments = Bound(row.choices, row.reads)
    return BoundTransition(
        row.action, row.actor, row.reads, row.writes, own, others, arguments, Bound(effect, row.reads), row.reads[0]
    )


class RowSystem:
    """`first` are the components with their first values. `actors` maps a kind to names that may be exchangeable: each
    is the name of a component, and what stands for it wherever values speak of it."""

    uniform = False
    """True declares that all actors of a kind have the same rows but for their names, by construction. Then a sample of
    states suffices to exchange them; otherwise a search checks the exchange on all that it evaluated (`certify`)."""

    def __init__(self, first: Mapping[str, Any], rows: Iterable[Row], actors: Mapping[str, tuple[str, ...]]) -> None:
        self.actors = actors
        self.coding = Coding(first, actors.values())
        self.transitions = tuple(bound(row) for row in rows)
        self.stepper = Stepper(self.coding, self.transitions)
        self.initial: State = 0

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every step that can happen now with the state after it."""
        return self.stepper.successors(state)

    def component(self, state: State, name: str) -> Any:
        """What a component holds."""
        return self.coding.value(state, self.coding.place[name])

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """A function of a state: equal exactly where the values of these components are."""
        return self.coding.projection(names)
