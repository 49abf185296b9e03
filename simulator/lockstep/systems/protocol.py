"""The interface of a system under test: a table on which actors take single steps, observable between any two steps.

Times are clock ticks, as in the model. A system with real instants translates its instants to ticks (see
`nbcc.simulator.lockstep.control.clock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class CannotStep(Exception):
    """Raised if the system cannot perform a step that the model allows."""


class Impossible(CannotStep):
    """The system does not support a step or a read, for the stated reason. A check counts and skips unsupported steps.
    """


class RunningOperation(Protocol):
    """One operation of one actor, in progress on a system under test."""

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the calls of the operation that correspond to the given action of the model.

        The returned mapping contains the ``group`` and ``version`` of a new data file, or the ``rows`` of a read. If
        ``args`` contains an expected ``group``, ``version`` or ``rows``, the returned value must be equal to it.

        Raises:
            CannotStep: If the calls cannot be completed.
        """
        ...

    def crash(self) -> None:
        """End the actor's thread before its next access to the table."""
        ...


class System(Protocol):
    """A system under test: a table on which several actors work.

    A system may also have the attributes `slices_as_of`, `refuses_by_class` and `stream_step`. The method
    `slices_as_of(time)` returns the file slices as of `time`, in the same format as `slices`. If `refuses_by_class` is
    True, `rows` returns `observables.refused(error)` for a refused read. A check compares the error class in
    this result with the class that the model predicts. The method `stream_step(actor, action, own)` executes one step
    of a Structured Streaming query, where `own` is the query's state in the model.
    """

    name: str

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> RunningOperation:
        """Prepare an operation of an actor, without any visible access to the table."""
        ...

    def timeline(self) -> tuple[Any, ...]:
        """Return ``(action, state, requested, completed or None)`` for every instant, sorted by requested time."""
        ...

    def slices(self) -> tuple[Any, ...]:
        """Return ``(group, barrier, base, logs)`` for every file slice, sorted by group and barrier. ``logs`` contains
        the requested time and version of each log. The barrier is the requested time of the compaction that started the
        slice.
        """
        ...

    def rows(self, query: Any) -> tuple[Any, ...]:
        """Return the answer of a read, sorted by key, in the format of `observables.canonical_rows`."""
        ...
