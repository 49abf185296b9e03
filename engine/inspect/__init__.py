"""What a table holds and why a key reads as it does, without Spark and without a JVM."""

from __future__ import annotations

from .counting import CountingStorage
from .inventory import inspect
from .redact import redacted
from .report import Inventory
from .why import Why, why

__all__ = ["CountingStorage", "Inventory", "Why", "inspect", "redacted", "why"]
