"""Audits of a table: the contents of its files, their faults, and the resulting slices and records of keys.

Audits need no Spark and no JVM. An audit records a damaged file as a fault, and then reads the remaining files.
"""

from __future__ import annotations

from .counting import CountingStorage
from .file_checks import file_faults
from .gather import gather
from .inspect import inspect
from .inventory import Inventory
from .record import Audit, Commit, Fault, Stat
from .redact import redacted
from .why import Why, why

__all__ = [
    "Audit",
    "Commit",
    "CountingStorage",
    "Fault",
    "Inventory",
    "Stat",
    "Why",
    "file_faults",
    "gather",
    "inspect",
    "redacted",
    "why",
]
