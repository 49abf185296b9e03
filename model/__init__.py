"""What a table is: a pure transition system of Hudi's completion-time timeline (RFC-66), standard library only."""

from __future__ import annotations

from .model import Model
from .packed import State
from .protocol import Protocol
from .reads import Query
from .record import Change, Record
from .step import Refused, Step
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
