"""Defines the type `Promise`: a property of the model that the search checks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..machine.options import ProtocolOptions
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.endless import Endless
from ..model import Model


class NotJudged(ValueError):
    """A promise cannot be judged in a state of this size; the search ends, and its verdicts are UNDETERMINED."""


def components_in(model: Model, *names: str) -> tuple[str, ...]:
    """Return those of `names` that are components (state variables) of the model."""
    return tuple(name for name in names if name in model.components)


def protocol_of(model: Model, actor: str) -> ProtocolOptions:
    return model.composition.protocol_of(actor)


def value_in(model: Model, state: State, name: str, otherwise: Any = ()) -> Any:
    """Return the value of a component (state variable), or `otherwise` if the model does not have the component."""
    return model.component(state, name) if name in model.components else otherwise


def _always(model: Model) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A property of the model that the search checks. `kind` states whether the promise is about states, steps or whole
    runs.

    `holds(model, before, step, after)` returns None if the promise holds; otherwise it returns a sentence about the
    violation. If `kind` is `state`, `holds` uses only `after`, and its other arguments may be None. `sometimes` returns
    True if a state tests the promise; elsewhere, the promise holds trivially. A search without such a state provides no
    evidence that the promise holds. `reads` names the components (state variables) that `holds` and `sometimes` read.
    `unfit` returns the reason why the promise is not checked for a model, or None. `shape(model, *states)` returns None
    or a key under which the verdict can be cached (see `promises.shape`).

    If the promise is about runs, `outstanding` maps each event that must still occur to a sentence about it. `limited`
    returns a phrase that names the actors that could act if the world's limits were higher. `fair` returns True for a
    step with weak fairness: if its action stays possible, it must eventually happen. `often` returns True for a step
    with strong fairness: if its action becomes possible infinitely often, it must eventually happen. `first(model,
    states)` returns the first violation among all states of a finished search: the index of the state and a sentence,
    or None.
    """

    name: str
    about: str
    source: str
    kind: Literal["state", "step", "run"]
    holds: Callable[[Model, State | None, Step | None, State], str | None]
    sometimes: Callable[[Model, State], bool]
    reads: Callable[[Model], tuple[str, ...]]
    unfit: Callable[[Model], str | None] = _always
    shape: Callable[..., Hashable | None] | None = None
    outstanding: Callable[[Model, State], Mapping[str, str]] = lambda model, state: {}
    limited: Callable[[Model, State], str] = lambda model, state: ""
    fair: Callable[[Model, Step], bool] = lambda model, step: True
    often: Callable[[Model, Step], bool] = lambda model, step: False
    first: Callable[[Model, Sequence[State]], tuple[int, str] | None] | None = None


def in_ending_worlds(promise: Promise) -> Promise:
    """Restrict a promise to worlds with a limited number of writes. Promises about runs need no restriction, and are
    returned unchanged.

    If the number of writes is unlimited, the model drops old instants and renumbers times. Promises about states and
    steps are then not checked.
    """

    def unfit(model: Model) -> str | None:
        endless = model.world[Endless].endless
        return "an endless world forgets instants and times" if endless else promise.unfit(model)

    return promise if promise.kind == "run" else replace(promise, unfit=unfit)
