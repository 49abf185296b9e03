"""Counterexamples to the laws that a user's merge function must keep, searched before a table is created with it.

A function that is commutative, associative and idempotent returns a row that does not depend on when, how often and in
which groups records were merged (docs/contract.md, LAWS). The rows have a few characteristic values per column, the
same at every call. A counterexample is simplified while it breaks a law. No counterexample is no proof.
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


class Broken(NamedTuple):
    """A law, and the rows on which it fails; `says`: what came out."""

    law: str
    rows: tuple[_Rows, ...]
    says: str


def check_laws(function: MergeFunction, name: str, columns: pa.Schema) -> None:
    """Raise `BadInput` with the simplest rows that were found to break a law.

    `columns`: those that the function merges. `Unsupported` for types of which no values are known.
    """
    asked = f"create a table whose rows are merged by {name!r}"
    if broken := counterexample(function, columns, asked):
        rows = " and ".join(map(str, broken.rows))
        remedy = "fix the function: otherwise a row depends on when it was compacted"
        raise BadInput(asked, f"it is not {broken.law}: of {rows} {broken.says}", remedy)


def counterexample(function: MergeFunction, columns: pa.Schema, asked: str) -> Broken | None:
    """The simplest rows that were found to break a law; None if there were none in `EXAMPLES` draws."""
    known = {field.name: _values(field, asked) for field in columns}
    random = Random(0)
    for _ in range(EXAMPLES):
        rows = [{name: random.choice(values) for name, values in known.items()} for _ in range(3)]
        if _broken(function, *rows):
            return _simplest(function, rows, known)
    return None


def _simplest(function: MergeFunction, rows: list[_Rows], known: Mapping[str, tuple[Any, ...]]) -> Broken | None:
    """What is broken once each value is as simple as it can be while something is."""
    for number, row in enumerate(rows):
        for name, values in known.items():
            for value in values[: values.index(row[name])]:
                simpler = [*rows[:number], {**rows[number], name: value}, *rows[number + 1 :]]
                if _broken(function, *simpler):
                    rows = simpler
                    break
    return _broken(function, *rows)


def _broken(function: MergeFunction, one: _Rows, other: _Rows, third: _Rows) -> Broken | None:
    """The first law that fails on these rows; that a function raises nothing is one of them."""
    try:
        return _unlawful(function, one, other, third)
    except Exception as failed:  # a user's function may raise anything
        says = f"one after the other it raised {type(failed).__name__} ({failed})"
        return Broken("a function on all rows", (one, other, third), says)


def _unlawful(function: MergeFunction, one: _Rows, other: _Rows, third: _Rows) -> Broken | None:
    """The same of a function that raises nothing. Rows are copied: it may change what it is given."""

    def merged(older: _Rows, newer: _Rows) -> _Rows:
        made = function(dict(older), dict(newer))
        return made if isinstance(made, dict) else {"": made}

    both = merged(one, other)
    if both.keys() != one.keys():
        return Broken("a function on rows", (one, other), f"it made {both}")
    if (again := merged(one, one)) != one:
        return Broken("idempotent", (one,), f"and itself it made {again}")
    if (turned := merged(other, one)) != both:
        return Broken("commutative", (one, other), f"it made {both}, and {turned} the other way round")
    if (left := merged(both, third)) != (right := merged(one, merged(other, third))):
        return Broken("associative", (one, other, third), f"it made {left} from the left and {right} from the right")
    return None


def _values(field: pa.Field, asked: str) -> tuple[Any, ...]:
    """Values of a column, the simplest first; what is near a limit of its type overflows where that can happen."""
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
        exists = f"the column {field.name!r} is {kind}, of which no values are known to try the function's laws"
        raise Unsupported(asked, exists, "use columns of int, bigint, float, double, string, boolean or date")
    return (None, *values) if field.nullable else values
