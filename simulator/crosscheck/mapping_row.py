"""One row of the mapping: an action of the model, and the segment (engine calls) that performs it."""

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
    """Maps one action of the model to engine calls.

    ``operation`` is the engine's operation; ``starts`` is True for the action that begins the operation. ``arguments``
    are the operation's arguments. Each argument is read from a field of the actor's state in the model, or computed by
    a function of the world and the actor's name. ``raises`` contains the errors with which the operation may end in
    this step. ``always`` is True if the operation must end with an error in ``raises``. If ``operation`` is CRASH, the
    step crashes the actor. If ``operation`` is FAULT, the step changes the system (for example the lock expires) and
    involves no actor. If ``operation`` is SPARK, the step belongs to a Structured Streaming query, and `stream_step`
    executes it.
    """

    action: str
    operation: str
    ends_after: str | tuple[str, ...] = RETURN
    also: tuple[str, ...] = ()
    starts: bool = False
    arguments: tuple[tuple[str, str | Constant], ...] = ()
    raises: str | tuple[str, ...] = ""
    always: bool = False
