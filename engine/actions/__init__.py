"""The operations on a table, one module for each operation.

Each module of `engine.actions` that defines a function `run` is an operation. An operation is called as
``run(context, config, **arguments)``. Help texts show the first docstring line of each operation's module.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

__all__ = ["OPERATIONS", "Operation", "operations"]


class Operation(NamedTuple):
    """A table operation: its name, its function, and a one-line description."""

    name: str
    run: Callable[..., Any]
    about: str


OPERATIONS: dict[str, Operation]
"""All operations by name; looked up again on each use, so that an extended `__path__` counts."""


def operations() -> dict[str, Operation]:
    """Return all operations by name, in alphabetical order."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        loaded = import_module(f"{__name__}.{module.name}")
        if run := getattr(loaded, "run", None):
            about = (loaded.__doc__ or "").strip().partition("\n")[0]
            found[module.name] = Operation(module.name, run, about)
    return found


def __getattr__(name: str) -> Any:
    if name == "OPERATIONS":
        return operations()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
