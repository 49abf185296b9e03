"""Makes small changes of a Python expression, one at a time, as (operator, node to change, its replacement)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

FLIPS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
TIMES: Final = {"requested": "completed", "completed": "requested"}
EXTREMES: Final = {"min": "max", "max": "min"}
Change = tuple[str, ast.AST, ast.AST]


def changes(tree: ast.AST) -> Iterator[Change]:
    """Yield every change of every expression below a node, except in messages and assertions."""
    for node in _expressions(tree):
        if isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                flipped = [*node.ops[:i], FLIPS[type(op)](), *node.ops[i + 1 :]]
                yield "comparison flipped", node, ast.Compare(node.left, flipped, node.comparators)
        elif isinstance(node, ast.BoolOp):
            for i in range(len(node.values)):
                rest = node.values[:i] + node.values[i + 1 :]
                yield "conjunct dropped", node, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield "negation dropped", node, node.operand
        elif isinstance(node, ast.Attribute) and node.attr in TIMES and isinstance(node.ctx, ast.Load):
            yield "times swapped", node, ast.Attribute(node.value, TIMES[node.attr], node.ctx)
        elif isinstance(node, ast.comprehension) and node.ifs:
            for i in range(len(node.ifs)):
                rest = node.ifs[:i] + node.ifs[i + 1 :]
                yield "filter dropped", node, ast.comprehension(node.target, node.iter, rest, node.is_async)
        elif isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_call(node: ast.Call) -> Iterator[Change]:
    if isinstance(node.func, ast.Name) and node.func.id in EXTREMES:
        other = ast.Name(EXTREMES[node.func.id], ast.Load())
        yield "extreme swapped", node, ast.Call(other, node.args, node.keywords)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "_replace" and len(node.keywords) > 1:
        for i in range(len(node.keywords)):
            rest = node.keywords[:i] + node.keywords[i + 1 :]
            yield "part of an effect skipped", node, ast.Call(node.func, node.args, rest)


def _expressions(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.JoinedStr, ast.Assert, ast.Raise)):
            continue
        yield child
        yield from _expressions(child)
