"""The definition of a user's merge function: the row of a key after all its writes.

A delete hides what completed before it. The function combines the records that completed after the last delete to one
value. If the function keeps the laws (docs/contract.md, LAWS), any order and grouping of merges returns the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

Value = TypeVar("Value")


def value_of(written: Sequence[Value | None], function: Callable[[Value, Value], Value]) -> Value | None:
    """The value of a key after these writes, in completion order. A written None deletes; a result of None means that
    there is no row.
    """
    last = max((place for place, value in enumerate(written) if value is None), default=-1)
    since = [value for value in written[last + 1 :] if value is not None]
    return reduce(function, since) if since else None
