"""A mechanism: what one module adds to a model. The kernel is composed of the same parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .options import Limits, Options
from .transition import Action, ActorState

if TYPE_CHECKING:
    from .composition import Composition


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of actors: its name, what the names of its actors begin with, and the first state of each.

    `rests`: the steps at which an actor is between two operations. `drawn`: how many of them a random world has at
    most. `service`: a table service, whose steps must not change the answer of a retained read (promise QUIET).
    """

    name: str
    prefix: str
    first: ActorState
    rests: tuple[str, ...] = ("idle",)
    drawn: int = 0
    service: bool = False


def _nothing(composition: Composition) -> None:
    """A part that declares options or rules alone."""


def _any_world(world: Any) -> None:
    """A mechanism that every world can have."""


def _any_protocol(protocol: Any) -> None:
    """Options that can have any values together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """What one module adds.

    `compose` adds transitions, components and fields, and refines what is there. `after`: the mechanisms whose
    refinements come first, where the order matters; "*" stands for every mechanism that does not say "*" itself.
    `check` raises ValueError for a world that the mechanism does not support, `agree` for options that it does not
    support together. `rules` refines how a table is read. `service`: its actions are those of a table service (promise
    QUIET).
    """

    compose: Callable[[Composition], None] = _nothing
    after: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    kinds: tuple[Kind, ...] = ()
    options: type[Options] | None = None
    limits: type[Limits] | None = None
    check: Callable[[Any], None] = _any_world
    agree: Callable[[Any], None] = _any_protocol
    rules: Callable[[Any, Any], Any] | None = None
    service: bool = False
