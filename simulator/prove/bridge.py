"""Compares a transition relation used in proofs with the executable model, state by state and step by step.

The function `compare` visits every reachable state of a world. The module `interpretation.py` translates each state of
the model into a state of the transition relation. Every clause of the invariant must be true in every reachable state.
For each step of the model, an enabled action of the transition relation must lead to the translation of the next model
state. A step in `SILENT` needs no action if it leaves the translated state unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from nbcc.model import Model, State, Step

from .finite import Explorer, Instance, Taken
from .interpretation import instance, interpret
from .lemmas.state import IDLE
from .system import System

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


@dataclass(frozen=True)
class Compared:
    """The result of comparing a transition relation with the model. `difference` describes the first difference, or is
    None if there is no difference.
    """

    states: int
    steps: int
    actions: frozenset[str]
    difference: str | None = None


def compare(model: Model, system: System, most: int | None = None, elements: Instance | None = None) -> Compared:
    """Compare the transition relation `system` with the model in all reachable states, or in at most `most` of them.

    `elements` lists the writes, plans and actors to compare (default: those of the model's world). If `elements`
    contains records, the comparison includes the record that each base file keeps.
    """
    explorer = Explorer(system, elements or instance(model))
    states = steps = 0
    actions: set[str] = set()
    difference: str | None = None
    for state, after in _reachable(model, most):
        now = _values(explorer, model, state)
        states += 1
        view = explorer.view(now)
        false = next((name for name, clause in system.clauses.items() if not clause(view)), None)
        if false is not None:
            return Compared(states, steps, frozenset(actions), f"the clause {false!r} is false in a reachable state")
        for step, next_state in after:
            steps += 1
            wanted = _values(explorer, model, next_state)
            if step.action in SILENT and wanted == now:
                continue
            candidates = _candidates(explorer, now, step)
            action = next((t.action for t, v in candidates if present(explorer, v) == wanted), None)
            if action is None:
                difference = f"no action of the relation is the step {model.describe(step)!r}"
                return Compared(states, steps, frozenset(actions), difference)
            actions.add(action.name)
    return Compared(states, steps, frozenset(actions), difference)


def _values(explorer: Explorer, model: Model, state: State) -> tuple[Any, ...]:
    facts = interpret(model, state, explorer.instance)
    values = tuple(facts.get(key, first) for key, first in zip(explorer.keys, explorer.blank, strict=True))
    return present(explorer, values)  # as the states that the relation reaches


def present(explorer: Explorer, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the relation values of a state, with the values about the last operation of each idle actor reset. No
    action reads these values.
    """
    facts = zip(explorer.keys, values, strict=True)
    idle = {(name, key[1]) for key, value in facts if value == IDLE for name in PAST.get(key[0], ())}
    return tuple(
        first if key[:2] in idle else value
        for key, value, first in zip(explorer.keys, values, explorer.blank, strict=True)
    )


def _candidates(explorer: Explorer, now: tuple[Any, ...], step: Step) -> Iterator[tuple[Taken, tuple[Any, ...]]]:
    yield from explorer.successors(now, tuple(a for a in explorer.system.actions if step.action in a.stands_for))


def _reachable(model: Model, most: int | None) -> Iterator[tuple[State, list[tuple[Step, State]]]]:
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
