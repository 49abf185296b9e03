"""What a table is: a pure transition system of Hudi's completion-time timeline (RFC-66), standard library only."""

from __future__ import annotations

from .machine.state import State
from .machine.transition import Refused, Step
from .merging.record import Change, Record
from .model import Model
from .protocol import Protocol
from .reads.definitions import Query
from .table import FileSlice, Instant
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
