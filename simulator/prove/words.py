"""A counterexample to induction in words: the facts of a state, element by element.

z3 gives elements names such as `Write!val!0`; here they are `write 1`. Facts that do not hold, times that are 0 and
elements that touch nothing are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from .logic import Relation, Sort, constant, symbol, z3_sort
from .obligations import Result
from .system import Action, Predicate, System

STEPS: Final = {
    "phase": {"1": "requested", "2": "in its data phase", "3": "under the lock", "4": "has a completion time",
              "5": "published"},
    "work": {"1": "about to start its plan", "2": "running its plan", "3": "under the lock",
             "4": "has a completion time"},
    "service_work": {"1": "at work", "2": "under the lock", "3": "has a completion time"},
    "reading": {"1": "listing", "2": "has listed", "3": "has read the archive", "4": "listing again",
                "5": "has listed what it will read", "6": "sure of its instants", "7": "answered"},
}  # fmt: skip
"""The numbers of steps, as words."""


def facts(system: System | None, result: Result) -> Iterator[str]:
    """The step with its parameters, and one line for each element that the counterexample needs."""
    model = result.model
    if model is None or system is None:
        return
    names = {str(element): f"{sort.name.lower()} {place}" for sort in _sorts(system)
             for place, element in enumerate(_universe(model, sort), start=1)}  # fmt: skip
    stepping = next((action for action in system.actions if action.name == result.obligation.action), None)
    touched: set[str] = set()
    if stepping is not None:
        parameters = [*_parameters(model, stepping, names)]
        touched.update(name for name in names.values() if any(name in each for each in parameters))
        yield f"step: {stepping.name}" + (f" ({', '.join(parameters)})" if parameters else "")
    alone: dict[str, list[str]] = {name: [] for name in names.values()}
    refers: dict[str, list[str]] = {name: [] for name in names.values()}
    together: list[str] = []
    for relation in system.relations:
        for arguments, value in _values(model, relation):
            text = _text(relation, value, names)
            elements = [names[str(argument)] for argument in arguments]
            if not text:
                continue
            if len(elements) == 1:
                alone[elements[0]].append(text)
                if isinstance(relation.values, Sort):
                    refers[elements[0]].append(names.get(str(value), ""))
                elif relation.values == "truth" or relation.name in STEPS:
                    touched.add(elements[0])
            else:
                touched.update(elements)
                together.append(f"{text} ({', '.join(elements)})" if elements else text)
    # An element of which nothing is true is left out, unless an element that is shown refers to it.
    touched |= {other for name in touched.copy() for other in refers.get(name, ())}
    yield from (f"{name}: {', '.join(texts)}" for name, texts in alone.items() if texts and name in touched)
    yield from together


def _parameters(model: Any, action: Action, names: dict[str, str]) -> Iterator[str]:
    for place, kind in enumerate(action.parameters):
        if isinstance(kind, Predicate):
            continue
        value = str(model.eval(constant(kind, f"{action.name} {place}"), model_completion=True))
        yield names.get(value, f"{kind} {value}")


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
