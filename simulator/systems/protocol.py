"""The interface of a system under test: a table on which actors take single steps, observable between any two steps.

Times are clock ticks, as in the model. A system with real instants translates its instants to ticks (see
`nbcc.simulator.control.clock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class CannotPlay(ValueError):
    """The system does not support a protocol or a world. The message states the reason."""


class CannotStep(Exception):
    """The system cannot take a step that the model allows. The message describes what the system did."""


class Impossible(CannotStep):
    """The system does not support a step or a read, for the stated reason. A check counts and skips unsupported steps.
    """


class Operation(Protocol):
    """One operation of one actor, in progress on a system under test."""

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the segment of the operation (the calls) that corresponds to the given action of the model.

        The returned mapping contains the ``group`` and ``version`` of a new data file, or the ``rows`` of a read. An
        argument of the action with one of these names must equal the returned value.

        Raises:
            CannotStep: If the segment cannot be run to its end.
        """
        ...

    def crash(self) -> None:
        """End the actor's thread before its next access to the table."""
        ...


class System(Protocol):
    """A system under test: a table on which several actors work.

    A system may also have the attributes `slices_as_of`, `refuses_by_class` and `stream_step`. The method
    `slices_as_of(time)` returns past file slices in the format of `slices`. If `refuses_by_class` is True, `rows`
    returns `crosscheck.observables.refused(error)` for a refused read. A check then compares the error's class with the
    class that the model predicts. The method `stream_step(actor, action, own)` executes steps of Structured Streaming
    queries.
    """

    name: str

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> Operation:
        """Prepare an operation of an actor, without any visible access to the table."""
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
        """Return the answer of a read, sorted by key, in the format of `crosscheck.observables.canonical_rows`."""
        ...
