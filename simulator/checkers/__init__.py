"""Histories of really concurrent processes, judged in linear time: one promise a module, each with a slow twin.

A module has `broken(history)`, one sentence for each breach, and `broken_by_definition(history)`, which says the same
as the promise does, pair by pair: tests hold the two against each other.
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
"""Promise -> who judges it."""

__all__ = ["CHECKERS", "Chronicle", "Published", "Read", "Write", "judge"]


def judge(history: Chronicle) -> dict[str, list[str]]:
    """Every promise with its breaches, none if it was kept."""
    return {promise: list(checker.broken(history)) for promise, checker in CHECKERS.items()}
