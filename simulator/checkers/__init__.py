"""Checkers of histories of concurrent processes: each module checks one promise in linear time.

Each checker module has two functions. `broken(history)` yields one sentence for each breach of the promise.
`broken_by_definition(history)` yields the same sentences, but applies the definition of the promise literally, in
quadratic time. Tests compare the results of `broken` and `broken_by_definition`.
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
    """Return a mapping from each promise to its breaches; the list of breaches is empty if the history keeps the
    promise.
    """
    return {promise: list(checker.broken(history)) for promise, checker in CHECKERS.items()}
