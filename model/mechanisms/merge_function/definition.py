"""Defines the correct row of a key under a user-defined merge function, given all writes of the key.

A delete hides all records of writes that completed before the delete. The merge function combines the records that
completed after the last delete into one value. If the function satisfies the laws (LAWS in docs/contract.md), every
order and grouping of merges has the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

Value = TypeVar("Value")


def value_of(written: Sequence[Value | None], function: Callable[[Value, Value], Value]) -> Value | None:
    """Return the value that results from merging all writes of a key; None if the key has no row. `written` lists the
    values of the key in write order; a delete is None.
    """
    last = max((place for place, value in enumerate(written) if value is None), default=-1)
    since = [value for value in written[last + 1 :] if value is not None]
    return reduce(function, since) if since else None
