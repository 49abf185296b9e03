"""Describes a counterexample to induction in words: the facts of a state, element by element.

The name that z3 generates for an element, such as `Write!val!0`, is replaced by `write 1`. The description omits false
facts and times that are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final, NamedTuple

from .logic import Relation, Sort, constant, symbol, z3_sort
from .obligations import ObligationResult
from .system import Move, ProvedSystem, SetParameter, TimesParameter

STEPS: Final = {
    "phase": {"1": "requested", "2": "in its data phase", "3": "under the lock", "4": "has a completion time",
              "5": "published"},
    "work": {"1": "about to start its plan", "2": "running its plan", "3": "under the lock",
             "4": "has a completion time"},
    "service_work": {"1": "at work", "2": "under the lock", "3": "has a completion time"},
    "reading": {"1": "listing", "2": "has listed", "3": "has read the archive", "4": "listing again",
                "5": "has listed what it will read", "6": "sure of its instants", "7": "answered",
                "8": "refused", "9": "found a file deleted", "-1": "dead"},
}  # fmt: skip
"""The numbers of steps, as words."""
MEANS_WITH: Final = {
    "requested": ("phase",), "completed": ("phase",), "compacted": ("done", "decided_plan"), "barrier": ("planned",),
    "runner": ("planned",), "own_plan": ("work",), "completing": ("work",), "reads_at": ("reading",),
    **dict.fromkeys((
        "kept_write", "kept_plan", "kept_operation", "there_write", "there_plan", "there_operation", "seen_plan",
    ), ("reading",)),
    "operation_requested": ("operation_planned",), "operation_completed": ("operation_done",),
    "operation_of": ("service_work",), "service_completing": ("service_work",),
}  # fmt: skip
"""Relation -> the relations of which one must be true of its first element, so that its value means anything."""


class Counterexample(NamedTuple):
    """A counterexample to a proof obligation. `values` maps (relation, *elements) to the relation's value in the state;
    values that are false or 0 are omitted.

    `step` is the action taken in the state, with its parameters, or "" if the obligation is not about a step. `named`
    contains the elements that occur in `step`.
    """

    step: str
    named: frozenset[str]
    values: dict[tuple[str, ...], Any]


def counterexample(system: ProvedSystem, result: ObligationResult) -> Counterexample | None:
    """Return the counterexample to an obligation, with readable names for its elements; None if z3 found no
    counterexample.
    """
    model = result.model
    if model is None:
        return None
    names = {str(element): f"{sort.name.lower()} {place}" for sort in _sorts(system)
             for place, element in enumerate(_universe(model, sort), start=1)}  # fmt: skip
    stepping = next((action for action in system.actions if action.name == result.obligation.action), None)
    parameters = [*_parameters(model, stepping, names)] if stepping else []
    step = (stepping.name if stepping else "") + (f" ({', '.join(parameters)})" if parameters else "")
    values: dict[tuple[str, ...], Any] = {}
    for relation in system.relations:
        for arguments, term in _values(model, relation):
            value = _value(relation, term, names)
            if value:
                values[relation.name, *(names[str(argument)] for argument in arguments)] = value
    meant = {key: value for key, value in values.items() if _means(values, key)}
    return Counterexample(step, frozenset(parameters) & frozenset(names.values()), meant)


def _means(values: Mapping[tuple[str, ...], Any], key: tuple[str, ...]) -> bool:
    """True if the relation is defined for its first element. A pending plan, for example, has no completion time."""
    needs = MEANS_WITH.get(key[0])
    return needs is None or any(values.get((name, key[1])) for name in needs)


def _value(relation: Relation, term: Any, names: dict[str, str]) -> bool | int | str:
    if relation.values == "truth":
        return str(term) == "True"
    return int(str(term)) if relation.values == "time" else names.get(str(term), "")


def facts(system: ProvedSystem | None, result: ObligationResult) -> Iterator[str]:
    """Yield the counterexample as lines of text: the step, then the facts about each element, then the facts about
    several elements.
    """
    found = counterexample(system, result) if system is not None else None
    if found is None or system is None:
        return
    if found.step:
        yield f"step: {found.step}"
    relations = {relation.name: relation for relation in system.relations}
    needed = shown(relations, found)
    alone: dict[str, list[str]] = {}
    together: list[str] = []
    for (name, *elements), value in found.values.items():
        text = _text(relations[name], value)
        if text and len(elements) == 1:
            alone.setdefault(elements[0], []).append(text)
        elif text:
            together.append(f"{text} ({', '.join(elements)})" if elements else text)
    yield from (f"{name}: {', '.join(texts)}" for name, texts in alone.items() if name in needed)
    yield from together


def shown(relations: Mapping[str, Relation], found: Counterexample) -> set[str]:
    """Return the elements to print: those that occur in the step or in a true fact, and the elements to which they
    refer.
    """
    needed = set(found.named)
    for name, *elements in found.values:
        relation = relations[name]
        if len(elements) > 1 or relation.values == "truth" or name in STEPS:
            needed.update(elements)
    refers = {(elements[0], value) for (name, *elements), value in found.values.items()
              if len(elements) == 1 and isinstance(relations[name].values, Sort)}  # fmt: skip
    return needed | {value for name, value in refers if name in needed}


def _parameters(model: Any, action: Move, names: dict[str, str]) -> Iterator[str]:
    for place, kind in enumerate(action.parameters):
        if isinstance(kind, SetParameter | TimesParameter):
            continue
        value = str(model.eval(constant(kind, f"{action.name} {place}"), model_completion=True))
        yield names.get(value, f"{kind} {value}")


def _sorts(system: ProvedSystem) -> list[Sort]:
    return list(dict.fromkeys(sort for relation in system.relations for sort in relation.arguments))


def _universe(model: Any, sort: Sort) -> list[Any]:
    return list(model.get_universe(z3_sort(sort)) or ())


def _values(model: Any, relation: Relation) -> Iterator[tuple[tuple[Any, ...], Any]]:
    function = symbol(relation)
    for arguments in product(*(_universe(model, sort) for sort in relation.arguments)):
        yield arguments, model.eval(function(*arguments), model_completion=True)


def _text(relation: Relation, value: bool | int | str) -> str:
    word = relation.name.replace("_", " ")
    if relation.values == "truth":
        return word
    return STEPS[relation.name].get(str(value), "") if relation.name in STEPS else f"{word} {value}"
