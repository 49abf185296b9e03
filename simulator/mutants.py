"""Mutants: small wrong changes, kept as data in ``specs/mutants``, that checks must be able to see.

A mutant changes the engine, the model or the harness itself, never its source: a setting on one side only
(``rules`` of the engine, ``protocol`` of the model), one named function replaced by an expression, or both.
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

from nbcc.engine.actions import operations
from nbcc.model.validation import nearest, refuse_unknown

Target = Literal["engine", "model", "harness"]
Detector = Literal["check", "search", "test"]
_DETECTORS: dict[str, Detector] = {"engine": "check", "model": "search", "harness": "test"}
_FIELDS = (
    "format", "about", "source", "breaks", "target", "detector", "protocol", "rules", "replace", "with", "test",
    "world", "under",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """``replace`` is ``module:name`` or ``module:Class.name``; ``with_`` a Python expression, evaluated in that module
    with the replaced object at hand as ``original``. ``breaks`` is the promise, ``test`` the test of a harness mutant.
    ``detector`` says what must see it: a search of the model, a check of the engine, a test. ``world`` is the one in
    which it shows, where neither a rung of the ladder in specs/verdicts.toml nor random worlds have what it needs;
    ``under`` is the protocol of both sides, where it is not the default.
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


def names() -> tuple[str, ...]:
    """The mutants of ``specs/mutants`` by name."""
    folder = resources.files("nbcc") / "specs" / "mutants"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load(name: str) -> Mutant:
    """A mutant by name.

    Raises:
        ValueError: no such mutant, or its file is wrong; the sentence says what there is.
    """
    if name not in (known := names()):
        raise ValueError(f"no mutant is called {name!r}; {nearest(name, known, 'nbcc list mutants')}")
    text = (resources.files("nbcc") / "specs" / "mutants" / f"{name}.toml").read_text(encoding="utf-8")
    return from_mapping(name, tomllib.loads(text))


def from_mapping(name: str, given: Mapping[str, Any]) -> Mutant:
    """A mutant from the fields of its file; ValueError says what is wrong with them."""
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
    """The mutant's replacement, as long as the context lasts. Settings are applied by whoever builds the two sides.

    A function that other modules have imported by name is replaced there as well; what functions of ours remember of
    earlier calls is forgotten on both ends.

    Raises:
        ValueError: there is nothing of that name to replace, or the expression is none.
    """
    if not mutant.replace:
        yield
        return
    operations()  # all are there before: one that is imported meanwhile would keep the replacement
    holder, attribute, space = _target(mutant)
    original = getattr(holder, attribute)
    try:
        replacement = eval(mutant.with_, {**space, "original": original})  # our own file, not a user's
    except (SyntaxError, NameError) as error:
        raise ValueError(f"mutant {mutant.name!r}: the expression after 'with' is wrong: {error}") from None
    with ExitStack() as stack:
        stack.callback(forget)  # comes last, when everything is in its place again
        for place, name in _places(holder, attribute, original):
            stack.enter_context(patch.object(place, name, replacement))
        forget()
        yield


def _target(mutant: Mutant) -> tuple[Any, str, dict[str, Any]]:
    """What holds the attribute that is replaced, its name, and the names that the expression may use."""
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
    """Empty every cache of a function of the model: what it holds may have been found with another function."""
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
