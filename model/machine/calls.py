"""Converts a function with named parameters to a function of component values (state variables)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .bound import Bound
from .transition import Component


class BoundCall:
    """A function call under construction."""

    def __init__(self, constants: Mapping[str, object]) -> None:
        self.constants = constants
        self.reads: dict[str, int] = {}
        self.passed: list[str] = []
        self.fixed: list[object] = []
        self.keywords: list[str] = []
        self.of_views: list[str] = []

    def constant(self, parameter: str) -> bool:
        """If `parameter` is the name of a constant, pass that constant as the next argument and return True. A
        `Component` does not count as a constant.
        """
        is_constant = parameter in self.constants and not isinstance(self.constants[parameter], Component)
        if is_constant:
            self.pass_value(self.constants[parameter])
        return is_constant

    def pass_component(self, name: str, part: str = "") -> None:
        """Pass the value of a component as the next argument. If `part` is an expression such as `.records[0]`, pass
        only that part of the component's value.
        """
        self.passed.append(f"v{self.reads.setdefault(name, len(self.reads))}{part}")

    def pass_value(self, value: object, *names: str, calls: bool = False) -> None:
        """Pass `value` as the next argument. If `calls` is True, `value` is a function of the components `names`, and
        the function's result is passed instead.
        """
        values = [f"v{self.reads.setdefault(each, len(self.reads))}" for each in names]
        self.passed.append(f"{self._fix(value)}({', '.join(values)})" if calls else self._fix(value))

    def pass_view(self, view: Bound) -> None:
        """Pass the value of a view as the next argument."""
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
        """Complete the call: return a function that takes component values and calls `function`."""
        everything = tuple(dict.fromkeys((*self.keywords, *self.of_views)))
        if self.keywords:
            self.passed.append(f"**{self._fix(_pick(tuple(self.keywords)))}(a)" if self.of_views else "**a")
        if self.fixed or everything or self.passed != [f"v{number}" for number in range(len(self.reads))]:
            adapter = _adapter(tuple(self.passed), len(self.fixed), len(self.reads), bool(everything))
            function = adapter(function, *self.fixed)
        return Bound(function, tuple(self.reads), everything)


@cache
def _adapter(passed: tuple[str, ...], fixed: int, reads: int, keywords: bool) -> Callable[..., Callable[..., Any]]:
    """Compile a wrapper that turns a function and its constants into a function of component values."""
    # Compiled source is faster than an interpreted argument list: a search makes millions of such calls.
    parameters = ", ".join(["f", *(f"c{number}" for number in range(fixed))])
    values = ", ".join([*(f"v{number}" for number in range(reads)), *(["**a"] if keywords else [])])
    arguments = ", ".join(passed)
    adapter: Callable[..., Callable[..., Any]] = eval(f"lambda {parameters}: lambda {values}: f({arguments})")
    return adapter


def _pick(names: Sequence[str]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda args: {name: args[name] for name in names if name in args}
