"""Compares a transition relation used in proofs with the executable model, state by state and step by step.

The function `compare` visits every reachable state of a world. The module `interpretation.py` translates each state of
the model into a state of the transition relation. Every clause of the invariant must be true in every reachable state.
The steps are compared in both directions. For each step of the model, an enabled action of the transition relation must
lead to the translation of the next model state. A step in `SILENT` needs no action if it leaves the translated state
unchanged. Each step of the transition relation must be one of the model, unless only a limit of the world stops the
model, or `WIDER` says why the action allows more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nbcc.model import Model, State, Step
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.model.mechanisms.rollback.heartbeat import HEARTBEAT_EXPIRES
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER_REMOVES_INSTANT, ROLLBACKER_STARTS_ROLLBACK
from nbcc.simulator.search.prove.lemmas.state import IDLE
from nbcc.simulator.search.prove.system import Move, ProvedSystem
from nbcc.simulator.search.prove.worlds import reachable

from .finite import Explorer, Instance
from .interpretation import instance, interpret

SILENT: Final = frozenset({
    ACTOR_CRASHES, HEARTBEAT_EXPIRES, "archiver_resumes_archiving", "cleaner_starts_clean", ROLLBACKER_STARTS_ROLLBACK,
    "rollbacker_deletes_log", ROLLBACKER_REMOVES_INSTANT,
})  # fmt: skip
"""Steps of the model that change no fact of the relation: a part of the work of a service."""
PAST: Final = {
    "work": ("own_plan", "completing", "base_written", "copied_to"),
    "barrier": ("runner", "layout_of"),
    "phase": ("made_by", "layout_in"),
    "service_work": ("operation_of", "service_completing", "log_written"),
}
"""The relation of an actor's work -> relations of its operation, which it keeps after the operation has ended. The
relation of a plan -> relations that a cancelled plan keeps. The relation of a write -> relations that a write keeps
which its writer has taken back."""


WIDER: Final = {
    "rollbacker plans rollback":
        "a rollbacker may choose any failed write, not only the oldest one without a pending rollback",
    "rollbacker finds its rollback completed":
        "a rollbacker may find its rollback completed before it has deleted all logs",
    "rollbacker deletes log":
        "a rollbacker may delete the logs of any write that is rolled back, also before it lists them",
    "rollbacker takes lock":
        "a rollbacker may take the lock at any point of its work, before it has deleted all logs",
    "rollbacker announces":
        "a rollbacker may announce that its rollback is complete before it has deleted all logs",
    "cleaner schedules clean":
        "the horizon may be any completion time, however many commits the model's cleaner retains",
    "cleaner finds its clean completed":
        "a cleaner may find its clean completed before it has deleted all files",
    "cleaner deletes files":
        "a cleaner may delete the files of any clean, in any order and before it starts its clean",
    "cleaner takes lock":
        "a cleaner may take the lock at any point of its work, before it has deleted all files",
    "archiver archives instants":
        "an archiver may archive any of the oldest instants, however many the model's archiver retains",
    "archiver removes write":
        "the relation has no archivers: an archived write may be removed after the only archiver has crashed",
    "archiver removes compaction":
        "the relation has no archivers: as for an archived write",
    "log compactor finds its plan completed":
        "a log compactor may find its plan completed at any point of its work",
    "log compactor writes log":
        "a log compactor may write the logs of a plan that another one started, without starting it again",
    "another actor publishes a decided write":
        "the relation does not say which actor publishes it: one may at any time",
    "another actor publishes a decided compaction":
        "the relation does not say which actor publishes it: one may at any time",
}  # fmt: skip
"""The actions of relations that are also enabled in states in which the model has no such step, and the reasons."""
AT_ANY_STEP: Final = frozenset({
    "rollbacker takes lock", "rollbacker announces", "cleaner deletes files", "cleaner takes lock",
    "archiver removes write", "archiver removes compaction", "log compactor writes log",
    "another actor publishes a decided write", "another actor publishes a decided compaction",
})  # fmt: skip
"""Those of `WIDER` that the model lacks only where its actors are at other steps, which the relation does not have, or
where it takes the action with other arguments."""

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


def compare(model: Model, system: ProvedSystem, most: int | None = None, elements: Instance | None = None) -> Compared:
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
        found: dict[Values, list[Move]] = {}
        for step, values in explorer.successors(now, here):
            found.setdefault(present(explorer, values), []).append(step.action)
        missing = [step for step, values in wanted if not _stand_for(step, found.get(values, ()))
                   and not (step.action in SILENT and values == now)]  # fmt: skip
        taken |= {action.name for step, values in wanted for action in _stand_for(step, found.get(values, ()))}
        changing = {step.action for step, values in wanted if values != now}
        known_next = {now, *(values for _, values in wanted)}
        more = [action for values, actions in found.items() if values not in known_next for action in actions
                if not model.only_limits_stop(state, action.stands_for)]  # fmt: skip
        wider |= {action.name for action in more}
        undeclared = next((action for action in more if not _is_declared(model, state, action, changing)), None)
        if false is not None:
            difference = f"the clause {false!r} is false in a reachable state"
        elif missing:
            difference = f"no action of the relation is the step {model.describe(missing[0])!r}"
        elif undeclared is not None:
            difference = f"no step of the model is the action {undeclared.name!r}, and it declares no reason"
        if difference is not None:
            break
    return Compared(states, steps, frozenset(taken), frozenset(wider), difference)


def uncovered(system: ProvedSystem, comparisons: Sequence[Compared]) -> tuple[str, ...]:
    """Return what the comparisons of a relation in all its worlds leave out: each action that no step of the model is,
    and each excess in `WIDER` that does not occur.

    A model that never takes an action of `WIDER` has no other difference from the relation.
    """
    taken = frozenset[str]().union(*(each.actions for each in comparisons))
    wider = frozenset[str]().union(*(each.wider for each in comparisons))
    never = (action.name for action in system.actions if action.name not in taken)
    exact = (action.name for action in system.actions if action.name in WIDER.keys() - wider)
    return (
        *(f"no step of the model is the action {name!r} in any world" for name in never),
        *(f"the action {name!r} is nowhere enabled without the model's step; remove it from WIDER" for name in exact),
    )


def _is_declared(model: Model, state: State, action: Move, changing: set[str]) -> bool:
    """True if `WIDER` allows the excess. `changing` are the model's actions that change facts in this state."""
    if action.name in AT_ANY_STEP and not changing & {*action.stands_for}:
        return model.only_limits_stop(state, action.stands_for, at_any_step=True)
    return action.name in WIDER


def _stand_for(step: Step, actions: Iterable[Move]) -> list[Move]:
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
    # Only a resize is cancelled. A plan that is announced in an entry has a runner before it is on the timeline.
    named = {key[0] for key in explorer.keys}
    past = {name: kept for name, kept in PAST.items() if {*kept} <= named or name != "planned"}
    idle = {(name, key[1]) for key, value in facts if value == IDLE for name in past.get(key[0], ())}
    return tuple(
        first if key[:2] in idle else value
        for key, value, first in zip(explorer.keys, values, explorer.blank, strict=True)
    )
