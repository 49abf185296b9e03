"""Checkers for recorded histories of concurrent processes: each module checks one promise of the contract in linear
time.

Each checker module has two functions. `broken(history)` yields one sentence for each violation of the module's promise.
`broken_by_definition(history)` yields the same sentences as `broken`, but applies the promise's definition literally,
in quadratic time.
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
    """Return each promise with the list of its violations in the history; the list is empty if the promise holds."""
    return {promise: list(checker.broken(history)) for promise, checker in CHECKERS.items()}
