"""Formulas that are evaluated either by z3, for any number of elements, or in Python, for a few named elements.

A formula is a Python function of a *state*. The functions of this module combine formulas; `state.every` and
`state.some` are the quantifiers. Times are integers, so that the operators `<`, `<=` and `+` work directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Term = Any
"""A truth value, a time or an element: a z3 expression, or a Python value."""


@dataclass(frozen=True)
class Sort:
    """A sort (type of elements), such as writes, plans or compactors. A proof covers any number of elements of each
    sort.
    """

    name: str


@dataclass(frozen=True)
class Relation:
    """A state variable: a function from elements to values. `values` is the type of the function's values: "truth",
    "time" or a sort.

    If `fixed` is True, no action changes the function.
    """

    name: str
    arguments: tuple[Sort, ...] = ()
    values: str | Sort = "truth"
    fixed: bool = False


Update = Callable[..., Term]
"""The next value of a relation, as a function of its arguments."""


# The type of every term of a formula over named elements. A formula is evaluated some million times in the comparison
# with the model, so that the test for z3's terms must not run Python code for each term.
_PLAIN: Final = frozenset({bool, int, str, tuple, type(None)})


def both(*terms: Term) -> Term:
    if _PLAIN.issuperset(map(type, terms)):
        return all(terms)
    import z3

    return z3.And(*terms)


def either(*terms: Term) -> Term:
    if _PLAIN.issuperset(map(type, terms)):
        return any(terms)
    import z3

    return z3.Or(*terms)


def when(condition: Term, rest: Callable[[], Term]) -> Term:
    """Return both(condition, rest()). A condition that is plainly false spares the evaluation of the rest."""
    return False if condition is False else both(condition, rest())


def no(term: Term) -> Term:
    if _is_symbolic(term):
        import z3

        return z3.Not(term)
    return not term


def implies(condition: Term, consequence: Term) -> Term:
    return either(no(condition), consequence)


def iff(left: Term, right: Term) -> Term:
    return left == right


def choose(condition: Term, yes: Term, otherwise: Term) -> Term:
    """Return the value `yes` if the condition is true, and the value `otherwise` if not."""
    if _is_symbolic(condition):
        import z3

        return z3.If(condition, yes, otherwise)
    return yes if condition else otherwise


def same(left: Sequence[Term], right: Sequence[Term]) -> Term:
    return both(*(a == b for a, b in zip(left, right, strict=True)))


def at(now: Callable[..., Term], *key: Term, to: Term) -> Update:
    """Return an update that changes one value of the relation `now`: for the arguments `key`, the new value is `to`."""
    return lambda *arguments: choose(same(arguments, key), to, now(*arguments))


def _is_symbolic(term: Term) -> bool:
    return type(term) not in _PLAIN


class Symbolic:
    """A state with any number of elements of each sort. Each relation is an uninterpreted z3 function, or an update of
    the same relation in the previous state.
    """

    def __init__(self, relations: Iterable[Relation], updates: Mapping[str, Update] | None = None,
                 before: Symbolic | None = None) -> None:  # fmt: skip
        self._before = before
        self.time = z3_time
        self._functions: dict[str, Callable[..., Term]] = (
            {relation.name: symbol(relation) for relation in relations}
            if before is None
            else {**before._functions, **dict(updates or {})}
        )

    def __getattr__(self, relation: str) -> Callable[..., Term]:
        return self._functions[relation]

    def every(self, *sorts_and_body: Any) -> Term:
        import z3

        return _quantified(z3.ForAll, sorts_and_body)

    def some(self, *sorts_and_body: Any) -> Term:
        import z3

        return _quantified(z3.Exists, sorts_and_body)


_depth = [0]
"""How many quantifiers enclose the formula that is built now."""


def _quantified(quantifier: Callable[..., Term], sorts_and_body: Sequence[Any]) -> Term:
    """Apply a z3 quantifier to a formula. Names of bound variables depend only on sort and nesting depth, so that equal
    formulas become identical in z3.
    """
    *sorts, body = sorts_and_body
    variables = [constant(sort, f"{sort.name}!{_depth[0] + place}") for place, sort in enumerate(sorts)]
    _depth[0] += len(sorts)
    try:
        return quantifier(variables, body(*variables))
    finally:
        _depth[0] -= len(sorts)


def z3_time() -> Term:
    """Return the z3 constant for an arbitrary time; the same constant is used in all states."""
    return constant("time", "any time")


_count = iter(range(1 << 60))


def constant(sort: str | Sort, name: str = "") -> Term:
    """Return a new z3 constant, which is an element of a sort, a time, or a truth value."""
    import z3

    name = name or f"{sort.name.lower() if isinstance(sort, Sort) else sort}_{next(_count)}"
    return z3.Const(name, z3_sort(sort))


def symbol(relation: Relation) -> Callable[..., Term]:
    """Return the uninterpreted z3 function of a relation, or a z3 constant if the relation has no arguments."""
    import z3

    if not relation.arguments:
        value = z3.Const(relation.name, z3_sort(relation.values))
        return lambda: value
    function: Callable[..., Term] = z3.Function(
        relation.name, *(z3_sort(sort) for sort in relation.arguments), z3_sort(relation.values)
    )
    return function


def z3_sort(sort: str | Sort) -> Term:
    import z3

    if isinstance(sort, Sort):
        return z3.DeclareSort(sort.name)
    return {"truth": z3.BoolSort(), "time": z3.IntSort()}[sort]
