"""A mechanism: the declarations of one module of the model. Each part of the kernel is declared as a `Mechanism` too.
"""

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
    """A kind of actors: its name, the prefix of its actors' names, and the initial state of each.

    `idle_steps` are the steps at which an actor is between two operations. `service` is True for a table service, whose
    steps must not change the answer of a retained read (promise QUIET). `in_random_worlds` lists the numbers of actors
    of this kind that a random world may have. Each entry of `in_random_worlds` is equally likely; the first entry is
    the simplest case.
    """

    name: str
    prefix: str
    first: ActorState
    idle_steps: tuple[str, ...] = ("idle",)
    in_random_worlds: tuple[int, ...] = (0,)
    service: bool = False

    def actor(self, number: int) -> str:
        """Return the name of the actor with this number. The numbers of actors start at 1."""
        return f"{self.prefix}{number}"


def _nothing(composition: Composition) -> None:
    ...


def _any_world(world: Any) -> None:
    ...


def _any_protocol(protocol: Any) -> None:
    ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """The declarations of one module.

    `compose` adds transitions, components and fields, and refines existing transitions. `after` names the mechanisms
    whose refinements come before the refinements of this mechanism; "*" stands for every mechanism that does not
    declare "*" itself. `idle_steps` maps a kind of actors to further steps at which an actor of that kind is between
    two operations. `check` raises ValueError for an unsupported world. `agree` raises ValueError for an unsupported
    combination of options. `of_write` returns the limits of the mechanism for one write, which an actor and a number
    identify. Actors for which `of_write` returns different limits are not symmetric. `rules` refines how a table is
    read. `service` is True if the actions belong to a table service (promise QUIET).
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
