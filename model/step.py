"""Rows: transitions that address components by position. Temporary, until every module names what it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .machine.binding import Bound, BoundGuard, BoundTransition
from .machine.transition import Action, Args, Refused, Step

__all__ = ["Action", "Args", "Guard", "Refused", "Row", "Step", "bound", "one_way"]


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
