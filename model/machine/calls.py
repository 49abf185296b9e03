"""A call of a named function from the values of components, constants and views, made once per parameter list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .bound import Bound
from .transition import Component


class Call:
    """A call under construction: the expression of each parameter, over the values read and over fixed values."""

    def __init__(self, constants: Mapping[str, object]) -> None:
        self.constants = constants
        self.reads: dict[str, int] = {}
        self.passed: list[str] = []
        self.fixed: list[object] = []
        self.keywords: list[str] = []
        self.of_views: list[str] = []

    def constant(self, parameter: str) -> bool:
        """Pass a constant, if the parameter names one that is no component."""
        found = parameter in self.constants and not isinstance(self.constants[parameter], Component)
        if found:
            self.pass_value(self.constants[parameter])
        return found

    def pass_component(self, name: str, part: str = "") -> None:
        """Pass the value of a component, or a part of it."""
        self.passed.append(f"v{self.reads.setdefault(name, len(self.reads))}{part}")

    def pass_value(self, value: object, *names: str, calls: bool = False) -> None:
        """Pass a fixed value; `calls`: the value of a fixed function of some components."""
        values = [f"v{self.reads.setdefault(each, len(self.reads))}" for each in names]
        self.passed.append(f"{self._fix(value)}({', '.join(values)})" if calls else self._fix(value))

    def pass_view(self, view: Bound) -> None:
        """Pass the value of a view, which may take arguments of the step."""
        values = [f"v{self.reads.setdefault(each, len(self.reads))}" for each in view.reads]
        if not values and not view.keywords:
            self.pass_value(view.call())
            return
        self.of_views += view.keywords
        values += [f"**{self._fix(_pick(view.keywords))}(a)"] if view.keywords else []
        self.passed.append(f"{self._fix(view.call)}({', '.join(values)})")

    def _fix(self, value: object) -> str:
        self.fixed.append(value)
        return f"c{len(self.fixed) - 1}"

    def bound(self, function: Callable[..., Any]) -> Bound:
        """The function of the values read; the plain one, if it takes just these."""
        everything = tuple(dict.fromkeys((*self.keywords, *self.of_views)))
        if self.keywords:
            self.passed.append(f"**{self._fix(_pick(tuple(self.keywords)))}(a)" if self.of_views else "**a")
        if self.fixed or everything or self.passed != [f"v{number}" for number in range(len(self.reads))]:
            made = _caller(tuple(self.passed), len(self.fixed), len(self.reads), bool(everything))
            function = made(function, *self.fixed)
        return Bound(function, tuple(self.reads), everything)


@cache
def _caller(passed: tuple[str, ...], fixed: int, reads: int, keywords: bool) -> Callable[..., Callable[..., Any]]:
    """Of a function and `fixed` values: a function of `reads` values that calls it. A memo miss costs one such call."""
    parameters = ", ".join(["f", *(f"c{number}" for number in range(fixed))])
    values = ", ".join([*(f"v{number}" for number in range(reads)), *(["**a"] if keywords else [])])
    arguments = ", ".join(passed)
    made: Callable[..., Callable[..., Any]] = eval(f"lambda {parameters}: lambda {values}: f({arguments})")
    return made


def _pick(names: Sequence[str]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda args: {name: args[name] for name in names if name in args}
