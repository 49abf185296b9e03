"""The laws that a user's merge function must keep, looked for counterexamples before a table is created with it.

Commutative, associative, idempotent: then a row does not depend on when, how often and in which groups its records were
merged (design.md §4, LAWS). Hypothesis draws rows of the table's columns and shrinks those that break a law; that none
was found is no proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from .errors import BadInput, Unsupported

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from .data.function import MergeFunction

EXAMPLES: Final = 300
_Rows = dict[str, Any]


class Broken(NamedTuple):
    """A law, and the rows on which it fails; `says`: what came out."""

    law: str
    rows: tuple[_Rows, ...]
    says: str


def check_laws(function: MergeFunction, name: str, columns: pa.Schema) -> None:
    """Raise `BadInput` with the simplest rows that were found to break a law.

    `columns`: those that the function merges. `Unsupported` without Hypothesis, and for types that it cannot draw.
    """
    asked = f"create a table whose rows are merged by {name!r}"
    if broken := counterexample(function, columns, asked):
        rows = " and ".join(map(str, broken.rows))
        remedy = "mend the function: else what a row is depends on when it was compacted"
        raise BadInput(asked, f"it is not {broken.law}: of {rows} {broken.says}", remedy)


def counterexample(function: MergeFunction, columns: pa.Schema, asked: str) -> Broken | None:
    """The simplest rows that were found to break a law; None if there were none in `EXAMPLES` draws."""
    try:
        from hypothesis import HealthCheck, Phase, given, seed, settings
        from hypothesis import strategies as st
    except ImportError:
        raise Unsupported(asked, "Hypothesis is not installed, which tries its laws", "install nbcc[test]") from None
    rows = st.fixed_dictionaries({field.name: _values(field, asked) for field in columns})
    found: list[Broken] = []

    @seed(0)
    @settings(max_examples=EXAMPLES, deadline=None, database=None, phases=(Phase.generate, Phase.shrink),
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(rows, rows, rows)
    def tried(one: _Rows, other: _Rows, third: _Rows) -> None:
        if broken := _broken(function, one, other, third):
            found.append(broken)
            raise _Found

    try:
        tried()
    except _Found:
        return found[-1]
    return None


class _Found(Exception):
    """Ends a try whose law is broken."""


def _broken(function: MergeFunction, one: _Rows, other: _Rows, third: _Rows) -> Broken | None:
    """The first law that fails on these rows. They are copied: a function may change what it is given."""

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


def _values(field: pa.Field, asked: str) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    kind = field.type
    kinds: list[tuple[bool, Any]] = [
        (pa.types.is_int32(kind), st.integers(-(2**31), 2**31 - 1)),
        (pa.types.is_int64(kind), st.integers(-(2**63), 2**63 - 1)),
        (pa.types.is_float64(kind), st.floats(allow_nan=False)),
        (pa.types.is_float32(kind), st.floats(allow_nan=False, width=32)),
        (pa.types.is_string(kind), st.text(max_size=3)),
        (pa.types.is_boolean(kind), st.booleans()),
        (pa.types.is_date32(kind), st.dates()),
    ]
    drawn = next((strategy for fits, strategy in kinds if fits), None)
    if drawn is None:
        exists = f"the column {field.name!r} is {kind}, of which no values are drawn to try the function's laws"
        raise Unsupported(asked, exists, "use columns of int, bigint, float, double, string, boolean or date")
    values: SearchStrategy[Any] = st.none() | drawn if field.nullable else drawn
    return values
