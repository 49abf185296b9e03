"""A diagnostic: what is wrong with which file, why that matters, what an operator can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from nbcc.engine.config.options import FUNCTION, PARTIAL

from ..view import View

Gravity = Literal["BROKEN", "AT RISK"]


class Found(NamedTuple):
    """One case of a rule. `remedy` is a phrase, or a command of `nbcc table` with {table} in it."""

    file: str
    because: str
    remedy: str
    gravity: Gravity = "BROKEN"
    promises: tuple[str, ...] = ()


class Rule(NamedTuple):
    """A named rule: `find` gives its cases in a table, which speak of `promises` unless they say otherwise."""

    name: str
    about: str
    promises: tuple[str, ...]
    find: Callable[[View], Iterable[Found]]


class Diagnostic(NamedTuple):
    """A case with the name of its rule."""

    rule: str
    gravity: Gravity
    promises: tuple[str, ...]
    file: str
    because: str
    remedy: str


RESTORE = "restore it from a copy"


def again(view: View, *paths: str) -> str:
    """How the rows of logs are written again: by hand where what is written later wins, whatever its ordering value."""
    values = view.found.properties
    ranked = values.get("hoodie.record.merge.mode") == "EVENT_TIME_ORDERING" and not {PARTIAL, FUNCTION} & {*values}
    if view.found.own and ranked:
        return f"nbcc table {{table}} rewrite {' '.join(paths)}"
    return "write the rows that it holds, and the table lacks, again"


def undo(view: View, requested: str) -> str:
    """How a pending instant is taken off the timeline."""
    if view.found.own:
        return f"nbcc table {{table}} rollback --instant {requested}"
    return f"roll the instant {requested} back by the engine that wrote it"


def diagnostics_of(view: View, rules: Iterable[Rule]) -> list[Diagnostic]:
    """All cases of all rules, the broken first, then in the order of the rules."""
    found = [
        Diagnostic(rule.name, each.gravity, each.promises or rule.promises, each.file, each.because, each.remedy)
        for rule in rules
        for each in rule.find(view)
    ]
    return sorted(found, key=lambda diagnostic: diagnostic.gravity != "BROKEN")
