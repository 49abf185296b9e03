"""Checkers of histories of concurrent processes: one module a promise, in linear time.

A module has `broken(history)`, which yields one sentence for each breach, and `broken_by_definition(history)`, which
yields the same in quadratic time by the definition of the promise. Tests compare the two.
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
    """Each promise with its breaches; an empty list if the history keeps it."""
    return {promise: list(checker.broken(history)) for promise, checker in CHECKERS.items()}
