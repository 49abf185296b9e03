"""Probes: one run of the model finds the mutants that would compute another value in it.

Every expression that a mutant changes is wrapped. A wrapped expression returns its value as before, and records each
mutant that would have returned another value. A mutant that is never recorded computes the same values, so a run of
this mutant would be the same and is not needed. A probe also evaluates conditions that the model skips, so that it may
record too many mutants, but never too few.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from .operators import FLIPS, TIMES

NAME: Final = "__probe__"
"""The name of the probe in the globals of a module."""
COMPARES: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
    "NotEq": operator.ne, "In": lambda one, many: one in many, "NotIn": lambda one, many: one not in many,
    "Is": operator.is_, "IsNot": operator.is_not,
}  # fmt: skip
FLIPPED: Final = {one.__name__: other.__name__ for one, other in FLIPS.items()}
ORDERS: Final = ("Lt", "LtE", "Gt", "GtE")
"""The comparisons whose flip may have the same value; the flip of any other comparison never has."""
EXTREMES: Final[dict[str, tuple[Callable[..., Any], Callable[..., Any]]]] = {"min": (min, max), "max": (max, min)}
Asked = Callable[[], Any]


class Probe:
    """Finds which of the `wanted` mutants would return another value; `differing` contains the names of these."""

    def __init__(self, wanted: Collection[str]) -> None:
        self.wanted = frozenset(wanted)
        self.differing: set[str] = set()
        self._open: dict[str, list[tuple[int, str]]] = {}

    def restart(self) -> set[str]:
        """Return the mutants that were recorded so far, and forget them."""
        before, self.differing, self._open = self.differing, set(), {}
        return before

    def note(self, name: str, found: Any, other: Asked) -> None:
        """Record a mutant that returns `other()` where the model returns `found`, if these differ or `other()` fails.
        """
        try:
            same = alike(found, other())
        except Exception:  # the model did not fail here
            same = False
        if not same:
            self.differing.add(name)

    def left(self, names: Sequence[str]) -> list[tuple[int, str]]:
        """Return the wanted mutants of an expression that are not recorded yet, each with its position in `names`."""
        some = self._open.get(names[0])
        if some is None:
            some = [(i, name) for i, name in enumerate(names) if name in self.wanted]
        elif some and not self.differing.isdisjoint(names):
            some = [each for each in some if each[1] not in self.differing]
        self._open[names[0]] = some
        return some

    # Wrapped expressions call the methods below; `names` are the mutants of the expression, in the order of `changes`.

    def always(self, names: Sequence[str], found: Any) -> Any:
        """Record every mutant of an expression that cannot be evaluated for mutants."""
        self.differing.update(name for _, name in self.left(names))
        return found

    def compare(self, names: Sequence[str], ops: Sequence[str], one: Any, other: Any) -> bool:
        """Evaluate one comparison."""
        found, op = COMPARES[ops[0]](one, other), ops[0]
        for _, name in self.left(names):
            if op in ORDERS:
                self.note(name, found, lambda: COMPARES[FLIPPED[op]](one, other))
            else:
                self.differing.add(name)
        return found

    def chain(self, names: Sequence[str], ops: Sequence[str], *asked: Asked) -> bool:
        """Evaluate a chain of comparisons; each is evaluated only if those before it are true."""
        value = _Once(asked)

        def made(some: Sequence[str]) -> bool:
            return all(COMPARES[op](value(i), value(i + 1)) for i, op in enumerate(some))

        found = made(ops)
        for i, name in self.left(names):
            self.note(name, found, partial(made, [*ops[:i], FLIPPED[ops[i]], *ops[i + 1 :]]))
        return found

    def several(self, names: Sequence[str], every: bool, as_truth: bool, *asked: Asked) -> Any:
        """Evaluate conditions joined by `and` (if `every`) or `or`; `as_truth`: only the truth of the value is used."""
        value = _Once(asked)

        def made(some: Sequence[int]) -> Any:
            found: Any = every
            for place in some:
                found = value(place)
                if bool(found) is not every:
                    break
            return bool(found) if as_truth else found

        places = range(len(asked))
        found = made(places)
        for dropped, name in self.left(names):
            self.note(name, found, partial(made, [i for i in places if i != dropped]))
        return found

    def filters(self, names: Sequence[str], *asked: Asked) -> bool:
        """Evaluate the conditions of a comprehension, for one element."""
        return bool(self.several(names, True, True, *asked))

    def time(self, names: Sequence[str], wanted: str, holder: Any) -> Any:
        """Evaluate a requested or completed time."""
        found = getattr(holder, wanted)
        for _, name in self.left(names):
            self.note(name, found, partial(getattr, holder, TIMES[wanted]))
        return found

    def extreme(self, names: Sequence[str], wanted: str, of: Sequence[Any], by: Mapping[str, Any]) -> Any:
        """Evaluate a minimum or maximum."""
        given = (list(of[0]),) if len(of) == 1 else of
        found = EXTREMES[wanted][0](*given, **by)
        for _, name in self.left(names):
            self.note(name, found, partial(EXTREMES[wanted][1], *given, **by))
        return found

    def replaced(self, names: Sequence[str], holder: Any, of: Sequence[Any], parts: Sequence[Mapping[str, Any]]) -> Any:
        """Evaluate a value with several of its fields replaced."""

        def made(some: Sequence[Mapping[str, Any]]) -> Any:
            return holder._replace(*of, **{name: value for part in some for name, value in part.items()})

        found = made(parts)
        for i, name in self.left(names):
            self.note(name, found, partial(made, [*parts[:i], *parts[i + 1 :]]))
        return found


class _Once:
    def __init__(self, asked: Sequence[Asked]) -> None:
        self.asked, self.made = asked, dict[int, Any]()

    def __call__(self, place: int) -> Any:
        if place not in self.made:
            self.made[place] = self.asked[place]()
        return self.made[place]


def alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal and of the same types throughout; False if that is not certain."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(alike(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, int | str | float):
        return bool(one == other)
    if isinstance(one, frozenset):
        return {(type(each), each) for each in one} == {(type(each), each) for each in other} and all(
            isinstance(each, int | str) for each in one
        )
    return False


class Probing(ast.NodeTransformer):
    """Wraps expressions of a syntax tree; `sites` maps each node to the names of its mutants."""

    def __init__(self, tree: ast.AST, sites: Mapping[ast.AST, Sequence[str]]) -> None:
        self.sites, self.truths = sites, frozenset(_truths(tree))

    def visit(self, node: ast.AST) -> Any:
        names, as_truth = self.sites.get(node), node in self.truths
        self.generic_visit(node)
        if names is None:
            return node
        if isinstance(node, ast.comprehension):
            node.ifs = [_filters(names, node.ifs)]
            return node
        assert isinstance(node, ast.expr)
        return ast.copy_location(_probed(names, node, as_truth), node)


def _probed(names: Sequence[str], node: ast.expr, as_truth: bool) -> ast.expr:
    match node:
        case ast.Compare(ops=[_]):
            found = _call("compare", names, _constant(_ops(node)), node.left, *node.comparators)
        case ast.Compare() if _movable(operands := [node.left, *node.comparators]):
            found = _call("chain", names, _constant(_ops(node)), *map(_asked, operands))
        case ast.BoolOp() if _movable(node.values):
            how = (_constant(isinstance(node.op, ast.And)), _constant(as_truth))
            found = _call("several", names, *how, *map(_asked, node.values))
        case ast.Attribute():
            found = _call("time", names, _constant(node.attr), node.value)
        case ast.Call(func=ast.Name(id=name)):
            by = ast.Dict([_key(each) for each in node.keywords], [each.value for each in node.keywords])
            found = _call("extreme", names, _constant(name), ast.Tuple(node.args, ast.Load()), by)
        case ast.Call(func=ast.Attribute(value=holder)):
            parts = ast.Tuple([ast.Dict([_key(each)], [each.value]) for each in node.keywords], ast.Load())
            found = _call("replaced", names, holder, ast.Tuple(node.args, ast.Load()), parts)
        case _:
            found = _call("always", names, node)
    return found


def _key(keyword: ast.keyword) -> ast.expr | None:
    return _constant(keyword.arg) if keyword.arg else None


def _filters(names: Sequence[str], conditions: Sequence[ast.expr]) -> ast.expr:
    if _movable(conditions):
        return _call("filters", names, *map(_asked, conditions))
    return _call("always", names, conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), [*conditions]))


def _call(method: str, names: Sequence[str], *args: ast.expr) -> ast.Call:
    probe = ast.Attribute(ast.Name(NAME, ast.Load()), method, ast.Load())
    return ast.Call(probe, [_constant(tuple(names)), *args], [])


def _constant(value: Any) -> ast.Constant:
    return ast.Constant(value)


def _ops(node: ast.Compare) -> tuple[str, ...]:
    return tuple(type(op).__name__ for op in node.ops)


def _asked(node: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)


def _movable(nodes: Sequence[ast.expr]) -> bool:
    """Return whether the expressions have the same meaning inside a lambda."""
    here = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return not any(isinstance(each, here) for node in nodes for each in ast.walk(node))


def _truths(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the expressions of which only the truth is used."""
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            asked = [node.test]
        elif isinstance(node, ast.comprehension):
            asked = [*node.ifs]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            asked = [node.operand]
        while asked:
            each = asked.pop()
            yield each
            if isinstance(each, ast.BoolOp):
                asked += each.values
