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
    """One action of the model. ``operation`` is the engine's; ``starts`` marks the action that begins it.

    ``arguments`` of the operation: each comes from a field of the actor's component, or from a function of the world
    and the actor's name. ``raises``: the error, or one of several, that may end the operation in this segment.
    ``always``: whether that error always ends the operation. ``operation`` CRASH kills the actor's operation. FAULT
    affects the system and no actor. SPARK is a step of Spark or of a stream's sink. It accesses no file of the table.
    The windows that streams read are compared as queries.
    """

    action: str
    operation: str
    ends_after: str | tuple[str, ...] = RETURN
    also: tuple[str, ...] = ()
    starts: bool = False
    arguments: tuple[tuple[str, str | Constant], ...] = ()
    raises: str | tuple[str, ...] = ""
    always: bool = False
