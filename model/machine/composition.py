"""Composition: the kernel's transitions, which mechanisms refine from outside. The kernel names no mechanism.

A mechanism selects transitions by action or tag, and by actor, because each actor may follow its own protocol. The
methods of `Selection` refine the selected transitions; the methods of `Composition` add to the model.

Mechanisms apply their refinements in a declared order (`Mechanism.after`). If two mechanisms declare no order, their
refinements of one transition must commute. If they do not commute, the composition raises `Unordered`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from .bound import ViewStep
from .options import ProtocolOptions
from .order import Refinement, Unordered, commute
from .selection import Selection
from .transition import Transition


class Fact(Protocol):
    """A value that describes how one actor does something, such as publishing."""

    @property
    def actor(self) -> str: ...


FactOfType = TypeVar("FactOfType")
Key = tuple[str, str]
"""(actor, action)."""


class NoTransition(LookupError):
    """A selection is empty: no transition has that action or tag."""


@dataclass(slots=True)
class Composition:
    """A model under construction. `actors` maps each kind to the names of its actors.

    `protocol_of` returns the protocol of one actor. `idle_steps` maps a kind to the steps between two operations.
    `views` are functions of components; guards and effects name a view like a component.
    """

    world: Any
    protocol: ProtocolOptions
    actors: Mapping[str, tuple[str, ...]]
    protocol_of: Callable[[str], ProtocolOptions]
    idle_steps: Mapping[str, tuple[str, ...]]
    transitions: dict[Key, Transition] = field(default_factory=dict)
    components: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, dict[str, tuple[Any, ...]]] = field(default_factory=dict)
    views: dict[str, tuple[ViewStep, ...]] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)
    mechanism: str = ""
    _after: dict[str, frozenset[str]] = field(default_factory=dict)
    _facts: dict[type, dict[str, Any]] = field(default_factory=dict)
    _fact_refinements: dict[type, list[tuple[str, Callable[[Any], None]]]] = field(default_factory=dict)
    _refined: dict[Key, list[Refinement]] = field(default_factory=dict)

    def begin(self, mechanism: str, after: Iterable[str]) -> None:
        """Begin the operations of a mechanism, which comes after the named mechanisms."""
        self.mechanism = mechanism
        self._after[mechanism] = frozenset(name for each in after for name in (each, *self._after.get(each, ())))

    def actors_of(self, kind: str) -> tuple[str, ...]:
        """Return the actors of a kind; () if the world has none."""
        return self.actors.get(kind, ())

    def add(self, *transitions: Transition) -> None:
        """Add transitions. An actor has at most one transition for each action."""
        for each in transitions:
            if (key := (each.actor, each.action)) in self.transitions:
                raise ValueError(f"{each.actor} has two transitions {each.action}")
            self.transitions[key] = each

    def add_component(self, name: str, first: Any) -> None:
        """Add a shared component with its initial value."""
        if name in self.components:
            raise ValueError(f"the component {name!r} is added twice")
        self.components[name] = first

    def withdraw(self, component: str) -> None:
        """Withdraw the declaration that a component only grows: an effect of the mechanism removes part of its value.

        The parallel search relies on that declaration for `published`.
        """
        self.withdrawn.add(component)

    def add_field(self, kind: str, name: str, first: tuple[Any, ...]) -> None:
        """Add a typed record to each actor of a kind. Functions read the record as the parameter `own_<name>`.

        The record is part of the actor's one component. An effect that returns a new kernel record ends the operation;
        the record then has its initial value again.
        """
        if name in self.fields.setdefault(kind, {}):
            raise ValueError(f"the field {name!r} of a {kind} is added twice")
        self.fields[kind][name] = first

    def map_view(self, name: str, function: Callable[..., Any], actors: Iterable[str] | None = None) -> None:
        """Replace a view by a function. A parameter with the name of the view is the value before the replacement.

        `actors`: the actors to which the function applies (default: all, and reads without an actor).
        """
        step = ViewStep(function, None if actors is None else frozenset(actors))
        self.views[name] = (*self.views.get(name, ()), step)

    def register(self, fact: Fact) -> None:
        """Register how one actor does something, so that mechanisms can refine it."""
        self._facts.setdefault(type(fact), {})[fact.actor] = fact
        for mechanism, refine in self._fact_refinements.get(type(fact), ()):
            current, self.mechanism = self.mechanism, mechanism
            refine(fact)
            self.mechanism = current

    def refine_facts(self, kind: type[FactOfType], refine: Callable[[FactOfType], None]) -> None:
        """Call `refine` for each registered fact of a type, and for each that a later mechanism registers."""
        self._fact_refinements.setdefault(kind, []).append((self.mechanism, refine))
        for fact in self.facts(kind).values():
            refine(fact)

    def facts(self, kind: type[FactOfType]) -> dict[str, FactOfType]:
        """Return the registered facts of a type, by actor."""
        return self._facts.get(kind, {})

    def select(self, *names: str, actors: Iterable[str] | None = None) -> Selection:
        """Select the transitions with one of these actions or tags, of some actors (default: all).

        Raises:
            NoTransition: one of the named actors has no such transition, or no actor has one.
        """
        chosen = None if actors is None else tuple(actors)
        selection = self.find(*names, actors=chosen)
        if chosen is not None:
            missing = {*chosen} - {each.actor for each in selection}
        else:
            missing = set() if selection else {"any actor"}
        if missing:
            raise NoTransition(f"{self.mechanism}: {min(missing)} has no transition {' or '.join(names)}")
        return selection

    def find(self, *names: str, actors: Iterable[str] | None = None) -> Selection:
        """Select like `select`, but allow an empty selection."""
        chosen = None if actors is None else {*actors}
        return Selection(self, tuple(
            key for key, each in self.transitions.items()
            if (chosen is None or each.actor in chosen) and (each.action in names or each.tags & {*names})
        ))  # fmt: skip

    def refine(self, key: Key, after: Transition, refinement: Refinement) -> None:
        """Replace a transition by a refined one, which may have another action."""
        for earlier in self._refined.setdefault(key, []):
            self._check_order(key, earlier, refinement)
        self._refined[key].append(refinement)
        if (renamed := (after.actor, after.action)) != key:
            del self.transitions[key]
            self._refined[renamed] = self._refined.pop(key)
            self.add(after)
        self.transitions[renamed] = after

    def _check_order(self, key: Key, earlier: Refinement, later: Refinement) -> None:
        ordered = earlier.mechanism == later.mechanism or earlier.mechanism in self._after.get(later.mechanism, ())
        if not ordered and not commute(earlier, later):
            raise Unordered(
                f"{earlier.mechanism} ({earlier.operation}) and {later.mechanism} ({later.operation}) both refine "
                f"{key[1]} of {key[0]}, and the order matters: one of them must declare `after`"
            )
