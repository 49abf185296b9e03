"""A transition is one action of one actor, written as plain functions. The parameter names of each function declare
which state variables the function reads.

`own` is the component (state variable) of the acting actor.
`own_<name>` is the record that a mechanism added to the acting actor under that name (see `Composition.add_field`).
`me` is the name of the acting actor.
`every_writer` maps the name of each writer to the writer's state.
Parameters such as `lock` and `clock` receive the shared component or view of that name. A parameter's default value is
    used if the world has no component with the parameter's name.
`world` and `protocol` are constants of the model (see `assembly.names_of`).

Keyword-only parameters of an effect are the arguments of the step. A function can read only the components named by its
parameters, which form its footprint. The search evaluates a function once for each combination of the values of its
footprint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, NamedTuple, Protocol, TypeVar

Args = tuple[tuple[str, object], ...]
"""The arguments of one step as (name, value) pairs."""

Changes = Mapping[str, object]
"""Name of a component -> its new value; `own` is the component of the acting actor."""


class Step(NamedTuple):
    """One action performed by one actor. `args` lists the arguments as (name, value) pairs, so that a step is hashable.
    """

    actor: str
    action: str
    args: Args = ()


class Action(NamedTuple):
    """Describes one action, such as `writer_requests_instant`. `sentence` is a template with the field {actor} and a
    field for each argument of the step.

    `continues_call` is True if the client performs the action in the same call as the actor's previous step. At
    granularity `call`, no other actor acts between two steps of one call. `service` is True for a table-service action
    of a mechanism that is otherwise no table service. `data_phase` is True if the action puts or deletes data files,
    which may take arbitrarily long (promise WAIT).
    """

    name: str
    about: str
    sentence: str
    continues_call: bool = False
    service: bool = False
    data_phase: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition of a transition. A guard holds if all its functions return a true value, such as a non-empty tuple.

    `reason` states the condition in words, in which {me} stands for the name of the actor. `limit` is True for a limit
    of the world, such as the number of writes, and False for a condition of the protocol. `negated` is True if the
    opposite of the condition must hold. `place` is True if the condition describes how far the actor's operation has
    progressed, as `Transition.at` does. An alternative transition (`Selection.exit`) inherits only such conditions.
    """

    reason: str
    holds: Callable[..., object]
    limit: bool = False
    also: tuple[Callable[..., object], ...] = ()
    negated: bool = False
    place: bool = False

    def __and__(self, other: Guard) -> Guard:
        """Return the conjunction of two conditions. Raises ValueError if one of the conditions has `limit` or `negated`
        set.
        """
        both = f"{self.reason}; {other.reason}"
        if any((self.limit, other.limit, self.negated, other.negated)):
            raise ValueError(f"a limit, or a negated condition, cannot be part of another: {both}")
        return Guard(both, self.holds, also=(*self.also, other.holds, *other.also))

    def __invert__(self) -> Guard:
        """Return the negation of the condition."""
        return replace(self, reason=f"not: {self.reason}", negated=not self.negated)


def limit_left(reason: str, count: str, most: Callable[[Any], int]) -> Guard:
    """Return the limit of the world that holds while fewer events than `most(world)` have occurred. `count` names the
    component (state variable) that counts or lists the events.
    """
    return Guard(reason, preset(is_below, count=Component(count), most=most), limit=True)


def is_below(count: Any, world: Any, most: Callable[[Any], int]) -> bool:
    return (count if isinstance(count, int) else len(count)) < most(world)


class Component(str):
    """The name of a component (state variable). A parameter that is preset to a `Component` reads that component
    instead of the one with the parameter's name.
    """


class Preset:
    """A function with preset parameters. A preset is either a constant, or a `Component` that names the component
    (state variable) to read.
    """

    def __init__(self, function: Callable[..., Any], values: Mapping[str, object]) -> None:
        self.function, self.values = function, values
        self.__qualname__ = getattr(function, "__qualname__", str(function))

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self.function(*values, **{**self.values, **named})


def preset(function: Callable[..., Any], **values: object) -> Preset:
    """Bind some parameters of a function to constants or components, like `functools.partial`."""
    if isinstance(function, Preset):
        return Preset(function.function, {**function.values, **values})
    return Preset(function, values)


DEAD = "dead"
"""The step of a crashed actor."""
CRASHES = "crash"
"""The tag of a transition by which an actor crashes. An actor that could only crash counts as blocked."""


class ActorState(Protocol):
    """The part of an actor's component (state variable) that the package `machine` uses: the step of the operation, and
    the records added by mechanisms.
    """

    @property
    def step(self) -> str: ...

    @property
    def records(self) -> tuple[Any, ...]: ...

    @property
    def _replace(self) -> Callable[..., Any]: ...


Record = TypeVar("Record")


def record_of(own: ActorState, record: type[Record]) -> Record:
    """Return the record of the type `record` that a mechanism added to the actor, or a record with default values if
    there is none.
    """
    for each in own.records:
        if isinstance(each, record):
            return each
    return record()


@dataclass(frozen=True, slots=True)
class Branch:
    """An effect with two outcomes: the effects `then` if `when` returns a true value, else the effects `otherwise`."""

    when: Callable[..., object]
    then: tuple[Effect, ...]
    otherwise: tuple[Effect, ...]


Effect = Callable[..., Changes] | Branch


@dataclass(frozen=True, slots=True)
class Transition:
    """One action of one actor, with its guards and effects.

    `at` is the step that the actor's operation must have reached; '' allows any step. `to` is the actor's step
    afterwards; '' if the effects decide it. The transition is enabled if the actor is at the step `at` and every guard
    holds. Each function of `arguments` returns the possible values of some arguments; each combination of these values
    is a separate step.

    The effects happen in order; each effect reads the state left by the previous effect. An effect returns new values
    for components (state variables). Values of components in `changes` become part of the next state. Values of
    components in `scratch` are visible only to later effects of the same step. Mechanisms select a transition by its
    action or by one of its `tags`.
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
        """Return a copy of the transition with a new action and, if `to` is given, a new target step."""
        return replace(self, action=action, to=self.to if to is None else to)

    def require(self, *guards: Guard) -> Transition:
        """Return a copy of the transition with additional conditions."""
        return replace(self, guards=(*self.guards, *guards))

    def extend(self, effect: Effect, *changes: str) -> Transition:
        """Return a copy of the transition with an additional effect that happens after its existing effects."""
        return replace(self, effects=(*self.effects, effect), changes=_with(self.changes, changes))

    def precede(self, effect: Effect, *changes: str) -> Transition:
        """Return a copy of the transition with an additional effect that happens before its existing effects."""
        return replace(self, effects=(effect, *self.effects), changes=_with(self.changes, changes))

    def make_scratch(self, *names: str) -> Transition:
        """Make the components `names` scratch components: values assigned to them are discarded at the end of the step.
        """
        changes = tuple(name for name in self.changes if name not in names)
        return replace(self, changes=changes, scratch=_with(self.scratch, names))

    def divert(self, when: Callable[..., object], *effects: Effect, changes: tuple[str, ...] = ()) -> Transition:
        """Add an alternative outcome to the transition: if `when` holds, `effects` happen instead and decide the next
        step.
        """
        usual = (*self.effects, go_to(self.to)) if self.to else self.effects
        both = _with(self.changes, changes)
        return replace(self, to="", effects=(Branch(when, effects, usual),), changes=both)

    def add_argument(self, values: Callable[..., Iterable[Args]]) -> Transition:
        """Add an argument to the transition. Each value of the new argument combines with all values of the existing
        arguments.
        """
        return replace(self, arguments=(*self.arguments, values))


def _with(names: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return (*names, *(name for name in more if name not in names))


def become(state: object) -> Callable[[], Changes]:
    """Return an effect that sets the acting actor's component (state variable) to `state`."""

    def replaced() -> Changes:
        return {"own": state}

    return replaced


def go_to(step: str) -> Callable[[Any], Changes]:
    """Return an effect that sets the acting actor's next step to `step`."""

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
    """Make a transition with at most one effect. `changes` names the components (state variables) that the effect
    changes. If `to` is given, the actor's own component counts as changed too.
    """
    changes = _with(("own",) if to else (), tuple(changes))
    effects, values = (effect,) if effect else (), (arguments,) if arguments else ()
    return Transition(action, actor, at, to, tuple(guards), effects, changes, values, (), frozenset(tags))


def subsets(several: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Return every subset of `several`, smallest first."""
    return chain.from_iterable(combinations(several, n) for n in range(len(several) + 1))


def effects_in(effect: Effect) -> Iterator[Callable[..., object]]:
    """Yield every function that an effect calls; for a `Branch`, the condition and the functions of both outcomes."""
    if not isinstance(effect, Branch):
        yield effect
        return
    yield effect.when
    for each in (*effect.then, *effect.otherwise):
        yield from effects_in(each)


class Refused(ValueError):
    """Raised if a step is impossible in a state. `reasons` lists every condition that does not hold."""

    def __init__(self, step: Step, reasons: tuple[str, ...]) -> None:
        self.step = step
        self.reasons = reasons
        super().__init__(f"{step.actor} cannot do {step.action}: {'; '.join(reasons)}")

    def __reduce__(self) -> tuple[type[Refused], tuple[Step, tuple[str, ...]]]:
        # By default pickling passes only the message, and the copy in another process could not be constructed.
        return type(self), (self.step, self.reasons)
