"""Tests the algebraic laws of a user-defined merge function before a table is created.

If the merge function is commutative, associative and idempotent, its result does not depend on how merges are grouped,
ordered or repeated (docs/contract.md, LAWS). The module searches for counterexamples with a few fixed values for each
column type, and may therefore miss a violation. A counterexample is simplified before it is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from ..errors import BadInput, Unsupported

if TYPE_CHECKING:
    from .function import MergeFunction

EXAMPLES: Final = 2_000
_Rows = dict[str, Any]


class BrokenLaw(NamedTuple):
    """A violated law of a merge function, the rows that violate the law, and the results of the merge function as text.
    """

    law: str
    rows: tuple[_Rows, ...]
    results: str


def check_laws(function: MergeFunction, name: str, columns: pa.Schema) -> None:
    """Raise `BadInput` with a counterexample if the merge function violates a law.

    `columns` contains the columns that the function merges. Raises `Unsupported` if a column type has no test values.
    """
    asked = f"create a table whose rows are merged by {name!r}"
    if broken := counterexample(function, columns, asked):
        rows = " and ".join(map(str, broken.rows))
        remedy = "fix the function: otherwise a row depends on when it was compacted"
        raise BadInput(asked, f"it is not {broken.law}: merging {rows} {broken.results}", remedy)


def counterexample(function: MergeFunction, columns: pa.Schema, asked: str) -> BrokenLaw | None:
    """Return a simplified counterexample, or None if `EXAMPLES` random attempts find no violation of a law."""
    known = {field.name: _values(field, asked) for field in columns}
    random = Random(0)
    for _ in range(EXAMPLES):
        rows = [{name: random.choice(values) for name, values in known.items()} for _ in range(3)]
        if _broken(function, *rows):
            return _simplest(function, rows, known)
    return None


def _simplest(function: MergeFunction, rows: list[_Rows], known: Mapping[str, tuple[Any, ...]]) -> BrokenLaw | None:
    """Return the counterexample with each value replaced by the simplest value that still violates a law."""
    for number, row in enumerate(rows):
        for name, values in known.items():
            for value in values[: values.index(row[name])]:
                simpler = [*rows[:number], {**rows[number], name: value}, *rows[number + 1 :]]
                if _broken(function, *simpler):
                    rows = simpler
                    break
    return _broken(function, *rows)


def _broken(function: MergeFunction, one: _Rows, other: _Rows, third: _Rows) -> BrokenLaw | None:
    """Return the first law that the merge function violates on the given rows. An exception in the merge function is
    returned as a violation.
    """
    try:
        return _unlawful(function, one, other, third)
    except Exception as failed:  # a user's function may raise anything
        return BrokenLaw("a function on all rows", (one, other, third), f"raised {type(failed).__name__} ({failed})")


def _unlawful(function: MergeFunction, one: _Rows, other: _Rows, third: _Rows) -> BrokenLaw | None:
    """Return the first law that the merge function violates on the given rows. Exceptions of the merge function
    propagate.
    """

    def merged(older: _Rows, newer: _Rows) -> _Rows:
        result = function(dict(older), dict(newer))  # copies: the function may change its arguments
        return result if isinstance(result, dict) else {"": result}

    both = merged(one, other)
    if both.keys() != one.keys():
        return BrokenLaw("a function on rows", (one, other), f"returned {both}")
    if (again := merged(one, one)) != one:
        return BrokenLaw("idempotent", (one,), f"with itself returned {again}")
    if (turned := merged(other, one)) != both:
        return BrokenLaw("commutative", (one, other), f"returned {both}, and {turned} in the other order")
    if (left := merged(both, third)) != (right := merged(one, merged(other, third))):
        found = f"returned {left} from the left and {right} from the right"
        return BrokenLaw("associative", (one, other, third), found)
    return None


def _values(field: pa.Field, asked: str) -> tuple[Any, ...]:
    """Return the test values of a column, simplest first. The test values include the minimum and maximum of the type,
    because arithmetic with these values can overflow.
    """
    kind = field.type
    whole, broken = (0, 1, -1, 2, 7), (0.0, 1.0, -1.0, 0.1, 0.2, 0.3)
    kinds: list[tuple[bool, tuple[Any, ...]]] = [
        (pa.types.is_int32(kind), (*whole, 2**31 - 1, -(2**31))),
        (pa.types.is_int64(kind), (*whole, 2**63 - 1, -(2**63))),
        (pa.types.is_float64(kind), (*broken, 1e308, float("inf"))),
        (pa.types.is_float32(kind), (0.0, 1.0, -1.0, 0.5, float("inf"))),
        (pa.types.is_string(kind), ("", "a", "b", "ab", "B")),
        (pa.types.is_boolean(kind), (False, True)),
        (pa.types.is_date32(kind), (date(1970, 1, 1), date(1970, 1, 2), date(1969, 12, 31))),
    ]
    values = next((values for fits, values in kinds if fits), None)
    if values is None:
        exists = f"the laws of the function cannot be tested with the type {kind} of the column {field.name!r}"
        raise Unsupported(asked, exists, "use columns of int, bigint, float, double, string, boolean or date")
    return (None, *values) if field.nullable else values
