"""Functions of which every name is resolved: what is called, and the components whose values it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

EVERY = "every_"
"""How a parameter begins that takes the components of all actors of a kind."""
OWN = "own_"
"""How a parameter begins that takes a record which a mechanism adds to the actor."""


class UnknownName(TypeError):
    """A parameter, or a change, that is neither a component of the model nor a constant of it."""


class Bound(NamedTuple):
    """A function of the values of `reads`, in this order; `keywords` are the arguments of the step that it takes."""

    call: Callable[..., Any]
    reads: tuple[str, ...]
    keywords: tuple[str, ...] = ()


class BoundGuard(NamedTuple):
    """A condition on the values of `reads`, in this order."""

    reason: str
    holds: Callable[..., object]
    reads: tuple[str, ...]
    limit: bool = False


class BoundTransition(NamedTuple):
    """A transition of which every name is resolved. `own` are the guards over the actor's own component alone.

    `reads` are all components that any of its functions reads, the actor's own first. `arguments` and `effect` take the
    values of their own `reads`; the effect returns new values by the names of components, some of `writes`.
    """

    action: str
    actor: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    actor_guards: tuple[BoundGuard, ...]
    guards: tuple[BoundGuard, ...]
    arguments: Bound
    effect: Bound
    component: str
    """The component of the actor: its name, unless the transition says otherwise."""


class ViewStep(NamedTuple):
    """One function of a view, and the actors for which it counts; None: for all, and where no actor is given."""

    function: Callable[..., Any]
    actors: frozenset[str] | None = None
