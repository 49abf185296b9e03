"""Mutants: small deliberate errors, described in ``specs/mutants``, that a check, a search or a test must detect.

A mutant changes the engine, the model or the test harness at run time: it sets options, replaces a function, or both.
"""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args
from unittest.mock import patch

from nbcc.engine.actions import operations
from nbcc.model.rules import Rules
from nbcc.model.validation import nearest, refuse_unknown

Target = Literal["engine", "model", "harness"]
Detector = Literal["check", "search", "test"]
_DETECTORS: dict[str, Detector] = {"engine": "check", "model": "search", "harness": "test"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mutant.

    ``replace`` names the replaced object, and ``with_`` is a Python expression in which ``original`` denotes that
    object. ``breaks`` names the promise that the mutant violates. For a mutant of the harness, ``test`` names the test
    that detects it. ``detector`` states whether a search, a check or a test must detect the mutant. ``world`` names an
    additional search configuration, for a mutant that no standard search or random world detects. ``under`` is the
    protocol under which the mutant is tested. A check detects the mutant within ``histories`` histories of any seed.
    """

    name: str
    about: str
    source: str
    breaks: str
    target: Target
    detector: Detector
    protocol: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    replace: str = ""
    with_: str = ""
    test: str = ""
    world: str = ""
    under: str = ""
    histories: int = 50


_FIELDS = ("format", *(each.name.rstrip("_") for each in fields(Mutant) if each.name != "name"))


@cache
def names() -> tuple[str, ...]:
    folder = resources.files("nbcc") / "specs" / "mutants"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load(name: str) -> Mutant:
    """Return the mutant with the given name.

    Raises ValueError if the name is unknown, or if the mutant's file is invalid.
    """
    if name not in (known := names()):
        raise ValueError(f"no mutant is called {name!r}; {nearest(name, known, 'nbcc list mutants')}")
    text = (resources.files("nbcc") / "specs" / "mutants" / f"{name}.toml").read_text(encoding="utf-8")
    return from_mapping(name, tomllib.loads(text))


def from_mapping(name: str, given: Mapping[str, Any]) -> Mutant:
    """Return the mutant that the fields of its TOML file describe.

    Raises ValueError if a field is unknown, missing or invalid.
    """
    where = f"mutant {name!r}"
    refuse_unknown(given, _FIELDS, where)
    for field_name in ("about", "source", "breaks", "target"):
        if field_name not in given:
            raise ValueError(f"{where}: {field_name!r} is missing")
    for field_name, kind in (("target", Target), ("detector", Detector)):
        if (value := given.get(field_name)) is not None and value not in get_args(kind):
            raise ValueError(f"{where}: {field_name} = {value!r}; {nearest(str(value), get_args(kind))}")
    if ("replace" in given) != ("with" in given) or not given.keys() & {"replace", "protocol", "rules"}:
        raise ValueError(f"{where}: it needs protocol, or rules, or replace and with")
    values = {key: value for key, value in given.items() if key not in ("format", "with")}
    return Mutant(**{"detector": _DETECTORS[given["target"]], "with_": given.get("with", ""), **values, "name": name})


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """Replace the mutant's function during a `with` block. The caller must apply the mutant's options itself.

    The replacement also reaches modules that imported the function by name. The model's caches are cleared at the
    beginning and at the end of the `with` block.

    Raises ValueError if the function to replace does not exist, or if the replacement is not a valid expression.
    """
    if not mutant.replace:
        yield
        return
    operations()  # imports all operations now: a module imported later would hold the replacement
    holder, attribute, space = _target(mutant)
    original = getattr(holder, attribute)
    try:
        replacement = eval(mutant.with_, {**space, "original": original})  # a file of nbcc, not of a user
    except (SyntaxError, NameError) as error:
        raise ValueError(f"mutant {mutant.name!r}: the expression after 'with' is wrong: {error}") from None
    with ExitStack() as stack:
        stack.callback(forget)  # runs last, after the originals are restored
        for place, name in _places(holder, attribute, original):
            stack.enter_context(patch.object(place, name, replacement))
        # A replacement may compare the requested times that the model's own rules ignore.
        stack.enter_context(patch.object(Rules, "compares_requested_times", True))
        forget()
        yield


def _target(mutant: Mutant) -> tuple[Any, str, dict[str, Any]]:
    module_name, _, path = mutant.replace.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ValueError(f"mutant {mutant.name!r}: it replaces {mutant.replace!r}; there is no {error.name}") from None
    holder: Any = module
    *owners, attribute = path.split(".")
    for owner in (*owners, attribute):
        if not hasattr(holder, owner):
            here = [name for name in dir(holder) if not name.startswith("__")]
            raise ValueError(f"mutant {mutant.name!r}: {module_name} has no {path!r}; {nearest(owner, here)}")
        holder = getattr(holder, owner) if owner != attribute else holder
    return holder, attribute, vars(module)


def forget() -> None:
    """Clear all caches of the model, because a mutant changes functions whose results are cached."""
    for name, module in list(sys.modules.items()):
        if name.startswith("nbcc.model"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _places(holder: Any, attribute: str, original: object) -> Iterator[tuple[Any, str]]:
    yield holder, attribute
    for name, module in list(sys.modules.items()):
        if name.startswith("nbcc.") and module is not holder:
            yield from ((module, other) for other, value in list(vars(module).items()) if value is original)
