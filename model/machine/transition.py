"""A transition: one action of one actor, written as plain functions. Their parameter names say what they read.

    own                the component of the actor that acts
    own_heartbeat      the record that a mechanism adds to that component (see `composition.add_field`)
    me                 the name of that actor
    every_writer       the components of all actors of the kind `writer`: a mapping from name to component
    lock, clock, ...   shared components; with a default value where a world may lack the component
    world, protocol    constants that the model gives by name (see `binding.Names`)

Keyword-only parameters of an effect are the arguments of the step. No function can read a component that it does not
name, so that its parameters are its footprint: the search evaluates it once per distinct values of just these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, NamedTuple, Protocol, TypeVar

Args = tuple[tuple[str, object], ...]
"""The arguments of one step as (name, value) pairs."""

Changes = Mapping[str, object]
"""New values by the names of components; `own` is the acting actor's."""


class Step(NamedTuple):
    """One action of one actor; `args` are (name, value) pairs, so that a step is a value that can be looked up."""

    actor: str
    action: str
    args: Args = ()


class Action(NamedTuple):
    """What is known of an action without a world: `sentence` is one with {actor} and the names of its arguments.

    `joins`: at the granularity `call` it follows the previous step of its actor directly, because one call does both.
    `service`: it is a table service's, also if its mechanism is none.
    """

    name: str
    about: str
    sentence: str
    continues_call: bool = False
    service: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition of a transition: it holds if each of its functions returns a true value, such as a non-empty tuple.

    `reason` says in words what must hold; it may contain {me}. `limit`: a limit of the world (how many writes, how many
    crashes), not a condition of the protocol. `negated`: it holds if one of the functions returns a false value.
    `place`: like `at`, it says where in its operation the actor is; every exit from there requires it, too.
    """

    reason: str
    holds: Callable[..., object]
    limit: bool = False
    also: tuple[Callable[..., object], ...] = ()
    negated: bool = False
    place: bool = False

    def __and__(self, other: Guard) -> Guard:
        """Both conditions as one; neither may be a limit, or negated."""
        if any((self.limit, other.limit, self.negated, other.negated)):
            both = f"{self.reason}; {other.reason}"
            raise ValueError(f"a limit, or a negated condition, cannot be part of another: {both}")
        return Guard(f"{self.reason}; {other.reason}", self.holds, also=(*self.also, other.holds, *other.also))

    def __invert__(self) -> Guard:
        """The opposite condition."""
        return replace(self, reason=f"not: {self.reason}", negated=not self.negated)


class Component(str):
    """The name of a component, given for a parameter of another name."""


class Preset:
    """A function with some parameters given: as values, which are no part of its footprint, or as a `Component`."""

    def __init__(self, function: Callable[..., Any], given: Mapping[str, object]) -> None:
        self.function, self.values = function, given
        self.__qualname__ = getattr(function, "__qualname__", str(function))

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self.function(*values, **{**self.values, **named})


def preset(function: Callable[..., Any], **values: object) -> Preset:
    """The function with these parameters given, so that a model does not resolve their names."""
    if isinstance(function, Preset):
        return Preset(function.function, {**function.values, **values})
    return Preset(function, values)


DEAD = "dead"
"""The step of an actor that has crashed."""


class ActorState(Protocol):
    """What the machine asks of the component of an actor: the step of its operation, and the records of mechanisms."""

    @property
    def step(self) -> str: ...

    @property
    def records(self) -> tuple[Any, ...]: ...

    @property
    def _replace(self) -> Callable[..., Any]: ...


Record = TypeVar("Record")


def record_of(own: ActorState, record: type[Record]) -> Record:
    """The record of a type that a mechanism adds to an actor; its first value if the actor has none."""
    for each in own.records:
        if isinstance(each, record):
            return each
    return record()


@dataclass(frozen=True, slots=True)
class Branch:
    """An effect with two outcomes: the effects of `then` happen if `when` returns a true value, else `otherwise`."""

    when: Callable[..., object]
    then: tuple[Effect, ...]
    otherwise: tuple[Effect, ...]


Effect = Callable[..., Changes] | Branch


@dataclass(frozen=True, slots=True)
class Transition:
    """One action of one actor in one world under one protocol.

    `at`: the step of its operation at which the actor must be, alive; '' for any. `to`: the step that follows; '' where
    the effects decide. A step is possible if also every guard holds. `arguments` lists its possible arguments: each
    function of it returns some, and a step takes one of each. The effects happen in order, each on the state that the
    one before it leaves; each returns new values of some of the components that `changes` names, or of `computed`,
    which stay as they are. Mechanisms select a transition by its action or by one of its `tags`.
    """

    action: str
    actor: str
    at: str
    to: str
    guards: tuple[Guard, ...]
    effects: tuple[Effect, ...]
    changes: tuple[str, ...]
    arguments: tuple[Callable[..., Iterable[Args]], ...] = ()
    scratch: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()

    def renamed(self, action: str, *, to: str | None = None) -> Transition:
        """The transition under another name, perhaps with another step that follows."""
        return replace(self, action=action, to=self.to if to is None else to)

    def require(self, *guards: Guard) -> Transition:
        """The transition under further conditions."""
        return replace(self, guards=(*self.guards, *guards))

    def extend(self, effect: Effect, *changes: str) -> Transition:
        """The transition with a further effect, which happens last."""
        return replace(self, effects=(*self.effects, effect), changes=_with(self.changes, changes))

    def precede(self, effect: Effect, *changes: str) -> Transition:
        """The transition with a further effect, which happens first."""
        return replace(self, effects=(effect, *self.effects), changes=_with(self.changes, changes))

    def make_scratch(self, *names: str) -> Transition:
        """The transition that computes these components, for its later effects to read, and does not change them."""
        changes = tuple(name for name in self.changes if name not in names)
        return replace(self, changes=changes, scratch=_with(self.scratch, names))

    def divert(self, when: Callable[..., object], *effects: Effect, changes: tuple[str, ...] = ()) -> Transition:
        """The transition with another outcome: where `when` holds, these effects happen instead and decide the step."""
        usual = (*self.effects, go_to(self.to)) if self.to else self.effects
        both = _with(self.changes, changes)
        return replace(self, to="", effects=(Branch(when, effects, usual),), changes=both)

    def add_argument(self, values: Callable[..., Iterable[Args]]) -> Transition:
        """The transition with further arguments, in every combination with those that it has."""
        return replace(self, arguments=(*self.arguments, values))


def _with(names: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return (*names, *(name for name in more if name not in names))


def go_to(step: str) -> Callable[[Any], Changes]:
    """The effect by which an actor goes on to a step of its operation."""

    def go(own: Any) -> Changes:
        return {"own": own._replace(step=step)}

    return go


def transition(
    action: str,
    actor: str,
    *,
    at: str = "",
    to: str = "",
    guards: Iterable[Guard] = (),
    effect: Effect | None = None,
    changes: Iterable[str] = ("own",),
    arguments: Callable[..., Iterable[Args]] | None = None,
    tags: Iterable[str] = (),
) -> Transition:
    """A transition with at most one effect. It changes `changes`, and the acting actor's component if it has `to`."""
    effects, listed = (effect,) if effect else (), (arguments,) if arguments else ()
    written = _with(("own",) if to else (), tuple(changes))
    return Transition(action, actor, at, to, tuple(guards), effects, written, listed, (),
                      frozenset(tags))  # fmt: skip


def subsets(several: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Every subset, the smallest first: what an argument may be that is any part of something."""
    return chain.from_iterable(combinations(several, n) for n in range(len(several) + 1))


def effects_in(effect: Effect) -> Iterator[Callable[..., object]]:
    """The functions of which an effect consists."""
    if not isinstance(effect, Branch):
        yield effect
        return
    yield effect.when
    for each in (*effect.then, *effect.otherwise):
        yield from effects_in(each)


class Refused(ValueError):
    """A step that is impossible in this state; `reasons` lists every condition that was false."""

    def __init__(self, step: Step, reasons: tuple[str, ...]) -> None:
        self.step = step
        self.reasons = reasons
        super().__init__(f"{step.actor} cannot do {step.action}: {'; '.join(reasons)}")

    def __reduce__(self) -> tuple[type[Refused], tuple[Step, tuple[str, ...]]]:
        return type(self), (self.step, self.reasons)  # the default would lose the arguments between processes
