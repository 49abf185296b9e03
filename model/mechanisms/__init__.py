"""The mechanisms of the model, one module or folder each.

A module here with a value `MECHANISM` is a mechanism: it is found by its place. `__path__` may be extended, so that a
module in another folder is a mechanism as well. The modules of `variants` declare options in the same way.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from .. import variants
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options


def every() -> dict[str, Mechanism]:
    """Every variant and mechanism by the name of its module; the variants first."""
    return _found(tuple(variants.__path__), tuple(__path__))


@cache
def _found(of_variants: tuple[str, ...], of_mechanisms: tuple[str, ...]) -> dict[str, Mechanism]:
    found: dict[str, Mechanism] = {}
    for package, paths in ((variants.__name__, of_variants), (__name__, of_mechanisms)):
        for info in sorted(iter_modules(paths), key=lambda each: each.name):
            module = import_module(f"{package}.{info.name}")
            if isinstance(declared := getattr(module, "MECHANISM", None), Mechanism):
                found[info.name] = declared
    return found


def options() -> tuple[type[Options], ...]:
    """The parts of a protocol."""
    return tuple(each.options for each in every().values() if each.options)


def limits() -> tuple[type[Limits], ...]:
    """The parts of a world that mechanisms declare."""
    return tuple(each.limits for each in every().values() if each.limits)
