"""A system: components (state variables) with their first values, actors, and transitions. The model of a table is one,
and docs/write-your-own-model.md shows how to write another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

from .binding import ParameterNames
from .bound import BoundTransition
from .mechanism import Kind, name_of
from .state import Coding, State
from .stepper import Stepper
from .transition import Refused, Step, Transition

Value = TypeVar("Value")


class TransitionSystem:
    """A system that is defined by transitions. A `TransitionSystem` has no mutable state except its caches.

    `first` maps each component (state variable) to its initial value. `actors` maps each kind of actor to the names of
    its actors. The component of an actor has the actor's name, and the values of components identify actors by their
    names. Symmetry reduction may treat actors of one kind as interchangeable. `names` resolves the parameters of guards
    and effects; by default they name components and actors. `continuations` are the actions during which no other actor
    acts (see `Stepper`).
    """

    uniform = False
    """True declares that all actors of a kind have the same transitions but for their names.

    A sample of states then suffices to exchange them. Otherwise the search checks the exchange on all that it
    evaluated.
    """
    ends_visibly = False
    """True declares that the last step of every run reads or changes a component of another actor, or a shared one."""
    where = "in this system"
    promises: tuple[Any, ...] = ()
    """The promises that `nbcc explore module:factory` judges."""

    def __init__(
        self,
        first: Mapping[str, Any],
        transitions: Iterable[Transition],
        actors: Mapping[str, tuple[str, ...]],
        *,
        names: ParameterNames | None = None,
        continuations: frozenset[str] = frozenset(),
    ) -> None:
        self.actors = actors
        self.components = tuple(first)
        self.coding = Coding(first, [alike for alike in actors.values() if alike])
        self.continuations = continuations
        names = names or ParameterNames(first, actors)
        self.stepper = Stepper(self.coding, map(names.bind, transitions), continuations=continuations)
        self._by_name = {(each.transition.actor, each.transition.action): each for each in self.stepper.rows}
        if len(self._by_name) < len(self.stepper.rows):
            raise ValueError("two transitions have the same action and actor")
        self._derived: dict[Hashable, Any] = {}
        self._footprints: dict[tuple[str, ...], tuple[int, list[int]]] = {}

    def actors_of(self, kind: Kind | str) -> tuple[str, ...]:
        """Return the actors of a kind, or of a kind with the given name; () if the system has none."""
        return self.actors.get(name_of(kind), ())

    @cached_property
    def transitions(self) -> tuple[BoundTransition, ...]:
        """All transitions, bound to the components (state variables)."""
        return tuple(compiled.transition for compiled in self.stepper.rows)

    @property
    def initial(self) -> State:
        """The state before the first step."""
        return 0

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Yield every step that is possible in `state` together with its successor state, in a fixed order."""
        return self.stepper.successors(state)

    def transition_of(self, step: Step) -> BoundTransition:
        return self._by_name[step.actor, step.action].transition

    def successors_of(self, state: State, actor: str) -> Iterator[tuple[Step, State]]:
        """Yield every step of one actor that is possible in `state`, together with its successor state."""
        return self.stepper.steps_of(self.coding.place[actor], state)

    def enabled(self, state: State) -> list[Step]:
        return [step for step, _ in self.successors(state)]

    def apply(self, state: State, step: Step) -> State:
        """Return the state after `step`. Raises `Refused` if the step is impossible; the error lists every guard that
        does not hold.
        """
        for possible, after in self.successors(state):
            if possible == step:
                return after
        raise Refused(step, self.refusal(state, step))

    def refusal(self, state: State, step: Step) -> tuple[str, ...]:
        """Return the reasons why `step` is impossible in `state`, one for each guard that does not hold; () if the step
        is possible.
        """
        compiled = self._by_name.get((step.actor, step.action))
        if compiled is None:
            return (f"{step.actor} has no action {step.action} {self.where}",)
        row = compiled.transition
        reasons = tuple(
            guard.reason
            for guard in (*row.actor_guards, *row.guards)
            if not guard.holds(*(self.component(state, name) for name in guard.reads))
        )
        possible = () if reasons else tuple(row.arguments.call(*self.coding.read(state, compiled.argument_reads)))
        if not reasons and step.args not in possible:
            now = " or ".join(str(dict(args)) for args in possible)
            reasons = (f"the arguments must be {now}, not {dict(step.args)}",)
        return reasons

    def component(self, state: State, name: str) -> Any:
        """Return the value of one component (state variable). Raises KeyError if `name` is not a component; the message
        lists all components.
        """
        if name not in self.coding.place:
            raise KeyError(f"no component {name!r}; there are {', '.join(self.components)}")
        return self.coding.value(state, self.coding.place[name])

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """Return a function that projects a state to the components `names`. Its results for two states are equal if
        and only if these components are equal.
        """
        return self.coding.projection(names)

    def derive(self, state: State, reads: tuple[str, ...], key: Hashable, compute: Callable[..., Value]) -> Value:
        """Call `compute` with the values of the components `reads` in a state, and cache the result. `key` identifies
        the computation in the cache.
        """
        mask, positions = self._footprints.get(reads) or self._footprint(reads)
        at = (key, state & mask)
        if at not in self._derived:
            self._derived[at] = compute(*self.coding.read(state, positions))
        value: Value = self._derived[at]
        return value

    def _footprint(self, reads: tuple[str, ...]) -> tuple[int, list[int]]:
        positions = [self.coding.place[name] for name in reads]
        return self._footprints.setdefault(reads, (self.coding.mask(positions), positions))

    # What a search asks. A subclass that knows more answers for itself.

    def finished(self, state: State) -> bool:
        """True if a run may end in this state; otherwise, a state without successors is a deadlock."""
        return True

    def stopped_by_limits(self, state: State) -> Iterable[str]:
        """Return the actors that only a limit of the world prevents from continuing."""
        return ()

    def alike(self, one: str, other: str) -> bool:
        """True if two actors of one kind may be interchangeable: their transitions read and write the same components
        but for the two names.
        """
        swap = {one: other, other: one}

        def swapped(names: Iterable[str]) -> set[str]:
            return {swap.get(each, each) for each in names}

        def same(row: BoundTransition) -> bool:
            there = self._by_name.get((swap.get(row.actor, row.actor), row.action))
            return there is not None and all(
                swapped(here) == set(names)
                for here, names in ((row.reads, there.transition.reads), (row.writes, there.transition.writes))
            )

        return all(map(same, self.transitions))

    def names_an_actor(self, component: str) -> bool:
        """False if no value of a component ever contains the name of an actor."""
        return True

    def identity(self) -> Any:
        """Return a value that differs for systems with different runs. It decides whether a search continues."""
        return repr(self)
