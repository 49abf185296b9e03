"""A row of the mapping: one action of the model, and the group of engine calls (segment) that performs the action."""

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

    ``arguments`` are the arguments of the operation. Each argument is read from a field of the actor's component, or
    computed by a function of the world and the actor's name. ``raises`` contains the errors that may end the operation
    in this segment. ``always`` is True if an error in ``raises`` always ends the operation. If ``operation`` is CRASH,
    the step ends the actor's operation by a crash. If ``operation`` is FAULT, the step affects the system and no actor.
    If ``operation`` is SPARK, the step is a step of a stream, which `stream_step` executes outside the schedule. The
    model contains Spark's offset log and commit log.
    """

    action: str
    operation: str
    ends_after: str | tuple[str, ...] = RETURN
    also: tuple[str, ...] = ()
    starts: bool = False
    arguments: tuple[tuple[str, str | Constant], ...] = ()
    raises: str | tuple[str, ...] = ""
    always: bool = False
