"""Composition: the kernel's transitions, refined from outside by mechanisms that the kernel does not name.

A mechanism selects transitions by action or by tag, and by actor, because each actor may follow a protocol of its own.
The operations on a selection are the methods of `Selection`; the others are methods of `Composition`.

Refinements are applied in a declared order (`Mechanism.after`). Two refinements of one transition by mechanisms without
an order must commute: they are an error otherwise (`Unordered`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from .bound import ViewStep
from .options import ProtocolOptions
from .order import Refinement, Unordered, commute, named_by
from .transition import Args, Effect, Guard, Transition


class Fact(Protocol):
    """A value that says how one actor does something."""

    @property
    def actor(self) -> str: ...


FactOfType = TypeVar("FactOfType")
Key = tuple[str, str]
"""(actor, action)."""


class NoTransition(LookupError):
    """A selection that is empty: no transition has that action or tag."""


@dataclass(slots=True)
class Composition:
    """A model under construction. `actors` maps each kind to the names of its actors.

    `protocol_of` returns the protocol of one actor. `idle_steps` maps a kind to the steps between two operations.
    `constants` are values that functions name as parameters; `views` are functions of components that they name in the
    same way.
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
    constants: dict[str, Any] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)
    mechanism: str = ""
    _after: dict[str, frozenset[str]] = field(default_factory=dict)
    _facts: dict[type, dict[str, Any]] = field(default_factory=dict)
    _refined: dict[Key, list[Refinement]] = field(default_factory=dict)
    _fact_refinements: dict[type, list[tuple[str, Callable[[Any], None]]]] = field(default_factory=dict)

    def begin(self, mechanism: str, after: Iterable[str]) -> None:
        """From here on the operations are those of a mechanism, which comes after the mechanisms named."""
        self.mechanism = mechanism
        self._after[mechanism] = frozenset(name for each in after for name in (each, *self._after.get(each, ())))

    def actors_of(self, kind: str) -> tuple[str, ...]:
        """The actors of a kind; none if the world has none."""
        return self.actors.get(kind, ())

    def add(self, *transitions: Transition) -> None:
        """Add transitions; an action of an actor can be added once."""
        for each in transitions:
            if (key := (each.actor, each.action)) in self.transitions:
                raise ValueError(f"{each.actor} has two transitions {each.action}")
            self.transitions[key] = each

    def add_component(self, name: str, first: Any) -> None:
        """Add a shared component with its first value."""
        if name in self.components:
            raise ValueError(f"the component {name!r} is added twice")
        self.components[name] = first

    def withdraw(self, component: str) -> None:
        """Withdraw that a component only grows: an effect of the mechanism removes part of its value."""
        self.withdrawn.add(component)

    def add_field(self, kind: str, name: str, first: tuple[Any, ...]) -> None:
        """Add a typed record to each actor of a kind: functions name it `own_` and its name.

        It is a part of the actor's one component. An effect that returns a new kernel record ends the operation, and
        the record has its first value again.
        """
        if name in self.fields.setdefault(kind, {}):
            raise ValueError(f"the field {name!r} of a {kind} is added twice")
        self.fields[kind][name] = first

    def map_view(self, name: str, function: Callable[..., Any], actors: Iterable[str] | None = None) -> None:
        """Replace the value of a view: the function may name the view itself, which is then its value so far.

        `actors`: those for which it is replaced (default: every actor, and the view of no actor).
        """
        step = ViewStep(function, None if actors is None else frozenset(actors))
        self.views[name] = (*self.views.get(name, ()), step)

    def register(self, fact: Fact) -> None:
        """Note how one actor does something, for mechanisms that refine it."""
        self._facts.setdefault(type(fact), {})[fact.actor] = fact
        for mechanism, refine in self._fact_refinements.get(type(fact), ()):
            now, self.mechanism = self.mechanism, mechanism
            refine(fact)
            self.mechanism = now

    def refine_facts(self, kind: type[FactOfType], refine: Callable[[FactOfType], None]) -> None:
        """Refine how each actor does something: those noted so far, and those that later mechanisms note."""
        self._fact_refinements.setdefault(kind, []).append((self.mechanism, refine))
        for fact in self.facts(kind).values():
            refine(fact)

    def facts(self, kind: type[FactOfType]) -> dict[str, FactOfType]:
        """Actor -> the fact of a type that was noted of it."""
        return self._facts.get(kind, {})

    def select_strategy(self, name: str, value: Any) -> None:
        """Set a constant that functions name as a parameter, such as the rule of a choice between alternatives."""
        self.constants[name] = value

    def select(self, *names: str, actors: Iterable[str] | None = None) -> Selection:
        """The transitions with one of these actions or tags, of some actors (default: all that have one).

        Raises:
            NoTransition: one of the actors has none; or no actor has one.
        """
        chosen = None if actors is None else tuple(actors)
        found = self.find(*names, actors=chosen)
        missing = {*chosen} - {each.actor for each in found} if chosen else (() if found else ("any actor",))
        if missing:
            raise NoTransition(f"{self.mechanism}: {min(missing)} has no transition {' or '.join(names)}")
        return found

    def find(self, *names: str, actors: Iterable[str] | None = None) -> Selection:
        """As `select`; an empty selection is no error."""
        chosen = None if actors is None else {*actors}
        return Selection(self, tuple(
            key for key, each in self.transitions.items()
            if (chosen is None or each.actor in chosen) and (each.action in names or each.tags & {*names})
        ))  # fmt: skip

    def refine(self, key: Key, after: Transition, refinement: Refinement) -> None:
        """Put a refined transition in the place of the one that it refines."""
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


@dataclass(frozen=True, slots=True)
class Selection:
    """Some transitions of a composition. Each operation returns the selection, so that operations can be chained."""

    composition: Composition
    keys: tuple[Key, ...]

    def __iter__(self) -> Iterator[Transition]:
        return iter([self.composition.transitions[key] for key in self.keys])

    def __bool__(self) -> bool:
        return bool(self.keys)

    def without(self, *tags: str) -> Selection:
        """The transitions of the selection that have none of these tags."""
        found = self.composition.transitions
        return Selection(self.composition, tuple(key for key in self.keys if not found[key].tags & {*tags}))

    @property
    def one(self) -> Transition:
        """The only transition of the selection."""
        [found] = self
        return found

    def require(self, *guards: Guard) -> Selection:
        """Require further conditions."""
        operation = "require_place" if any(guard.place for guard in guards) else "require"
        return self._each(operation, lambda each: each.require(*guards))

    def extend(self, effect: Effect, *changes: str) -> Selection:
        """Add an effect that happens last; `changes` are the components that it changes (default: its own actor's)."""
        return self._effect("extend", effect, changes or ("own",))

    def precede(self, effect: Effect, *changes: str) -> Selection:
        """Add an effect that happens first."""
        return self._effect("precede", effect, changes or ("own",))

    def swap(self, guard: Guard, other: Guard) -> Selection:
        """Put another condition in the place of one that each has."""
        return self._each(
            "swap", lambda each: replace(each, guards=tuple(other if g == guard else g for g in each.guards))
        )

    def add_argument(self, values: Callable[..., Iterable[Args]]) -> Selection:
        """Add an argument, in every combination with those that are there."""
        return self._each("add_argument", lambda each: each.add_argument(values))

    def tag(self, *tags: str) -> Selection:
        """Add tags, by which other mechanisms select."""
        return self._each("tag", lambda each: replace(each, tags=each.tags | {*tags}))

    def untag(self, *tags: str) -> Selection:
        """Remove tags, because another transition has them from now on."""
        return self._each("untag", lambda each: replace(each, tags=each.tags - {*tags}))

    def replace(self, change: Callable[[Transition], Transition]) -> Selection:
        """Put another transition in the place of each, perhaps with another action."""
        composition = self.composition
        for key in self.keys:
            composition.refine(key, change(composition.transitions[key]), Refinement(composition.mechanism, "replace"))
        return self

    def divert(self, when: Callable[..., object], *effects: Effect, changes: tuple[str, ...] = ()) -> Selection:
        """Add another outcome: where `when` holds, these effects happen instead of the present ones."""
        return self._each("divert", lambda each: each.divert(when, *effects, changes=changes))

    def remove(self) -> None:
        """Remove the transitions."""
        composition = self.composition
        for key in self.keys:
            composition.refine(key, composition.transitions[key], Refinement(composition.mechanism, "replace"))
            del composition.transitions[key]

    def split(
        self, first: Callable[[Transition], Transition], then: Callable[[Transition], Transition]
    ) -> None:
        """Make two transitions of each: `first` and `then` both get the one that is split."""
        for key in self.keys:
            whole = self.composition.transitions[key]
            self.composition.refine(key, first(whole), Refinement(self.composition.mechanism, "split"))
            self.composition.add(then(whole))

    def insert_before(self, step: str, make: Callable[[str], Transition]) -> Selection:
        """Insert a transition of the actor before each: it starts where that one did, which then starts at `step`."""
        for key in self.keys:
            later = self.composition.transitions[key]
            after = replace(later, at=step)
            self.composition.refine(key, after, Refinement(self.composition.mechanism, "insert_before"))
            self.composition.add(replace(make(later.actor), at=later.at, to=step))
        return self

    def insert_after(self, step: str, make: Callable[[str], Transition]) -> Selection:
        """Insert a transition of the actor after each: it starts at `step`, and leads to where the other one did."""
        for key in self.keys:
            earlier = self.composition.transitions[key]
            if not earlier.to:
                raise ValueError(f"{earlier.action} of {earlier.actor} leads to a step that its effects decide")
            after = replace(earlier, to=step)
            self.composition.refine(key, after, Refinement(self.composition.mechanism, "insert_after"))
            self.composition.add(replace(make(earlier.actor), at=step, to=earlier.to))
        return self

    def exit(self, make: Callable[[str], Transition]) -> Selection:
        """Add an alternative exit of the actor from the step at which each starts.

        Where several transitions of an actor start, there is one exit.
        """
        found: set[tuple[str, str]] = set()
        for key, start in zip(self.keys, self, strict=True):
            self.composition.refine(key, start, Refinement(self.composition.mechanism, "exit"))
            if (start.actor, start.at) not in found:
                found.add((start.actor, start.at))
                made = make(start.actor)
                place = tuple(guard for guard in start.guards if guard.place and guard not in made.guards)
                self.composition.add(replace(made, at=start.at, guards=(*place, *made.guards)))
        return self

    def _each(self, operation: str, change: Callable[[Transition], Transition]) -> Selection:
        composition = self.composition
        for key in self.keys:
            after = change(composition.transitions[key])
            composition.refine(key, after, Refinement(composition.mechanism, operation))
        return self

    def _effect(self, operation: str, effect: Effect, changes: tuple[str, ...]) -> Selection:
        composition, reads = self.composition, named_by(effect)
        for key in self.keys:
            each = composition.transitions[key]
            after = each.extend(effect, *changes) if operation == "extend" else each.precede(effect, *changes)
            refinement = Refinement(composition.mechanism, operation, reads, frozenset(changes))
            composition.refine(key, after, refinement)
        return self
