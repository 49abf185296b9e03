"""A mechanism declares one part of the model: its actors, actions, options, limits and rules. The actors of the kernel
are declared as mechanisms too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

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


class AddedValue(NamedTuple):
    """A value that a mechanism adds to an option of another mechanism, with the meaning of the value."""

    option: str
    value: str
    about: str


class Together(NamedTuple):
    """In a world with actors of every kind in `of`, only actors of the kinds in `others` are modelled."""

    of: tuple[Kind, ...]
    others: Collection[Kind | str]

    def check(self, kinds: Collection[str]) -> None:
        """Raise ValueError if a world with these kinds of actors is not modelled."""
        of, others = ([name_of(kind) for kind in each] for each in (self.of, self.others))
        if {*kinds} >= {*of} and (refused := sorted({*kinds} - {*others})):
            met = " and a ".join(kind.replace("_", " ") for kind in of)
            raise ValueError(f"world: a {refused[0]} together with a {met} is not modelled; leave one of them out")


def name_of(kind: Kind | str) -> str:
    """Return the name of a kind of actor; a name is returned unchanged."""
    return kind if isinstance(kind, str) else kind.name


def _nothing(composition: Composition) -> None:
    ...


def _any_world(world: Any) -> None:
    ...


def _any_protocol(protocol: Any) -> None:
    ...


def _any_world_and_protocol(world: Any, protocol: Any) -> None:
    ...


def _no_rules(protocol: Any) -> tuple[type, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """The declarations of one part of the model, such as cleaning.

    `compose` adds transitions, components (state variables) and fields, and refines existing transitions. `after` names
    the mechanisms that are applied before this mechanism. If `after` contains "*", the mechanism is applied after every
    mechanism without "*". An extension is also applied after every mechanism of nbcc without "*"; with "*", after all
    mechanisms of nbcc. `idle_steps` maps a kind of actor to additional steps that count as idle (between two
    operations). `together` states which kinds of actors are modelled together; `check` raises ValueError for a world
    that is unsupported for another reason. `agree` raises ValueError for an unsupported combination of options. `fit`
    raises ValueError for a world that is unsupported under a protocol. `of_write` returns the mechanism's limits for
    one write, given the actor and the index of the write. Actors for which `of_write` returns different limits are not
    symmetric. `rules` returns the classes that change how a table is read under a protocol. `rules_need_use` is True if
    they read a table without actors and limits of this mechanism as the other rules do; such a table is read without
    them, which takes less time. `values` are added to options of other mechanisms. `service` is True if the actions
    belong to a table service and are therefore checked by promise QUIET.
    """

    compose: Callable[[Composition], None] = _nothing
    after: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    kinds: tuple[Kind, ...] = ()
    idle_steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: type[Options] | None = None
    limits: type[Limits] | None = None
    together: tuple[Together, ...] = ()
    check: Callable[[Any], None] = _any_world
    agree: Callable[[Any], None] = _any_protocol
    fit: Callable[[Any, Any], None] = _any_world_and_protocol
    of_write: Callable[[Any, str, int], object] | None = None
    rules: Callable[[Any], Iterable[type]] = _no_rules
    rules_need_use: bool = False
    values: tuple[AddedValue, ...] = ()
    service: bool = False
