"""Names resolved once, when a model is built: each parameter of a guard or effect becomes a component or a constant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, isgeneratorfunction, signature
from itertools import chain, product
from typing import Any, NamedTuple

from .transition import ActorState, Args, Changes, Choice, Component, Effect, Given, Guard, Transition

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
    own: tuple[BoundGuard, ...]
    guards: tuple[BoundGuard, ...]
    arguments: Bound
    effect: Bound
    component: str
    """The component of the actor: its name, unless the transition says otherwise."""


class ViewStep(NamedTuple):
    """One function of a view, and the actors for which it counts; None: for all, and where no actor is given."""

    function: Callable[..., Any]
    actors: frozenset[str] | None = None


class Names:
    """The names of one model: its components, its actors by kind, its views, and constants by actor.

    A view is a value that guards and effects name like a component. It is a function of components, constants and other
    views, and it may take arguments of the step. Later functions of a view replace its value: they may name it as well.
    `fields`: by kind the records that mechanisms add to its actors, each by its name with its first value.
    """

    def __init__(
        self,
        components: Iterable[str],
        actors: Mapping[str, Sequence[str]],
        constants: Callable[[str], Mapping[str, object]] = lambda actor: {},
        views: Mapping[str, Sequence[ViewStep]] | None = None,
        fields: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._components = frozenset(components)
        self._actors = actors
        self._constants = constants
        self._views = views or {}
        by_kind = fields or {}
        self._fields = {actor: by_kind.get(kind, {}) for kind, names in actors.items() for actor in names}

    def bind(self, transition: Transition) -> BoundTransition:
        """The transition with every name resolved."""
        me = transition.actor
        starts = [Guard(f"{{me}} must be {transition.at}", _is_at(transition.at))] if transition.at else []
        guards = [self._guard(guard, me) for guard in (*starts, *transition.guards)]
        arguments = self._arguments([self.function(each, me) for each in transition.arguments])
        writes = tuple(self._component(name, me) for name in transition.changes)
        computed = frozenset(self._component(name, me) for name in transition.computed)
        effects = [self._bound_effect(each, me) for each in transition.effects]
        records = Records(me, self._fields.get(me, {}))
        effect = _in_order(effects, records, transition.to, Declared(frozenset(writes), computed))
        reads = chain((me,), *(guard.reads for guard in guards), arguments.reads, effect.reads)
        return BoundTransition(
            transition.action,
            me,
            tuple(dict.fromkeys(reads)),
            writes,
            tuple(guard for guard in guards if set(guard.reads) <= {me}),
            tuple(guard for guard in guards if not set(guard.reads) <= {me}),
            arguments,
            effect,
            me,
        )

    def function(self, function: Callable[..., Any], me: str, views: Mapping[str, int] | None = None) -> Bound:
        """A function of one actor with its parameters resolved. `views`: of a view the number of functions to use."""
        plain = function.function if isinstance(function, Given) else function
        given = function.given if isinstance(function, Given) else {}
        call = _Call({"me": me, **self._constants(me), **given})
        for parameter, default in _parameters(plain):
            if default is KEYWORD:
                call.keywords.append(parameter)
            elif not call.constant(parameter) and not self._resolve(call, parameter, me, views or {}):
                if default is REQUIRED:
                    raise UnknownName(self._unknown(parameter, call.constants, plain))
                call.pass_value(default)
        return call.bound(plain)

    def _resolve(self, call: _Call, parameter: str, me: str, views: Mapping[str, int]) -> bool:
        """Pass a component, the components of a kind, a view or a record to a parameter; False if it names none."""
        name = str(call.constants.get(parameter, parameter))  # a constant that is left is the name of a component
        if name.startswith(EVERY) and name.removeprefix(EVERY) in self._actors:
            actors = tuple(self._actors[name.removeprefix(EVERY)])
            call.pass_value(_by_name(actors), *actors, calls=True)
        elif name in self._views and views.get(name, 1):
            call.pass_view(self.view(name, me, views.get(name)))
        elif name == "own" or name in self._components:
            call.pass_component(me if name == "own" else name)
        elif name.startswith(OWN) and name.removeprefix(OWN) in self._fields.get(me, {}):
            call.pass_component(me, f".extra[{list(self._fields[me]).index(name.removeprefix(OWN))}]")
        else:
            return False
        return True

    def view(self, name: str, me: str = "", functions: int | None = None) -> Bound:
        """A view as a function of components, for one actor or for none; by its first functions, or by all of them."""
        number = len(self._views[name]) if functions is None else functions
        while (step := self._views[name][number - 1]).actors is not None and me not in step.actors:
            number -= 1
        function = step.function
        bound = self.function(function, me, {name: number - 1})
        if not isgeneratorfunction(function.function if isinstance(function, Given) else function):
            return bound
        return bound._replace(call=lambda *values, **args: tuple(bound.call(*values, **args)))

    def _bound_effect(self, effect: Effect, me: str) -> Bound:
        if not isinstance(effect, Choice):
            return self.function(effect, me)
        when = self.function(effect.when, me)
        records = Records(me, self._fields.get(me, {}))
        then = _in_order([self._bound_effect(each, me) for each in effect.then], records)
        otherwise = _in_order([self._bound_effect(each, me) for each in effect.otherwise], records)
        reads = tuple(dict.fromkeys((*when.reads, *then.reads, *otherwise.reads)))
        places = [[reads.index(name) for name in each.reads] for each in (when, then, otherwise)]

        def call(*values: Any, **args: Any) -> Changes:
            at, yes, no = places
            asked = {name: args[name] for name in when.keywords if name in args} if when.keywords else {}
            chosen, where = (then, yes) if when.call(*(values[i] for i in at), **asked) else (otherwise, no)
            changes: Changes = chosen.call(*(values[i] for i in where), **args)
            return changes

        return Bound(call, reads, tuple(dict.fromkeys((*when.keywords, *then.keywords, *otherwise.keywords))))

    def _guard(self, guard: Guard, me: str) -> BoundGuard:
        bound = self.function(guard.holds, me)
        if guard.also or guard.negated:
            bound = _all([bound, *(self.function(each, me) for each in guard.also)], not guard.negated)
        holds, reads = (bound.call, bound.reads) if bound.reads else (lambda own: bound.call(), (me,))
        return BoundGuard(guard.reason.format(me=me), holds, reads, guard.limit)

    def _component(self, name: str, me: str) -> str:
        if name == "own" or (name.startswith(OWN) and name.removeprefix(OWN) in self._fields.get(me, {})):
            return me
        if name not in self._components:
            raise UnknownName(self._unknown(name, {}, None))
        return name

    def _unknown(self, name: str, constants: Mapping[str, object], function: object) -> str:
        there = sorted({*self._components, *self._views, *constants, "own", *(EVERY + kind for kind in self._actors)})
        near = get_close_matches(name, there, 1)
        where = f" of {getattr(function, '__qualname__', function)}" if function else ""
        return f"{name!r}{where} is not a component or constant" + (f"; did you mean {near[0]!r}?" if near else "")

    @staticmethod
    def _arguments(functions: Sequence[Bound]) -> Bound:
        """The arguments that several functions list, in every combination."""
        if not functions:
            return Bound(lambda: ((),), ())
        if len(functions) == 1:
            return functions[0]
        reads = tuple(dict.fromkeys(chain(*(each.reads for each in functions))))
        places = [[reads.index(name) for name in each.reads] for each in functions]

        def call(*values: Any) -> Iterable[Args]:
            listed = (each.call(*(values[i] for i in at)) for each, at in zip(functions, places, strict=True))
            return [tuple(chain(*some)) for some in product(*listed)]

        return Bound(call, reads)


class _Call:
    """A call under construction: the expression of each parameter, over the values read and over fixed values."""

    def __init__(self, constants: Mapping[str, object]) -> None:
        self.constants = constants
        self.reads: dict[str, int] = {}
        self.passed: list[str] = []
        self.fixed: list[object] = []
        self.keywords: list[str] = []
        self.of_views: list[str] = []

    def constant(self, parameter: str) -> bool:
        """Pass a constant, if the parameter names one that is no component."""
        found = parameter in self.constants and not isinstance(self.constants[parameter], Component)
        if found:
            self.pass_value(self.constants[parameter])
        return found

    def pass_component(self, name: str, part: str = "") -> None:
        """Pass the value of a component, or a part of it."""
        self.passed.append(f"v{self.reads.setdefault(name, len(self.reads))}{part}")

    def pass_value(self, value: object, *names: str, calls: bool = False) -> None:
        """Pass a fixed value; `calls`: the value of a fixed function of some components."""
        values = [f"v{self.reads.setdefault(each, len(self.reads))}" for each in names]
        self.passed.append(f"{self._fix(value)}({', '.join(values)})" if calls else self._fix(value))

    def pass_view(self, view: Bound) -> None:
        """Pass the value of a view, which may take arguments of the step."""
        values = [f"v{self.reads.setdefault(each, len(self.reads))}" for each in view.reads]
        if not values and not view.keywords:
            self.pass_value(view.call())
            return
        self.of_views += view.keywords
        values += [f"**{self._fix(_pick(view.keywords))}(a)"] if view.keywords else []
        self.passed.append(f"{self._fix(view.call)}({', '.join(values)})")

    def _fix(self, value: object) -> str:
        self.fixed.append(value)
        return f"c{len(self.fixed) - 1}"

    def bound(self, function: Callable[..., Any]) -> Bound:
        """The function of the values read; the plain one, if it takes just these."""
        everything = tuple(dict.fromkeys((*self.keywords, *self.of_views)))
        if self.keywords:
            self.passed.append(f"**{self._fix(_pick(tuple(self.keywords)))}(a)" if self.of_views else "**a")
        if self.fixed or everything or self.passed != [f"v{number}" for number in range(len(self.reads))]:
            made = _caller(tuple(self.passed), len(self.fixed), len(self.reads), bool(everything))
            function = made(function, *self.fixed)
        return Bound(function, tuple(self.reads), everything)


@cache
def _caller(passed: tuple[str, ...], fixed: int, reads: int, keywords: bool) -> Callable[..., Callable[..., Any]]:
    """Of a function and `fixed` values: a function of `reads` values that calls it. A memo miss costs one such call."""
    parameters = ", ".join(["f", *(f"c{number}" for number in range(fixed))])
    values = ", ".join([*(f"v{number}" for number in range(reads)), *(["**a"] if keywords else [])])
    arguments = ", ".join(passed)
    made: Callable[..., Callable[..., Any]] = eval(f"lambda {parameters}: lambda {values}: f({arguments})")
    return made


class Declared(NamedTuple):
    """What the effects of a transition may change: components that it changes, and those that it only computes."""

    writes: frozenset[str]
    computed: frozenset[str]

    def check(self, changes: dict[str, object]) -> dict[str, object]:
        """The changes that are written; `UnknownName` for one that is not declared."""
        if changes.keys() <= self.writes:
            return changes
        if undeclared := changes.keys() - self.writes - self.computed:
            raise UnknownName(f"{', '.join(undeclared)} is changed, and not declared among `changes`")
        return {name: value for name, value in changes.items() if name not in self.computed}


class Records(NamedTuple):
    """The actor whose effects are bound, and the records that mechanisms add to it with their first values."""

    me: str
    first: Mapping[str, Any]

    def changed(self, own: Any, name: str, value: Any) -> Any:
        """The actor's component after a change of `own` or of one of its records.

        A new kernel record, which has no records of mechanisms, ends the operation: they have their first values again.
        """
        if name == "own":
            return value if value.extra or not self.first else value._replace(extra=tuple(self.first.values()))
        place = list(self.first).index(name.removeprefix(OWN))
        return own._replace(extra=(*own.extra[:place], value, *own.extra[place + 1 :]))


def _in_order(effects: Sequence[Bound], records: Records, to: str = "", declared: Declared | None = None) -> Bound:
    """Several effects as one: each sees the state that the one before it leaves. Then the actor goes on to a step."""
    me = records.me
    mine = (me,) if to or records.first else ()
    reads = tuple(dict.fromkeys((*chain(*(each.reads for each in effects)), *mine)))
    place = {name: number for number, name in enumerate(reads)}
    parts = [(each.call, tuple(place[name] for name in each.reads), each.keywords) for each in effects]

    def one(*values: Any, **args: Any) -> dict[str, object]:
        named = {name: args[name] for name in keywords if name in args} if args else {}
        after = dict(only(*values[:given], **named))
        if "own" in after:
            after[me] = after.pop("own")
        if to:
            after[me] = after.get(me, values[place[me]])._replace(step=to)
        return declared.check(after) if declared else after

    def several(*values: Any, **args: Any) -> dict[str, object]:
        state, after = list(values), dict[str, object]()
        for function, places, keywords in parts:
            named = {name: args[name] for name in keywords if name in args} if keywords else {}
            for name, new in function(*[state[i] for i in places], **named).items():
                mine = name == "own" or name.startswith(OWN)
                component = me if mine else name
                value = records.changed(state[place[me]], name, new) if mine and records.first else new
                after[component] = value
                if component in place:
                    state[place[component]] = value
        if to:
            after[me] = state[place[me]]._replace(step=to)
        return declared.check(after) if declared else after

    keywords = tuple(dict.fromkeys(chain(*(each.keywords for each in effects))))
    if len(effects) != 1 or records.first:
        return Bound(several, reads, keywords)
    only, given = effects[0].call, len(effects[0].reads)
    return Bound(one, reads, keywords)


def _is_at(step: str) -> Callable[[ActorState], bool]:
    def is_at(own: ActorState) -> bool:
        return own.step == step

    return is_at


def _all(functions: Sequence[Bound], expected: bool) -> Bound:
    """Whether all functions return a true value, if that is `expected`; else whether one returns a false value."""
    reads = tuple(dict.fromkeys(chain(*(each.reads for each in functions))))
    places = [[reads.index(name) for name in each.reads] for each in functions]

    def call(*values: Any) -> bool:
        parts = zip(functions, places, strict=True)
        return all(each.call(*(values[i] for i in at)) for each, at in parts) == expected

    return Bound(call, reads)


def _pick(names: Sequence[str]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda args: {name: args[name] for name in names if name in args}


def _by_name(actors: tuple[str, ...]) -> Callable[..., dict[str, Any]]:
    return lambda *values: dict(zip(actors, values, strict=True))


REQUIRED: Any = object()
"""The default of a parameter that has none."""
KEYWORD: Any = object()
"""Marks a keyword-only parameter."""


def _parameters(function: Callable[..., Any]) -> Iterable[tuple[str, Any]]:
    """The parameters of a function, each with its default value, `REQUIRED` or `KEYWORD`."""
    for parameter in signature(function).parameters.values():
        if parameter.kind is Parameter.KEYWORD_ONLY:
            yield parameter.name, KEYWORD
        elif parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            yield parameter.name, REQUIRED if parameter.default is Parameter.empty else parameter.default
        else:
            raise UnknownName(f"{getattr(function, '__qualname__', function)} must name what it reads, without * or **")
