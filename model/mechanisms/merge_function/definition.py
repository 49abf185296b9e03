"""A user's merge function as a definition: the row that a key has, given all that was written to it.

A delete hides what completed before it; of what completed after the last one the function makes one value, in whatever
order and groups it is applied, if it keeps the laws (docs/contract.md, LAWS).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

Value = TypeVar("Value")


def value_of(written: Sequence[Value | None], function: Callable[[Value, Value], Value]) -> Value | None:
    """What a key has of all that was written to it, by completion. None deletes, and is the answer without a row."""
    last = max((place for place, value in enumerate(written) if value is None), default=-1)
    since = [value for value in written[last + 1 :] if value is not None]
    return reduce(function, since) if since else None
