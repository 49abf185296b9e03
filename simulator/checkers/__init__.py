"""Checkers of histories of concurrent processes: one module for each promise, in linear time.

A module has two functions. `broken(history)` yields one sentence for each breach. `broken_by_definition(history)`
yields the same by the definition of the promise, in quadratic time. Tests compare the two functions.
"""

from __future__ import annotations

from . import acknowledged, atomic, monotonic, newest, once, settled, unique
from .history import Chronicle, Published, Read, Write

CHECKERS = {
    "ACK": acknowledged,
    "ATOM": atomic,
    "KEY": unique,
    "TRAVEL": settled,
    "SNAP": newest,
    "MONO": monotonic,
    "ONCE": once,
}
"""Promise -> its checker."""

__all__ = ["CHECKERS", "Chronicle", "Published", "Read", "Write", "judge"]


def judge(history: Chronicle) -> dict[str, list[str]]:
    """Each promise with its breaches; the list is empty if the history keeps the promise."""
    return {promise: list(checker.broken(history)) for promise, checker in CHECKERS.items()}
