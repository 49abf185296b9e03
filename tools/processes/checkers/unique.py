"""KEY: no snapshot contains a key twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .history import Chronicle


def broken(history: Chronicle) -> Iterator[str]:
    """Count how often each key occurs in each read."""
    for read in history.reads:
        for key, times in sorted(Counter(key for key, _, _ in read.rows).items()):
            if times > 1:
                yield f"the read of {read.reader} as of {read.time} holds {key} {times} times"


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of KEY literally: compare each row of a read with every other row of the read."""
    for read in history.reads:
        for key in sorted({row[0] for row in read.rows}):
            same = [row for row in read.rows if row[0] == key]
            if len(same) > 1:
                yield f"the read of {read.reader} as of {read.time} holds {key} {len(same)} times"
