"""A mechanism: what one module adds to a model. The kernel is composed of the same parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .options import Limits, Options
from .transition import Action, ActorState

if TYPE_CHECKING:
    from .composition import Composition


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of actors: its name, what the names of its actors begin with, and the first state of each.

    `idle_steps`: the steps at which an actor is between two operations. `service`: a table service; its steps must not
    change the answer of a retained read (promise QUIET). `in_random_worlds`: the numbers of such actors that a random
    world may have, each equally likely; the first number is the simplest case.
    """

    name: str
    prefix: str
    first: ActorState
    idle_steps: tuple[str, ...] = ("idle",)
    in_random_worlds: tuple[int, ...] = (0,)
    service: bool = False

    def actor(self, number: int) -> str:
        """The name of the actor with this number, from 1."""
        return f"{self.prefix}{number}"


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
    `idle_steps`: further steps between two operations, by kind of actors.
    `check` raises ValueError for a world that the mechanism does not support, `agree` for options that it does not
    support together. `of_write` returns what the limits of the mechanism say of one write, by its actor and its number:
    actors that differ in it are not symmetric. `rules` refines how a table is read. `service`: its actions are those of
    a table service (promise QUIET).
    """

    compose: Callable[[Composition], None] = _nothing
    after: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    kinds: tuple[Kind, ...] = ()
    idle_steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: type[Options] | None = None
    limits: type[Limits] | None = None
    check: Callable[[Any], None] = _any_world
    agree: Callable[[Any], None] = _any_protocol
    of_write: Callable[[Any, str, int], object] | None = None
    rules: Callable[[Any, Any], Any] | None = None
    service: bool = False
