"""A row of the mapping: one action of the model, and the segment of the engine's calls for which it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nbcc.model import World

from ..control.conductor import RETURN

CRASH: Final = "crash"
FAULT: Final = "fault"
SPARK: Final = "spark"

Constant = Callable[[World, str], object]
"""A function that computes an argument from the world and the actor's name."""


@dataclass(frozen=True, slots=True)
class MappingRow:
    """One action of the model. ``operation`` is the operation of the engine; ``starts`` marks the action that begins
    this operation.

    ``arguments`` are the arguments of the operation. Each argument comes from a field of the actor's component, or from
    a function of the world and the actor's name. ``raises`` contains the errors that may end the operation in the
    segment of the row. ``always`` is True if an error in ``raises`` always ends the operation. ``operation`` CRASH
    kills the actor's operation. ``operation`` FAULT affects the system and no actor. ``operation`` SPARK is a step of
    a stream. If the system has the method `stream_step`, it takes the engine's part of the step: the source and the
    sink. Spark's logs are the model's. The step reads the table outside the schedule, like a query at the end.
    """

    action: str
    operation: str
    ends_after: str | tuple[str, ...] = RETURN
    also: tuple[str, ...] = ()
    starts: bool = False
    arguments: tuple[tuple[str, str | Constant], ...] = ()
    raises: str | tuple[str, ...] = ""
    always: bool = False
