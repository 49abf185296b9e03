"""Mechanisms refine the kernel's transitions without changing the kernel. The kernel refers to no mechanism.

A mechanism selects transitions by action or tag, and by actor, because two actors may follow different protocols. The
methods of `Selection` refine the selected transitions. The methods of `Composition` add transitions, components and
views.

Mechanisms are applied in a declared order (`Mechanism.after`). If neither of two mechanisms is declared to come after
the other, their refinements of a transition must commute; otherwise `Unordered` is raised. An extension comes after all
mechanisms of nbcc, so that only two extensions can be unordered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

from .bound import ViewStep
from .mechanism import Kind, name_of
from .options import ProtocolOptions
from .order import Refinement, Unordered, commute
from .selection import Selection
from .transition import Transition


class Fact(Protocol):
    """Describes how one actor performs a task: for example, a `Publication` describes how an actor publishes. One
    mechanism registers the description, and other mechanisms look it up.
    """

    @property
    def actor(self) -> str: ...


FactOfType = TypeVar("FactOfType")
Key = tuple[str, str]
"""(actor, action)."""


class NoTransition(LookupError):
    """Raised if no transition has the requested action or tag."""


@dataclass(slots=True)
class Composition:
    """A model under construction. `actors` maps each kind of actor to the names of the actors.

    `protocol_of` returns the protocol of one actor. `idle_steps` maps each kind of actor to the steps at which an actor
    is between two operations. `views` maps the name of each view to the functions that compute the view from components
    (state variables). Guards and effects refer to a view by name, just as they refer to a component.
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
    mechanism: str = ""
    _after: dict[str, frozenset[str]] = field(default_factory=dict)
    _facts: dict[type, dict[str, Any]] = field(default_factory=dict)
    _fact_refinements: dict[type, list[tuple[str, Callable[[Any], None]]]] = field(default_factory=dict)
    _refined: dict[Key, list[Refinement]] = field(default_factory=dict)

    def begin(self, mechanism: str, after: Iterable[str]) -> None:
        """Attribute all subsequent refinements to `mechanism`. `mechanism` comes after the mechanisms named in `after`.
        """
        self.mechanism = mechanism
        self._after[mechanism] = frozenset(name for each in after for name in (each, *self._after.get(each, ())))

    def actors_of(self, kind: Kind | str) -> tuple[str, ...]:
        """Return the actors of a kind, or of a kind with the given name; () if the world has no actor of that kind."""
        return self.actors.get(name_of(kind), ())

    def add(self, *transitions: Transition) -> None:
        """Add transitions. An actor has at most one transition for each action."""
        for each in transitions:
            if (key := (each.actor, each.action)) in self.transitions:
                raise ValueError(f"{each.actor} has two transitions {each.action}")
            self.transitions[key] = each

    def add_component(self, name: str, first: Any) -> None:
        """Add a shared component (state variable) with its initial value."""
        if name in self.components:
            raise ValueError(f"the component {name!r} is added twice")
        self.components[name] = first

    def add_field(self, kind: Kind | str, name: str, first: tuple[Any, ...]) -> None:
        """Add a typed record to the state of each actor of a kind. Guards and effects read the record as the parameter
        `own_<name>`.

        An added record is reset when the actor's operation ends, that is, when an effect replaces the kernel record
        `own`.
        """
        fields = self.fields.setdefault(name_of(kind), {})
        if name in fields:
            raise ValueError(f"the field {name!r} of a {name_of(kind)} is added twice")
        fields[name] = first

    def map_view(self, name: str, function: Callable[..., Any], actors: Iterable[str] | None = None) -> None:
        """Add a function whose result replaces the value of a view. If the function has a parameter with the name of
        the view, that parameter receives the view's previous value.

        The function applies only to reads by `actors` (default: to every read).
        """
        step = ViewStep(function, None if actors is None else frozenset(actors))
        self.views[name] = (*self.views.get(name, ()), step)

    def register(self, fact: Fact) -> None:
        """Register how one actor performs a task, such as publishing, so that mechanisms can refine the task."""
        self._facts.setdefault(type(fact), {})[fact.actor] = fact
        for mechanism, refine in self._fact_refinements.get(type(fact), ()):
            current, self.mechanism = self.mechanism, mechanism
            refine(fact)
            self.mechanism = current

    def refine_facts(self, kind: type[FactOfType], refine: Callable[[FactOfType], None]) -> None:
        """Call `refine` for each `Fact` of type `kind`: for registered facts now, and for future facts when they are
        registered.
        """
        self._fact_refinements.setdefault(kind, []).append((self.mechanism, refine))
        for fact in self.facts(kind).values():
            refine(fact)

    def facts(self, kind: type[FactOfType]) -> dict[str, FactOfType]:
        """Return each actor's registered `Fact` of type `kind`."""
        return self._facts.get(kind, {})

    def select(self, *names: str, actors: Iterable[str] | None = None) -> Selection:
        """Select the transitions whose action or tag is in `names`, for the given actors (default: all).

        Raises:
            NoTransition: the model, or one of the given actors, has no such transition.
        """
        chosen = None if actors is None else tuple(actors)
        selection = self.find(*names, actors=chosen)
        if chosen is not None:
            missing = {*chosen} - {each.actor for each in selection}
        else:
            missing = set() if selection else {"any actor"}
        if missing:
            known = {name for each in self.transitions.values() for name in (each.action, *each.tags)}
            near = [close for name in names if name not in known for close in get_close_matches(name, known, 1)]
            hint = f"; did you mean {near[0]}?" if near else ""
            raise NoTransition(f"{self.mechanism}: {min(missing)} has no transition {' or '.join(names)}{hint}")
        return selection

    def find(self, *names: str, actors: Iterable[str] | None = None) -> Selection:
        """Select transitions as `select` does, but return an empty selection if no transition matches."""
        chosen = None if actors is None else {*actors}
        return Selection(self, tuple(
            key for key, each in self.transitions.items()
            if (chosen is None or each.actor in chosen) and (each.action in names or each.tags & {*names})
        ))  # fmt: skip

    def refine(self, key: Key, after: Transition, refinement: Refinement) -> None:
        """Replace a transition by a refined transition, whose action may differ."""
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
                f"{key[1]} of {key[0]}, and the order matters: write after=({earlier.mechanism!r},) in the Mechanism "
                f"of {later.mechanism}, or the other way round"
            )
