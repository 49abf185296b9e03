"""The shape of a promise."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..machine.options import ProtocolOptions
from ..machine.state import State
from ..machine.transition import Step
from ..model import Model


def components_in(model: Model, *names: str) -> tuple[str, ...]:
    """Those of these components that the model has."""
    return tuple(name for name in names if name in model.components)


def protocol_of(model: Model, actor: str) -> ProtocolOptions:
    """The protocol of one actor."""
    return model.composition.protocol_of(actor)


def value_in(model: Model, state: State, name: str, otherwise: Any = ()) -> Any:
    """The value of a component; `otherwise` if the model does not have it."""
    return model.component(state, name) if name in model.components else otherwise


def _always(model: Model) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A promise over states, over steps where it speaks of change, or over runs where it speaks of their end.

    `holds(model, before, step, after)` gives None, or the sentence that says what is broken; a promise over states
    looks at `after` alone and may be given None for the others. `sometimes` is true of a state in which the promise
    says something: without one the promise was never put to the test. `reads` names the components both rest on;
    a step promise may also rest on which action it is. `unfit` says why a model is none that it speaks of.
    `shape(model, *states)`: what of those components it can tell apart, where it says the same of all states of one
    shape (see `promises.shape`); None: everything.

    A promise over whole runs is judged where they end, or go round for ever: `outstanding` is what must still happen
    there, by name with a sentence; `limited` who is kept from helping by a limit of the world alone; `fair` whether an
    action that stays possible happens one day.
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
