"""What a table is: a pure transition system of Hudi's completion-time timeline (RFC-66), standard library only."""

from __future__ import annotations

from .kernel.merge import Change, Record
from .kernel.reads import Query
from .kernel.table import FileSlice, Instant
from .machine.state import State
from .machine.transition import Refused, Step
from .model import Model
from .protocol import Protocol
from .world import World

__all__ = [
    "Change",
    "FileSlice",
    "Instant",
    "Model",
    "Protocol",
    "Query",
    "Record",
    "Refused",
    "State",
    "Step",
    "World",
]
