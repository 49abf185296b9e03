"""Mutants of source code: the code of one function is replaced by code with one changed expression."""

from __future__ import annotations
import __future__

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import cache, partial
from importlib import import_module
from inspect import getsource
from pkgutil import walk_packages
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from nbcc.simulator.mutants import forget

from .generated import Generated
from .operators import changes
from .probes import NAME, Probe, Probing

PACKAGES: Final = ("kernel", "machine", "mechanisms", "variants")
"""The packages of the model except the promises, which are not mutated: they judge."""
MODULES: Final = (
    "answers", "assembly", "combination", "model", "protocol", "refusals", "rules", "slices", "validation", "world",
)  # fmt: skip
"""The modules of the model outside of these packages."""


def modules() -> tuple[str, ...]:
    """Return the names of the mutated modules, relative to `nbcc.model`."""
    folders = {package: import_module(f"nbcc.model.{package}").__path__ for package in PACKAGES}
    infos = (info for package, folder in folders.items() for info in walk_packages(folder, f"nbcc.model.{package}."))
    return (*MODULES, *PACKAGES, *(info.name.removeprefix("nbcc.model.") for info in infos))


class Site(NamedTuple):
    """A place that is mutated: the mutant, the operator, the path of the function, the node and its replacement."""

    name: str
    operator: str
    path: str
    node: ast.AST
    instead: ast.AST


def source_mutants() -> Iterator[Generated]:
    """Yield every mutant of every function in these modules."""
    for name in modules():
        module = import_module(f"nbcc.model.{name}")
        tree = _tree(name)
        for site in _sites(name, tree):
            code = _code(tree, site.node, site.instead, site.path)
            yield Generated(site.name, site.operator, partial(_with_code, [(module, site.path, code)]))


@contextmanager
def probed(probe: Probe) -> Iterator[None]:
    """Return a context in which every expression that a wanted mutant changes is wrapped in a call of the probe."""
    with ExitStack() as stack:
        changed = []
        for name in modules():
            if mine := _names(name) & probe.wanted:
                module = import_module(f"nbcc.model.{name}")
                stack.enter_context(patch.object(module, NAME, probe, create=True))
                changed += [(module, path, code) for path, code in _wrapped(name, mine)]
        stack.enter_context(_with_code(changed))
        yield


@cache
def _names(name: str) -> frozenset[str]:
    return frozenset(site.name for site in _sites(name, _tree(name)))


def _wrapped(name: str, wanted: frozenset[str]) -> tuple[tuple[str, Callable[[], CodeType]], ...]:
    """Return the functions of a module that have wanted mutants, by path.

    They are wrapped again only when half of the wanted mutants are killed, because a needless wrapper costs little.
    """
    made = _WRAPPED.get(name)
    if made is None or not wanted <= made[0] or 2 * len(wanted) < len(made[0]):
        made = _WRAPPED[name] = (wanted, _wrap(name, wanted))
    return made[1]


_WRAPPED: dict[str, tuple[frozenset[str], tuple[tuple[str, Callable[[], CodeType]], ...]]] = {}


def _wrap(name: str, wanted: frozenset[str]) -> tuple[tuple[str, Callable[[], CodeType]], ...]:
    tree = _tree(name)
    sites: dict[ast.AST, list[Site]] = {}
    for site in _sites(name, tree):
        sites.setdefault(site.node, []).append(site)
    some = {node: mine for node, mine in sites.items() if not wanted.isdisjoint(each.name for each in mine)}
    names = {node: [each.name for each in mine] for node, mine in some.items()}
    code = compile(ast.fix_missing_locations(Probing(tree, names).visit(tree)), "<probed>", "exec", dont_inherit=True)
    return tuple((path, partial(_code_of, code, path)) for path in {mine[0].path: None for mine in some.values()})


def _tree(name: str) -> ast.Module:
    return ast.parse(getsource(import_module(f"nbcc.model.{name}")))


def _sites(name: str, tree: ast.AST) -> Iterator[Site]:
    seen: Counter[str] = Counter()
    for path, function in _functions(tree):
        for operator, node, instead in changes(function):
            shown = f"{name}.{path}: {_text(node)} -> {_text(instead)}"
            seen[shown] += 1
            label = shown if seen[shown] == 1 else f"{shown} (no. {seen[shown]})"
            yield Site(label, operator, path, node, instead)


def _functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield functions and methods; nested functions belong to the outer function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield inside + node.name, node


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension):
        conditions = " and ".join(ast.unparse(each) for each in node.ifs)
        return f"for {ast.unparse(node.target)}" + (f" if {conditions}" if conditions else "")
    return ast.unparse(node)


class _Replace(ast.NodeTransformer):
    def __init__(self, node: ast.AST, instead: ast.AST) -> None:
        self.node, self.instead = node, instead

    def visit(self, node: ast.AST) -> Any:
        return ast.copy_location(self.instead, node) if node is self.node else self.generic_visit(node)


def _code(tree: ast.Module, node: ast.AST, instead: ast.AST, path: str) -> Callable[[], CodeType]:
    def made() -> CodeType:
        # A transformer changes lists in place, so it works on a copy of the surrounding function or class.
        around = next(each for each in tree.body if getattr(each, "name", "") == path.partition(".")[0])
        place = next(i for i, each in enumerate(ast.walk(around)) if each is node)
        copy = deepcopy(around)
        there = next(each for i, each in enumerate(ast.walk(copy)) if i == place)
        changed = ast.fix_missing_locations(_Replace(there, instead).visit(ast.Module([copy], [])))
        code = compile(changed, "<mutant>", "exec", __future__.annotations.compiler_flag, dont_inherit=True)
        return _code_of(code, path)

    return made


def _code_of(code: CodeType, path: str) -> CodeType:
    found = _find(code, path)
    assert found is not None, path
    return found


def _find(code: CodeType, path: str) -> CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == path:
                return constant
            if (found := _find(constant, path)) is not None:
                return found
    return None


@contextmanager
def _with_code(several: Iterable[tuple[Any, str, Callable[[], CodeType]]]) -> Iterator[None]:
    """Return a context in which functions, by module and path, have other code."""
    functions = [(_function(module, path), code()) for module, path, code in several]
    before = [function.__code__ for function, _ in functions]
    for function, code in functions:
        function.__code__ = code
    forget()
    try:
        yield
    finally:
        for (function, _), code in zip(functions, before, strict=True):
            function.__code__ = code
        forget()


_WRAPPING = ("__wrapped__", "fget", "func", "__func__")
"""The attributes in which caches, properties, cached properties and static methods hold the wrapped function."""


def _function(module: Any, path: str) -> FunctionType:
    found = module
    for part in path.split("."):
        found = vars(found)[part]
    while not isinstance(found, FunctionType):
        found = next(inside for name in _WRAPPING if (inside := getattr(found, name, None)))
    return found
