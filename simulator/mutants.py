"""Mutants: small wrong changes, kept as data in ``specs/mutants``, that checks must be able to see.

A mutant changes the engine, the model or the harness itself, never its source: either a setting on one side only
(``rules`` of the engine, ``protocol`` of the model), or one named function replaced by an expression.
"""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Literal, get_args
from unittest.mock import patch

Target = Literal["engine", "model", "harness"]
_FIELDS = (
    "format", "about", "source", "breaks", "target", "world", "protocol", "rules", "replace", "with", "test",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """``replace`` is ``module:name`` or ``module:Class.name``; ``with_`` a Python expression, evaluated in that module
    with the replaced object at hand as ``original``. ``breaks`` is the promise, ``test`` the test of a harness mutant;
    ``world`` the one in which it shows, where random ones have not what it needs.
    """

    name: str
    about: str
    source: str
    breaks: str
    target: Target
    protocol: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    replace: str = ""
    with_: str = ""
    test: str = ""
    world: str = ""


def names() -> tuple[str, ...]:
    """The mutants of ``specs/mutants`` by name."""
    folder = resources.files("nbcc") / "specs" / "mutants"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load(name: str) -> Mutant:
    """A mutant by name.

    Raises:
        ValueError: no such mutant, or its file is wrong; the sentence says what there is.
    """
    if name not in names():
        raise ValueError(f"no mutant {name!r}; there are {', '.join(names())}")
    text = (resources.files("nbcc") / "specs" / "mutants" / f"{name}.toml").read_text(encoding="utf-8")
    given = tomllib.loads(text)
    if unknown := sorted(given.keys() - set(_FIELDS)):
        raise ValueError(f"mutant {name}: unknown field {unknown[0]!r}; known: {', '.join(_FIELDS)}")
    if given.get("target") not in get_args(Target):
        raise ValueError(f"mutant {name}: target must be one of {', '.join(get_args(Target))}")
    if ("replace" in given) != ("with" in given) or not given.keys() & {"replace", "protocol", "rules"}:
        raise ValueError(f"mutant {name}: it needs either protocol, or rules, or replace and with")
    given.pop("format", None)
    return Mutant(name=name, with_=given.pop("with", ""), **given)


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """The mutant's replacement, as long as the context lasts. Settings are applied by whoever builds the two sides.

    A function that other modules have imported by name is replaced there as well.
    """
    if not mutant.replace:
        yield
        return
    module_name, _, path = mutant.replace.partition(":")
    module = importlib.import_module(module_name)
    owner, _, attribute = path.rpartition(".")
    holder: Any = getattr(module, owner) if owner else module
    original = getattr(holder, attribute)
    replacement = eval(mutant.with_, {**vars(module), "original": original})  # our own file, not a user's
    with ExitStack() as stack:
        for place, name in _places(holder, attribute, original):
            stack.enter_context(patch.object(place, name, replacement))
        yield


def _places(holder: Any, attribute: str, original: object) -> Iterator[tuple[Any, str]]:
    yield holder, attribute
    for name, module in list(sys.modules.items()):
        if name.startswith("nbcc.") and module is not holder:
            yield from ((module, other) for other, value in list(vars(module).items()) if value is original)
