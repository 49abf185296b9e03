"""The formal model of Hudi's completion-time timeline (RFC-66), written as a transition system without side effects.
`nbcc.model` needs only the standard library.
"""

from __future__ import annotations

from .answers import Change, Query, Record
from .kernel.table import Instant
from .machine.state import State
from .machine.transition import Refused, Step
from .model import Model
from .protocol import Protocol
from .slices import FileSlice
from .world import World

__all__ = [
    "Change", "FileSlice", "Instant", "Model", "Protocol", "Query", "Record", "Refused", "State", "Step", "World",
]  # fmt: skip
