"""The table locks of nbcc, named after Hudi's lock providers."""

from __future__ import annotations

from .between_processes import BetweenProcesses
from .in_process import InProcessLock
from .protocol import HeldLock, Lock, RefusedLock, held, held_unless

__all__ = ["BetweenProcesses", "HeldLock", "InProcessLock", "Lock", "RefusedLock", "held", "held_unless"]
