"""A mechanism declares one part of the model: its actors, actions, options, limits and rules. The actors of the kernel
are declared as mechanisms too.
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
    """A kind of actor, such as `writer`. Each actor's name starts with `prefix`. `first` is the initial state.

    `idle_steps` are the steps at which an actor is between two operations. `service` is True for a table service, whose
    steps must not change the result of any read that the table still supports (promise QUIET). `in_random_worlds` lists
    the possible numbers of actors of this kind in a random world. All these numbers are equally likely; the simplest
    one comes first.
    """

    name: str
    prefix: str
    first: ActorState
    idle_steps: tuple[str, ...] = ("idle",)
    in_random_worlds: tuple[int, ...] = (0,)
    service: bool = False

    def actor(self, number: int) -> str:
        """Return the name of the actor with the given number, counted from 1; for example, `w1`."""
        return f"{self.prefix}{number}"


def _nothing(composition: Composition) -> None:
    ...


def _any_world(world: Any) -> None:
    ...


def _any_protocol(protocol: Any) -> None:
    ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """The declarations of one part of the model, such as cleaning.

    `compose` adds transitions, components (state variables) and fields, and refines existing transitions. `after` names
    the mechanisms that are applied before this mechanism. If `after` contains "*", the mechanism is applied after every
    mechanism without "*". `idle_steps` maps a kind of actor to additional steps that count as idle (between two
    operations). `check` raises ValueError for an unsupported world. `agree` raises ValueError for an unsupported
    combination of options. `of_write` returns the mechanism's limits for one write, given the actor and the index of
    the write. Actors for which `of_write` returns different limits are not symmetric. `rules` replaces functions that
    define how a table is read. `service` is True if the actions belong to a table service and are therefore checked by
    promise QUIET.
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
