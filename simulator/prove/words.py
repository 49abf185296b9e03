"""A counterexample to induction in words: the facts of a state, element by element.

z3 gives elements names such as `Write!val!0`; here they are `write 1`. Only facts that hold, and times that are not 0,
are listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from .logic import Relation, Sort, symbol, z3_sort
from .obligations import Result
from .system import System

STEPS: Final = {
    "phase": {"1": "requested", "2": "in its data phase", "3": "under the lock", "4": "has a completion time",
              "5": "published"},
    "work": {"1": "about to start its plan", "2": "running its plan", "3": "under the lock",
             "4": "has a completion time"},
    "reading": {"1": "listing", "2": "has listed", "3": "listing again", "4": "sure of its instants", "5": "answered"},
}  # fmt: skip
"""The numbers of steps, as words."""


def facts(system: System, result: Result) -> Iterator[str]:
    """One line for each element of the counterexample, and one for each fact of several elements."""
    model = result.model
    if model is None:
        return
    names = {str(element): f"{sort.name.lower()} {place}" for sort in _sorts(system)
             for place, element in enumerate(_universe(model, sort), start=1)}  # fmt: skip
    alone: dict[str, list[str]] = {name: [] for name in names.values()}
    together: list[str] = []
    for relation in system.relations:
        for arguments, value in _values(model, relation):
            text = _text(relation, value, names)
            if not text:
                continue
            elements = [names[str(argument)] for argument in arguments]
            if len(elements) == 1:
                alone[elements[0]].append(text)
            else:
                together.append(f"{text} ({', '.join(elements)})" if elements else text)
    yield from (f"{name}: {', '.join(texts)}" for name, texts in alone.items() if texts)
    yield from together


def _sorts(system: System) -> list[Sort]:
    return list(dict.fromkeys(sort for relation in system.relations for sort in relation.arguments))


def _universe(model: Any, sort: Sort) -> list[Any]:
    return list(model.get_universe(z3_sort(sort)) or ())


def _values(model: Any, relation: Relation) -> Iterator[tuple[tuple[Any, ...], Any]]:
    function = symbol(relation)
    for arguments in product(*(_universe(model, sort) for sort in relation.arguments)):
        yield arguments, model.eval(function(*arguments), model_completion=True)


def _text(relation: Relation, value: Any, names: dict[str, str]) -> str:
    word = relation.name.replace("_", " ")
    if relation.values == "truth":
        return word if str(value) == "True" else ""
    if relation.name in STEPS:
        return STEPS[relation.name].get(str(value), "")
    if relation.values == "time":
        return f"{word} {value}" if str(value) != "0" else ""
    return f"{word} {names.get(str(value), value)}"
