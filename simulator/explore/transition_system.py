"""Lets users define models as transitions over named components (state variables).

The document docs/write-your-own-model.md shows how to write a model.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nbcc.model import State, Step
from nbcc.model.machine.bound import Bound, BoundGuard, BoundTransition
from nbcc.model.machine.state import Coding
from nbcc.model.machine.stepper import Stepper
from nbcc.model.machine.transition import Args


class Guard(NamedTuple):
    """A condition of a transition, which `reason` describes in words. If `limit` is True, the condition bounds the
    search and is not a rule of the modelled protocol.
    """

    reason: str
    holds: Callable[..., bool]
    limit: bool = False


def no_arguments(*_: object) -> Iterable[Args]:
    """Return a single choice without arguments. This is the default of `Transition.arguments`."""
    return ((),)


class Transition(NamedTuple):
    """One action of one actor, with its guards and its effect.

    `reads` names the components (state variables) whose values are passed to `guards`, `arguments` and `effect`, in
    this order. The first name in `reads` is the actor's own component. `actor_guards` read only the actor's own
    component, so that a search evaluates them only once for each value of this component. `arguments` returns every
    choice of keyword arguments for `effect`. `effect(*values, **args)` returns the new values of the components in
    `writes`.
    """

    action: str
    actor: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    actor_guards: tuple[Guard, ...]
    effect: Callable[..., tuple[Any, ...]]
    guards: tuple[Guard, ...] = ()
    arguments: Callable[..., Iterable[Args]] = no_arguments


def bound(transition: Transition) -> BoundTransition:
    """Convert a user's transition to the internal form that the built-in model uses."""

    def guards(some: Iterable[Guard], reads: tuple[str, ...]) -> tuple[BoundGuard, ...]:
        return tuple(BoundGuard(each.reason, each.holds, reads, each.limit) for each in some)

    def effect(*values: Any, **args: Any) -> dict[str, Any]:
        return dict(zip(transition.writes, transition.effect(*values, **args), strict=True))

    reads = transition.reads
    own, others = guards(transition.actor_guards, reads[:1]), guards(transition.guards, reads)
    return BoundTransition(
        transition.action, transition.actor, reads, transition.writes, own, others,
        Bound(transition.arguments, reads), Bound(effect, reads), reads[0],
    )  # fmt: skip


class TransitionSystem:
    """A system that is defined by transitions.

    `first` maps each component (state variable) to its initial value. `actors` maps each kind of actor to the names of
    its actors. The component of an actor has the actor's name, and the values of components identify actors by their
    names. Symmetry reduction may treat actors of one kind as interchangeable.
    """

    uniform = False
    """True declares that all actors of a kind have the same transitions but for their names.

    A sample of states then suffices to exchange them. Otherwise the search checks the exchange on all that it
    evaluated (see `certify`).
    """
    promises: tuple[Any, ...] = ()
    """The promises that `nbcc explore module:factory` judges."""

    def __init__(
        self, first: Mapping[str, Any], transitions: Iterable[Transition], actors: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.actors = actors
        self.coding = Coding(first, actors.values())
        self.transitions = tuple(bound(each) for each in transitions)
        self.stepper = Stepper(self.coding, self.transitions)
        self.initial: State = 0

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Yield every step that is possible in a state, with the resulting state."""
        return self.stepper.successors(state)

    def component(self, state: State, name: str) -> Any:
        """Return the value of a component in a state."""
        return self.coding.value(state, self.coding.place[name])

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """Return a function that computes a hashable key from a state. Two states have equal keys if and only if they
        agree in the given components.
        """
        return self.coding.projection(names)
