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

    ``operation`` is the engine operation that makes these calls; ``starts`` is True if the action begins a new
    operation. ``arguments`` contains the name and the source of each argument of the operation. The source is a field
    of the actor's state in the model, or a function of the world and the actor's name. ``raises`` contains the errors
    with which the operation may end in this step. If ``always`` is True, the operation always ends with one of the
    errors in ``raises``. If ``operation`` is CRASH, the step crashes the actor. If ``operation`` is FAULT, the step
    changes the system (for example the lock expires) and involves no actor. If ``operation`` is SPARK, the step belongs
    to a Structured Streaming query, and `stream_step` executes it.
    """

    action: str
    operation: str
    ends_after: str | tuple[str, ...] = RETURN
    also: tuple[str, ...] = ()
    starts: bool = False
    arguments: tuple[tuple[str, str | Constant], ...] = ()
    raises: str | tuple[str, ...] = ""
    always: bool = False
