"""Functions and transitions whose parameter names are resolved to components (state variables)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

EVERY = "every_"
"""The prefix of a parameter that takes the components of all actors of a kind."""
OWN = "own_"
"""The prefix of a parameter that takes a record which a mechanism adds to the actor."""


class UnknownName(TypeError):
    """Raised if a guard or effect has an unknown parameter, or changes an unknown component."""


class Bound(NamedTuple):
    """A function with resolved parameters: `call` receives the values of the components listed in `reads`, in that
    order. `keywords` names the step arguments that `call` receives.
    """

    call: Callable[..., Any]
    reads: tuple[str, ...]
    keywords: tuple[str, ...] = ()


class BoundGuard(NamedTuple):
    """A guard with resolved parameters: `holds` receives the values of the components listed in `reads`, in that order.
    """

    reason: str
    holds: Callable[..., object]
    reads: tuple[str, ...]
    limit: bool = False


class BoundTransition(NamedTuple):
    """A transition with resolved names. `actor_guards` are the guards that read only the actor's own component (state
    variable).

    `reads` lists every component that the guards, arguments and effects read, the actor's own component first.
    `arguments` receives only the components in `arguments.reads`, and `effect` only those in `effect.reads`. The effect
    may return new values only for the components listed in `writes`.
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
    """The name of the actor's own component."""
    tags: frozenset[str] = frozenset()


class ViewStep(NamedTuple):
    """One of the functions that compute a view. The function applies only if one of `actors` reads the view. If
    `actors` is None, it applies for every reader of the view.
    """

    function: Callable[..., Any]
    actors: frozenset[str] | None = None
