"""Audits a table: reads its timeline and file names, reports damaged files, and computes file slices and the records of
a key.

An audit needs neither Spark nor a JVM. An audit reports a damaged file as a fault and continues with the remaining
files.
"""

from __future__ import annotations

from .counting import CountingStorage
from .file_checks import file_faults
from .gather import gather
from .inspect import inspect
from .inventory import Inventory
from .record import Audit, Commit, DamagedFile
from .redact import redacted
from .why import Why, why

__all__ = [
    "Audit", "Commit", "CountingStorage", "DamagedFile", "Inventory", "Why", "file_faults", "gather", "inspect",
    "redacted", "why",
]  # fmt: skip
