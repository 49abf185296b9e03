"""Compares a column of whole numbers with any number, exactly.

Arrow converts an integer column to a floating-point type that contains the literal. The conversion fails for greater
values of the column, so the comparison would depend on which rows are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

_OPPOSITE: Final = {"__ne__": "__eq__"}


def is_number(value: object) -> bool:
    """Return whether a value is an integer or a floating-point number, but not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def compared(column: pc.Expression, method: str, value: float, kind: pa.DataType) -> pc.Expression:
    """Return the condition that compares the integer column `column` of the type `kind` with `value`. `method` is the
    name of Python's comparison method, such as ``__lt__``.
    """
    if method in _OPPOSITE:
        return ~compared(column, _OPPOSITE[method], value, kind)
    least, most = _limits(kind)
    low, high = _interval(method, value)
    if math.isnan(value) or low > most or high < least or low > high:
        return column > pa.scalar(most, kind)  # false for every number, and null for null
    if low == high:
        return column == pa.scalar(int(low), kind)
    bounds = []
    if low > least:
        bounds.append(column >= pa.scalar(int(low), kind))
    if high < most:
        bounds.append(column <= pa.scalar(int(high), kind))
    return bounds[0] if bounds else column.is_valid()


def inside(column: pc.Expression, values: Iterable[Any], kind: pa.DataType) -> pc.Expression:
    """Return the condition that the integer column `column` of the type `kind` has one of the given values."""
    least, most = _limits(kind)
    fitting = [value for value in values if value is None or (least <= value <= most and value == math.floor(value))]
    return column.isin(pa.array([None if value is None else int(value) for value in fitting], kind))


def _interval(method: str, value: float) -> tuple[float, float]:
    """Return the least and the greatest whole number that satisfy a comparison."""
    whole = math.isfinite(value)
    down, up = (math.floor(value), math.ceil(value)) if whole else (value, value)
    intervals: dict[str, tuple[float, float]] = {
        "__eq__": (up, down),
        "__lt__": (-math.inf, up - 1),
        "__le__": (-math.inf, down),
        "__gt__": (down + 1, math.inf),
        "__ge__": (up, math.inf),
    }
    return intervals[method]


def _limits(kind: pa.DataType) -> tuple[int, int]:
    most = 2 ** (kind.bit_width - 1) - 1
    return -most - 1, most
