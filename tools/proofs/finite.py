"""Explores a transition relation on a finite instance: initial state, steps and reachable states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product, starmap
from typing import Any

from nbcc.simulator.search.prove.logic import Relation, Sort, Term
from nbcc.simulator.search.prove.system import Move, Parameter, ProvedSystem, SetParameter, TimesParameter

Table = dict[tuple[Any, ...], Any]
"""(relation, *arguments) -> value."""
FIRST = {"truth": False, "time": 0}


@dataclass(frozen=True)
class Instance:
    """A finite instance: the elements of each sort, and the values of the fixed relations."""

    elements: Mapping[Sort, Sequence[Any]]
    fixed: Table = field(default_factory=dict)
    limit: Callable[[Any], bool] = lambda _: True
    """Whether a state is within the limits of the world, such as one crash."""

    def keys(self, relation: Relation) -> Iterator[tuple[Any, ...]]:
        for arguments in product(*(self.elements[sort] for sort in relation.arguments)):
            yield (relation.name, *arguments)


@dataclass(frozen=True)
class Taken:
    """A step: an action with values for its parameters. If a parameter is a set, its value is a frozenset of tuples of
    elements.
    """

    action: Move
    parameters: tuple[Any, ...]


class Finite:
    """A state with a few named elements, on which formulas are evaluated in Python. `table` maps (relation, *arguments)
    to a value.
    """

    def __init__(self, domain: Mapping[Sort, Sequence[Any]], table: Mapping[tuple[Any, ...], Any]) -> None:
        self._domain = domain
        self._table = table

    def __getattr__(self, relation: str) -> Callable[..., Term]:
        value_of = self._table.get

        # An element that is not set yet (None) has no facts: False, which is also the time 0.
        def value(*arguments: Term) -> Term:
            return value_of((relation, *arguments), False)

        self.__dict__[relation] = value  # the next use of the relation does not come here
        return value

    def elements(self, sort: Sort) -> Sequence[Any]:
        return self._domain[sort]

    def every(self, *sorts_and_body: Any) -> Term:
        *sorts, body = sorts_and_body
        return all(starmap(body, product(*map(self._domain.__getitem__, sorts))))

    def some(self, *sorts_and_body: Any) -> Term:
        *sorts, body = sorts_and_body
        return any(starmap(body, product(*map(self._domain.__getitem__, sorts))))


class Explorer:
    """Computes the steps of a transition relation on a finite instance. A state is a tuple with the values of all
    relations that can change.
    """

    def __init__(self, system: ProvedSystem, instance: Instance) -> None:
        self.system = system
        self.instance = instance
        self.keys = [k for relation in system.relations if not relation.fixed for k in instance.keys(relation)]
        self._place = {key: place for place, key in enumerate(self.keys)}
        self._fixed = {
            key: instance.fixed.get(key, FIRST.get(str(relation.values)))
            for relation in system.relations
            if relation.fixed
            for key in instance.keys(relation)
        }
        self._names = {relation.name: relation for relation in system.relations}
        self.blank = tuple(FIRST.get(str(self._names[key[0]].values)) for key in self.keys)
        """Every relation is empty, and every time is 0."""

    def initial(self) -> tuple[Any, ...]:
        """Return the state in which every relation is false or 0. Raises ValueError if the transition relation does not
        allow this initial state.
        """
        if not self.system.initially(self.view(self.blank)):
            raise ValueError("the state without facts is not an initial state")
        return self.blank

    def view(self, state: tuple[Any, ...]) -> Finite:
        """Return the state as an object on which formulas can be evaluated."""
        return Finite(self.instance.elements, self.table(state))

    def table(self, state: tuple[Any, ...]) -> Table:
        """Return the values of all relations in a state."""
        return {**self._fixed, **dict(zip(self.keys, state, strict=True))}

    def successors(
        self, state: tuple[Any, ...], actions: tuple[Move, ...] | None = None
    ) -> Iterator[tuple[Taken, tuple[Any, ...]]]:
        """Yield each step that is possible in a state, with the resulting state. If `actions` is given, only steps of
        these actions are yielded.
        """
        now = self.view(state)
        for action in self.system.actions if actions is None else actions:
            for parameters in self._parameters(now, action.parameters):
                arguments = [_applicable(each) for each in parameters]
                if action.guard(now, *arguments):
                    after = self.after(state, now, action, arguments)
                    if self.instance.limit(self.view(after)):
                        yield Taken(action, parameters), after

    def after(self, state: tuple[Any, ...], now: Finite, action: Move, arguments: Sequence[Any]) -> tuple[Any, ...]:
        values = list(state)
        for name, update in action.updates(now, *arguments).items():
            for key in self.instance.keys(self._names[name]):
                values[self._place[key]] = update(*key[1:])
        return tuple(values)

    def reachable(self, most: int = 1_000_000) -> tuple[set[tuple[Any, ...]], set[str]]:
        """Return the reachable states, and the names of the actions that are possible in some reachable state."""
        first = self.initial()
        seen, todo, possible = {first}, [first], set()
        while todo:
            for taken, after in self.successors(todo.pop()):
                possible.add(taken.action.name)
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
                    if len(seen) > most:
                        raise ValueError(f"more than {most} states")
        return seen, possible

    def _parameters(self, now: Finite, kinds: Sequence[Parameter]) -> Iterator[tuple[Any, ...]]:
        if not any(isinstance(kind, TimesParameter) for kind in kinds):
            yield from product(*(self._values(now, kind) for kind in kinds))
            return
        *earlier, last = kinds
        assert isinstance(last, TimesParameter), "new times depend on the other parameters"
        for parameters in self._parameters(now, earlier):
            yield (*parameters, last.least(now, *map(_applicable, parameters)))

    def _values(self, now: Finite, kind: Parameter) -> Sequence[Any]:
        if isinstance(kind, Sort):
            return self.instance.elements[kind]
        if isinstance(kind, SetParameter):
            every = list(product(*(self.instance.elements[sort] for sort in kind.arguments)))
            return [
                frozenset(some) for some in chain.from_iterable(combinations(every, n) for n in range(len(every) + 1))
            ]
        return range(max(now.clock(), now.reserved()) + 1)  # entries give times that may be ahead of the clock


def _applicable(parameter: Any) -> Any:
    return (lambda *elements: elements in parameter) if isinstance(parameter, frozenset) else parameter
