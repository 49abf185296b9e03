"""The interface of a system: it takes steps one at a time, and its table can be observed between two steps.

Times are ticks of one clock, as in the model. If the times of a system are instants, the system translates ticks to
instants (`nbcc.simulator.control.clock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class CannotPlay(ValueError):
    """Raised if a system cannot follow a protocol or play in a world. The message has the reason and an alternative."""


class CannotStep(Exception):
    """Raised if the system cannot take a step that the model allows now. The message describes what happened instead.
    """


class Impossible(CannotStep):
    """Raised if the system has no such step or read. The message has the reason. The check skips and counts such a
    step.
    """


class Operation(Protocol):
    """One operation of one actor, in progress."""

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the segment of the operation for this model action.

        Returns the observed values, each under its name. A name that is also an argument of the action (``group``,
        ``version``) must have the argument's value. ``rows`` is the answer of a read.

        Raises:
            CannotStep: the segment cannot be run to its end.
        """
        ...

    def crash(self) -> None:
        """Kill the actor before its next access. None of the actor's later accesses reaches the table."""
        ...


class System(Protocol):
    """A table with several actors.

    A system may also have `slices_as_of(time)`, which returns past file slices in the form of `slices`. With a true
    `refuses_by_class` its refusals are compared by their class: `rows` returns `crosscheck.observables.refused(error)`.
    """

    name: str

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> Operation:
        """Prepare an operation of an actor, before its first visible access."""
        ...

    def timeline(self) -> tuple[Any, ...]:
        """``(action, state, requested, completed or None)`` of every instant, sorted by requested time."""
        ...

    def slices(self) -> tuple[Any, ...]:
        """``(group, barrier, base, ((requested, version), ...))`` of every file slice, sorted by group and barrier."""
        ...

    def rows(self, query: Any) -> tuple[Any, ...]:
        """The answer of a read, sorted by key, in the form of `crosscheck.observables.canonical_rows`."""
        ...
