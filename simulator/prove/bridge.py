"""Compares a transition relation used in proofs with the executable model, state by state and step by step.

The function `compare` visits every reachable state of a world. The module `interpretation.py` translates each state of
the model into a state of the transition relation. Every clause of the invariant must be true in every reachable state.
The steps are compared in both directions. For each step of the model, an enabled action of the transition relation must
lead to the translation of the next model state. A step in `SILENT` needs no action if it leaves the translated state
unchanged. Each step of the transition relation must be one of the model, unless only a limit of the world stops the
model, or the action declares (`Action.wider`) why it allows more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from nbcc.model import Model, State, Step

from .finite import Explorer, Instance
from .interpretation import instance, interpret
from .lemmas.state import IDLE
from .system import Action, System

SILENT: Final = frozenset({
    "actor_crashes", "archiver_resumes_archiving", "cleaner_starts_clean", "rollbacker_starts_rollback",
    "rollbacker_deletes_log", "rollbacker_removes_instant",
})  # fmt: skip
"""Steps of the model that change no fact of the relation: a part of the work of a service."""
PAST: Final = {
    "work": ("own_plan", "completing", "base_written"),
    "service_work": ("operation_of", "service_completing", "log_written"),
}
"""The relation of an actor's work -> relations of its operation, which it keeps after the operation has ended."""


Values = tuple[Any, ...]
"""The values of all relations that can change, in the order of `Explorer.keys`."""


@dataclass(frozen=True)
class Compared:
    """The result of comparing a transition relation with the model. `difference` describes the first difference, or is
    None if there is no difference.

    `actions` are the actions of the relation that stand for a step of the model, and `wider` the actions that are also
    enabled where the model has no such step.
    """

    states: int
    steps: int
    actions: frozenset[str]
    wider: frozenset[str] = frozenset()
    difference: str | None = None


def compare(model: Model, system: System, most: int | None = None, elements: Instance | None = None) -> Compared:
    """Compare the transition relation `system` with the model in all reachable states, or in at most `most` of them.

    `elements` lists the writes, plans and actors to compare (default: those of the model's world). If `elements`
    contains records, the comparison includes the record that each base file keeps.
    """
    explorer = Explorer(system, elements or instance(model))
    known = {transition.action for transition in model.transitions}
    here = tuple(action for action in system.actions if known & {*action.stands_for})
    states = steps = 0
    taken: set[str] = set()
    wider: set[str] = set()
    difference: str | None = None
    for state, after in reachable(model, most):
        now = values_of(explorer, model, state)
        states += 1
        steps += len(after)
        view = explorer.view(now)
        false = next((name for name, clause in system.clauses.items() if not clause(view)), None)
        wanted = [(step, values_of(explorer, model, following)) for step, following in after]
        found: dict[Values, list[Action]] = {}
        for step, values in explorer.successors(now, here):
            found.setdefault(present(explorer, values), []).append(step.action)
        missing = [step for step, values in wanted if not _stand_for(step, found.get(values, ()))
                   and not (step.action in SILENT and values == now)]  # fmt: skip
        taken |= {action.name for step, values in wanted for action in _stand_for(step, found.get(values, ()))}
        known_next = {now, *(values for _, values in wanted)}
        more = [action for values, actions in found.items() if values not in known_next for action in actions
                if not model.only_limits_stop(state, action.stands_for)]  # fmt: skip
        wider |= {action.name for action in more}
        undeclared = next((action for action in more if not action.wider), None)
        if false is not None:
            difference = f"the clause {false!r} is false in a reachable state"
        elif missing:
            difference = f"no action of the relation is the step {model.describe(missing[0])!r}"
        elif undeclared is not None:
            difference = f"no step of the model is the action {undeclared.name!r}, and it declares no reason"
        if difference is not None:
            break
    return Compared(states, steps, frozenset(taken), frozenset(wider), difference)


def _stand_for(step: Step, actions: Iterable[Action]) -> list[Action]:
    return [action for action in actions if step.action in action.stands_for]


def values_of(explorer: Explorer, model: Model, state: State) -> Values:
    """Return the state of the transition relation that stands for a state of the model."""
    facts = interpret(model, state, explorer.instance)
    values = tuple(facts.get(key, first) for key, first in zip(explorer.keys, explorer.blank, strict=True))
    return present(explorer, values)  # as the states that the relation reaches


def present(explorer: Explorer, values: Values) -> Values:
    """Return the relation values of a state, with the values about the last operation of each idle actor reset. No
    action reads these values.
    """
    facts = zip(explorer.keys, values, strict=True)
    idle = {(name, key[1]) for key, value in facts if value == IDLE for name in PAST.get(key[0], ())}
    return tuple(
        first if key[:2] in idle else value
        for key, value, first in zip(explorer.keys, values, explorer.blank, strict=True)
    )


def reachable(model: Model, most: int | None = None) -> Iterator[tuple[State, list[tuple[Step, State]]]]:
    """Yield each reachable state with its steps, or at most `most` states."""
    seen, todo, visited = {model.initial}, [model.initial], 0
    while todo and (most is None or visited < most):
        state = todo.pop()
        after = list(model.successors(state))
        visited += 1
        yield state, after
        for _, following in after:
            if following not in seen:
                seen.add(following)
                todo.append(following)
