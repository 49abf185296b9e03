"""One table, one lock."""

from __future__ import annotations

from .in_process import InProcessLock
from .protocol import Lock, held

__all__ = ["InProcessLock", "Lock", "held"]
