"""Defines a user's merge function: the row of a key after all writes of the key.

A delete hides every record that completed before the delete. The function combines the records that completed after the
last delete into one value. If the function keeps the laws (docs/contract.md, LAWS), any order and grouping of merges
returns the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

Value = TypeVar("Value")


def value_of(written: Sequence[Value | None], function: Callable[[Value, Value], Value]) -> Value | None:
    """Return the value of a key after the writes `written`, which are in completion order. A written None is a delete.
    A result of None means that the key has no row.
    """
    last = max((place for place, value in enumerate(written) if value is None), default=-1)
    since = [value for value in written[last + 1 :] if value is not None]
    return reduce(function, since) if since else None
