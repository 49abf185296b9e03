"""Mutants made of the source of the model: one function's code is exchanged for code with one expression changed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from inspect import getsource
from pkgutil import iter_modules
from types import CodeType, FunctionType
from typing import Any, Final

from nbcc.model import actions

from ..mutants import forget
from .generated import Generated, Place
from .operators import changes

RULES: Final = (
    "conditions", "files.slicing", "merging.fold", "merging.record", "reads.definitions", "reads.windows",
    "services.planning", "table", "timeline.clock", "timeline.publication", "timeline.resuming",
)  # fmt: skip
"""The modules of the model that hold rules, besides those of its actions; promises and oracle are what judges them."""


def modules() -> tuple[str, ...]:
    """The modules that are mutated, by name below `nbcc.model`."""
    return (*RULES, *(f"actions.{info.name}" for info in iter_modules(actions.__path__)))


def of_source() -> Iterator[Generated]:
    """Every mutant of every function in these modules."""
    for name in modules():
        module = import_module(f"nbcc.model.{name}")
        source = getsource(module)
        seen: Counter[str] = Counter()
        tree = ast.parse(source)
        for path, function in _functions(tree):
            lines = dict(_lines(function))
            for operator, node, instead in changes(function):
                shown = f"{name}.{path}: {_text(node)} -> {_text(instead)}"
                seen[shown] += 1
                label = shown if seen[shown] == 1 else f"{shown} (no. {seen[shown]})"
                code = _code(tree, node, instead, path)
                place = Place(file=_function(module, path).__code__.co_filename, lines=lines[node])
                yield Generated(label, operator, _exchange(module, path, code), place)


def _functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods, each with those nested in it as one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield inside + node.name, node


def _lines(statement: ast.stmt) -> Iterator[tuple[ast.AST, range]]:
    """Every node below a statement with the lines of the innermost statement around it, without those of its body."""
    body: list[ast.stmt] = [] if isinstance(statement, ast.Try) else getattr(statement, "body", [])
    end = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
    decorators = [each.lineno for each in getattr(statement, "decorator_list", ())]
    mine = range(min(statement.lineno, *decorators, statement.lineno), max(end, statement.lineno) + 1)
    for node in _expressions_of(statement):
        yield from _lines(node) if isinstance(node, ast.stmt) else ((node, mine),)


def _expressions_of(node: ast.AST) -> Iterator[ast.AST]:
    """What lies below a node, of statements only themselves."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.stmt):
            yield from _expressions_of(child)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension):
        conditions = " and ".join(ast.unparse(each) for each in node.ifs)
        return f"for {ast.unparse(node.target)}" + (f" if {conditions}" if conditions else "")
    return ast.unparse(node)


class _Put(ast.NodeTransformer):
    def __init__(self, node: ast.AST, instead: ast.AST) -> None:
        self.node, self.instead = node, instead

    def visit(self, node: ast.AST) -> Any:
        return ast.copy_location(self.instead, node) if node is self.node else self.generic_visit(node)


def _code(tree: ast.Module, node: ast.AST, instead: ast.AST, path: str) -> Callable[[], CodeType]:
    """The changed code of one function, compiled when it is needed."""

    def made() -> CodeType:
        # A transformer changes lists in place: work on a copy in which the node is found again by its place.
        place = list(ast.walk(tree)).index(node)
        copy = ast.parse(ast.unparse(tree))
        there = list(ast.walk(copy))[place]
        changed = ast.fix_missing_locations(_Put(there, instead).visit(copy))
        found = _find(compile(changed, "<mutant>", "exec", dont_inherit=True), path)
        assert found is not None, path
        return found

    return made


def _find(code: CodeType, path: str) -> CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == path:
                return constant
            if (found := _find(constant, path)) is not None:
                return found
    return None


def _exchange(module: Any, path: str, code: Callable[[], CodeType]) -> Callable[[], AbstractContextManager[None]]:
    @contextmanager
    def applied() -> Iterator[None]:
        function = _function(module, path)
        before = function.__code__
        function.__code__ = code()
        forget()
        try:
            yield
        finally:
            function.__code__ = before
            forget()

    return partial(applied)


_WRAPPING = ("__wrapped__", "fget", "func", "__func__")
"""Where caches, properties, cached properties and static methods keep what they wrap."""


def _function(module: Any, path: str) -> FunctionType:
    """The function itself, under whatever wraps it."""
    found = module
    for part in path.split("."):
        found = vars(found)[part]
    while not isinstance(found, FunctionType):
        found = next(inside for name in _WRAPPING if (inside := getattr(found, name, None)))
    return found
