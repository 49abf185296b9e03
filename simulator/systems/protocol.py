"""The interface of a system: it takes steps one at a time, and its table can be observed between two steps.

Times are ticks of one clock, as in the model. If the times of a system are instants, the system translates ticks to
instants (`nbcc.simulator.control.clock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class CannotPlay(ValueError):
    """Raised if a system cannot follow a protocol or play in a world. The message states the reason and suggests an
    alternative.
    """


class CannotStep(Exception):
    """Raised if the system cannot take a step that the model allows now. The message describes what the system did.
    """


class Impossible(CannotStep):
    """Raised if the system cannot play a step or answer a read. The message states the reason. The check skips and
    counts each step that raises `Impossible`.
    """


class Operation(Protocol):
    """One operation of one actor, in progress."""

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the segment of the operation that corresponds to the given model action.

        Returns the observed values, each under its name. A name that is also an argument of the action (``group``,
        ``version``) must have the argument's value. A value with the name ``rows`` is the answer of a read.

        Raises:
            CannotStep: the segment cannot be run to its end.
        """
        ...

    def crash(self) -> None:
        """End the actor's thread before its next access to the table. Later accesses of the actor have no effect on the
        table.
        """
        ...


class System(Protocol):
    """A system: a table on which several actors work.

    A system may also have `slices_as_of(time)`, which returns past file slices in the form of `slices`. If
    `refuses_by_class` of a system is True, the check compares the classes of its refusals. If `refuses_by_class` is
    True, `rows` returns `crosscheck.observables.refused(error)` for a refused read. If a system has the method
    `stream_step(actor, action, own)`, streams take their steps on the system as well.
    """

    name: str

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> Operation:
        """Prepare an operation of an actor, before its first visible access."""
        ...

    def timeline(self) -> tuple[Any, ...]:
        """Return ``(action, state, requested, completed or None)`` for every instant, sorted by requested time."""
        ...

    def slices(self) -> tuple[Any, ...]:
        """Return ``(group, barrier, base, ((requested, version), ...))`` for every file slice, sorted by group and
        barrier.
        """
        ...

    def rows(self, query: Any) -> tuple[Any, ...]:
        """Return the answer of a read, sorted by key, in the form of `crosscheck.observables.canonical_rows`."""
        ...
