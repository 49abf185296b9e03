"""The operations on a table, one module for each operation.

Each module of `engine.actions` that defines a function `run` is an operation. An operation is called as
``run(context, config, **arguments)``. The first docstring line of the module states what the operation does. The
docstring of a `run` that is also a method of `Table` is written for the method's users; what else the operation does
is in the docstring of its module.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from ..config import TableConfig
    from ..context import Context

__all__ = ["Operation", "operations"]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Operation(Protocol[P, R_co]):
    """A module that defines an operation."""

    def run(self, context: Context, config: TableConfig, /, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run the operation on the table of `context`."""
        ...


def operations() -> dict[str, Any]:
    """Return the modules of all operations by name, in alphabetical order. An extended `__path__` counts."""
    modules = {each.name: import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in sorted(modules.items()) if hasattr(module, "run")}
