"""Resolves each parameter of a guard or effect to a component (state variable), view or constant when a model is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from inspect import Parameter, isgeneratorfunction, signature
from itertools import chain, product
from typing import Any

from .bound import EVERY, OWN, Bound, BoundGuard, BoundTransition, UnknownName, ViewStep
from .calls import BoundCall
from .effects import Declared, Records, in_order
from .transition import ActorState, Args, Branch, Changes, Effect, Guard, Preset, Transition


class ParameterNames:
    """The names that guards and effects of one model may use as parameters: components (state variables), kinds of
    actors, views, and each actor's constants.

    A view is a named function of components, constants and other views. Guards and effects refer to a view by name,
    just as they refer to a component. A view may be defined by several functions, applied in turn. A function receives
    the result of the preceding function as the parameter that has the name of the view. `fields` maps each kind of
    actor to the records that mechanisms add to its actors: record name -> initial value.
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
        """Resolve every parameter name of a transition's guards, arguments and effects."""
        me = transition.actor
        starts = [Guard(f"{{me}} must be {transition.at}", _is_at(transition.at))] if transition.at else []
        guards = [self._guard(guard, me) for guard in (*starts, *transition.guards)]
        arguments = self._arguments([self.function(each, me) for each in transition.arguments])
        writes = tuple(self._component(name, me) for name in transition.changes)
        scratch = frozenset(self._component(name, me) for name in transition.scratch)
        effects = [self._bound_effect(each, me) for each in transition.effects]
        records = Records(me, self._fields.get(me, {}))
        effect = in_order(effects, records, transition.to, Declared(frozenset(writes), scratch))
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
            transition.tags,
        )

    def function(self, function: Callable[..., Any], me: str, views: Mapping[str, int] | None = None) -> Bound:
        """Bind the parameters of a function to components, views and constants for one actor. A view may be defined by
        several functions: `views` maps the name of a view to the number of functions to apply (default: all).
        """
        plain = function.function if isinstance(function, Preset) else function
        values = function.values if isinstance(function, Preset) else {}
        call = BoundCall({"me": me, **self._constants(me), **values})
        for parameter, default in _parameters(plain):
            if default is KEYWORD:
                call.keywords.append(parameter)
            elif not call.constant(parameter) and not self._resolve(call, parameter, me, views or {}):
                if default is REQUIRED:
                    raise UnknownName(self._unknown(parameter, call.constants, plain))
                call.pass_value(default)
        return call.bound(plain)

    def _resolve(self, call: BoundCall, parameter: str, me: str, views: Mapping[str, int]) -> bool:
        # Other constants are passed before: here a constant can only be a `Component`.
        name = str(call.constants.get(parameter, parameter))
        if name.startswith(EVERY) and name.removeprefix(EVERY) in self._actors:
            actors = tuple(self._actors[name.removeprefix(EVERY)])
            call.pass_value(_by_name(actors), *actors, calls=True)
        elif name in self._views and views.get(name, 1):
            call.pass_view(self.view(name, me, views.get(name)))
        elif name == "own" or name in self._components:
            call.pass_component(me if name == "own" else name)
        elif name.startswith(OWN) and name.removeprefix(OWN) in self._fields.get(me, {}):
            call.pass_component(me, f".records[{list(self._fields[me]).index(name.removeprefix(OWN))}]")
        else:
            return False
        return True

    def view(self, name: str, me: str = "", functions: int | None = None) -> Bound:
        """Return a function that computes the value of a view for the actor `me`. An empty `me` stands for code outside
        any actor, such as a promise. If `functions` is given, only that many of the view's functions are applied,
        counted from the first.
        """
        number = len(self._views[name]) if functions is None else functions
        while (step := self._views[name][number - 1]).actors is not None and me not in step.actors:
            number -= 1
        function = step.function
        bound = self.function(function, me, {name: number - 1})
        if not isgeneratorfunction(function.function if isinstance(function, Preset) else function):
            return bound
        return bound._replace(call=lambda *values, **args: tuple(bound.call(*values, **args)))

    def _bound_effect(self, effect: Effect, me: str) -> Bound:
        if not isinstance(effect, Branch):
            return self.function(effect, me)
        when = self.function(effect.when, me)
        records = Records(me, self._fields.get(me, {}))
        then = in_order([self._bound_effect(each, me) for each in effect.then], records)
        otherwise = in_order([self._bound_effect(each, me) for each in effect.otherwise], records)
        reads = tuple(dict.fromkeys((*when.reads, *then.reads, *otherwise.reads)))
        places = [[reads.index(name) for name in each.reads] for each in (when, then, otherwise)]

        def call(*values: Any, **args: Any) -> Changes:
            at, yes, no = places
            named = {name: args[name] for name in when.keywords if name in args} if when.keywords else {}
            chosen, where = (then, yes) if when.call(*(values[i] for i in at), **named) else (otherwise, no)
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
        known = sorted({*self._components, *self._views, *constants, "own", *(EVERY + kind for kind in self._actors)})
        near = get_close_matches(name, known, 1)
        where = f" of {getattr(function, '__qualname__', function)}" if function else ""
        return f"{name!r}{where} is not a component or constant" + (f"; did you mean {near[0]!r}?" if near else "")

    @staticmethod
    def _arguments(functions: Sequence[Bound]) -> Bound:
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


def _is_at(step: str) -> Callable[[ActorState], bool]:
    def is_at(own: ActorState) -> bool:
        return own.step == step

    return is_at


def _all(functions: Sequence[Bound], expected: bool) -> Bound:
    reads = tuple(dict.fromkeys(chain(*(each.reads for each in functions))))
    places = [[reads.index(name) for name in each.reads] for each in functions]

    def call(*values: Any) -> bool:
        parts = zip(functions, places, strict=True)
        return all(each.call(*(values[i] for i in at)) for each, at in parts) == expected

    return Bound(call, reads)


def _by_name(actors: tuple[str, ...]) -> Callable[..., dict[str, Any]]:
    return lambda *values: dict(zip(actors, values, strict=True))


REQUIRED: Any = object()
"""The default of a parameter that has none."""
KEYWORD: Any = object()
"""Marks a keyword-only parameter."""


# Every model binds the same functions, and `signature` takes a third of the time to build a small model. The cache is
# bounded because some functions, such as partial ones, belong to one model.
@lru_cache(2_048)
def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(_named(function))


def _named(function: Callable[..., Any]) -> Iterable[tuple[str, Any]]:
    for parameter in signature(function).parameters.values():
        if parameter.kind is Parameter.KEYWORD_ONLY:
            yield parameter.name, KEYWORD
        elif parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            yield parameter.name, REQUIRED if parameter.default is Parameter.empty else parameter.default
        else:
            raise UnknownName(f"{getattr(function, '__qualname__', function)} must name what it reads, without * or **")
