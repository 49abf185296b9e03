"""Imports a user's factory of a system or model by its name, ``package.module:factory``."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any


class CannotPlay(ValueError):
    """Raised if a system does not support a protocol or a world, or a factory returns something else."""


def users_factory(name: str, what: str, arguments: Sequence[str], attribute: str) -> Callable[..., Any]:
    """Return the function that `name` names. `what` is the kind of its result, such as "system", `arguments` are the
    names of its positional arguments, and `attribute` is an attribute of every such result.

    The working folder is searched for the module, too. Raises ValueError if the name cannot be imported or is not such
    a function. The function raises `CannotPlay` if its result is something else.
    """
    module, _, path = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # a console script starts without its working folder, unlike `python -m`
    try:
        made = getattr(import_module(module), path)
    except (ImportError, AttributeError, ValueError) as error:  # ValueError: an empty name
        raise ValueError(f"no {what} {name!r}: {error}") from error
    call = f"{path}({', '.join(arguments)})"
    if not callable(made) or not _takes(made, len(arguments)):
        raise ValueError(f"no {what} {name!r}: {path} cannot be called as {call}, which must return a {what}")

    def factory(*given: Any) -> Any:
        found = made(*given)
        if not hasattr(found, attribute):
            raise CannotPlay(f"no {what} {name!r}: {call} returned a {type(found).__name__} without {attribute!r}")
        return found

    return factory


def _takes(made: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(made).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # some functions written in C have no signature: the call shows it
        pass
    return True
