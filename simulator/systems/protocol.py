"""A System is anything whose steps can be taken one at a time and whose table can be looked at in between.

The cross-check knows nothing else of it. Times are ticks of one clock, as the model counts them; a system that has
instants translates them (`nbcc.simulator.control.clock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class CannotPlay(ValueError):
    """A system cannot be put under a setting, or into a world; the sentence says why, and what can."""


class CannotStep(Exception):
    """The system cannot do what the model says is possible now; the message says where it stands."""


class Impossible(CannotStep):
    """The system has no such step or read at all; the message says why. It is skipped by name, never a difference."""


class Operation(Protocol):
    """One running operation of one actor."""

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the real thing through the segment that this model action stands for.

        Returns what was observed, by name. A name that is also an argument of the action must have its value
        (``group``, ``version``); ``rows`` is the answer of a read.

        Raises:
            CannotStep: the segment cannot be run to its end.
        """
        ...

    def crash(self) -> None:
        """Kill the actor where it stands: from now on it reaches nothing, and then it is unwound."""
        ...


class System(Protocol):
    """A table under many actors.

    One that can also say which file slices there were has `slices_as_of(time)`, in the form of `slices`.
    """

    name: str

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> Operation:
        """Set up an operation of an actor in front of its first visible access."""
        ...

    def timeline(self) -> tuple[Any, ...]:
        """``(action, state, requested, completed or None)`` of every instant, by requested time."""
        ...

    def slices(self) -> tuple[Any, ...]:
        """``(group, barrier, base, ((requested, version), ...))`` of every file slice, by group and barrier."""
        ...

    def rows(self, query: Any) -> tuple[Any, ...]:
        """The answer of a read, sorted by key: what it is compared with comes from the model's ``rows``."""
        ...
