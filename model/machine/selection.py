"""Operations that refine selected transitions, for example by adding a guard to each.

A refinement adds a condition, an effect, an argument or a tag to a transition, or changes the step at which it starts
or ends. A refinement may also add a transition before, after, or as an alternative to the selected transition. The
composition checks that refinements without a declared order commute (see `order.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .order import Refinement, named_by
from .transition import Args, Effect, Guard, Transition

if TYPE_CHECKING:
    from .composition import Composition, Key


@dataclass(frozen=True, slots=True)
class Selection:
    """The transitions selected by a mechanism. Most methods return the selection, so that calls can be chained."""

    composition: Composition
    keys: tuple[Key, ...]

    def __iter__(self) -> Iterator[Transition]:
        return iter([self.composition.transitions[key] for key in self.keys])

    def __bool__(self) -> bool:
        return bool(self.keys)

    def without(self, *tags: str) -> Selection:
        """Return the selected transitions that have none of the tags `tags`."""
        transitions = self.composition.transitions
        return Selection(self.composition, tuple(key for key in self.keys if not transitions[key].tags & {*tags}))

    @property
    def one(self) -> Transition:
        [transition] = self
        return transition

    def require(self, *guards: Guard) -> Selection:
        """Add conditions to each selected transition."""
        operation = "require_place" if any(guard.place for guard in guards) else "require"
        return self._each(operation, lambda each: each.require(*guards))

    def extend(self, effect: Effect, *changes: str) -> Selection:
        """Add an effect that happens after the existing effects of each selected transition. `changes` names the
        components (state variables) that the effect changes; by default, the actor's own component.
        """
        return self._effect("extend", effect, changes or ("own",))

    def precede(self, effect: Effect, *changes: str) -> Selection:
        """Add an effect that happens before the existing effects of each selected transition. `changes` has the same
        meaning as for `extend`.
        """
        return self._effect("precede", effect, changes or ("own",))

    def swap(self, guard: Guard, other: Guard) -> Selection:
        """Replace `guard` with `other` in each selected transition."""
        return self._each(
            "swap", lambda each: replace(each, guards=tuple(other if g == guard else g for g in each.guards))
        )

    def add_argument(self, values: Callable[..., Iterable[Args]]) -> Selection:
        """Add an argument to each selected transition. A transition with arguments has one variant for each combination
        of their values.
        """
        return self._each("add_argument", lambda each: each.add_argument(values))

    def tag(self, *tags: str) -> Selection:
        """Add tags, by which mechanisms can select transitions."""
        return self._each("tag", lambda each: replace(each, tags=each.tags | {*tags}))

    def untag(self, *tags: str) -> Selection:
        """Remove tags from each selected transition."""
        return self._each("untag", lambda each: replace(each, tags=each.tags - {*tags}))

    def replace(self, change: Callable[[Transition], Transition]) -> Selection:
        """Replace each selected transition with the result of `change`, which may rename the action."""
        return self._each("replace", change)

    def divert(self, when: Callable[..., object], *effects: Effect, changes: tuple[str, ...] = ()) -> Selection:
        """Add an alternative outcome to each selected transition: if `when` holds, `effects` replace the existing
        effects.
        """
        return self._each("divert", lambda each: each.divert(when, *effects, changes=changes))

    def remove(self) -> None:
        self._each("replace", lambda each: each)
        for key in self.keys:
            del self.composition.transitions[key]

    def split(
        self, first: Callable[[Transition], Transition], then: Callable[[Transition], Transition]
    ) -> None:
        """Replace each selected transition with two: the results of applying `first` and `then` to it."""
        for key in self.keys:
            whole = self.composition.transitions[key]
            self._refine(key, first(whole), "split")
            self.composition.add(then(whole))

    def insert_before(self, step: str, make: Callable[[str], Transition]) -> Selection:
        """Insert a transition of the same actor before each selected transition. The new transition ends at `step`,
        where the selected transition now starts.
        """
        for key in self.keys:
            later = self.composition.transitions[key]
            self._refine(key, replace(later, at=step), "insert_before")
            self.composition.add(replace(make(later.actor), at=later.at, to=step))
        return self

    def insert_after(self, step: str, make: Callable[[str], Transition]) -> Selection:
        """Insert a transition of the same actor after each selected transition. The new transition starts at `step` and
        ends at the step where the selected transition originally ended. The selected transition now ends at `step`.
        """
        for key in self.keys:
            earlier = self.composition.transitions[key]
            if not earlier.to:
                raise ValueError(f"{earlier.action} of {earlier.actor} leads to a step that its effects decide")
            self._refine(key, replace(earlier, to=step), "insert_after")
            self.composition.add(replace(make(earlier.actor), at=step, to=earlier.to))
        return self

    def exit(self, make: Callable[[str], Transition]) -> Selection:
        """Add an alternative to each selected transition: another transition of the same actor from the same step.

        Selected transitions of one actor that start at the same step share a single alternative transition.
        """
        steps: set[tuple[str, str]] = set()
        for key, start in zip(self.keys, self, strict=True):
            self._refine(key, start, "exit")
            if (start.actor, start.at) not in steps:
                steps.add((start.actor, start.at))
                exits = make(start.actor)
                place = tuple(guard for guard in start.guards if guard.place and guard not in exits.guards)
                self.composition.add(replace(exits, at=start.at, guards=(*place, *exits.guards)))
        return self

    def _refine(self, key: Key, after: Transition, operation: str) -> None:
        self.composition.refine(key, after, Refinement(self.composition.mechanism, operation))

    def _each(self, operation: str, change: Callable[[Transition], Transition]) -> Selection:
        for key in self.keys:
            self._refine(key, change(self.composition.transitions[key]), operation)
        return self

    def _effect(self, operation: str, effect: Effect, changes: tuple[str, ...]) -> Selection:
        if isinstance(effect, Transition):  # by an author of an extension, whose code no type checker has seen
            raise TypeError(f"{operation} adds an effect, which is a function; insert_before adds {effect.action}")
        refinement = Refinement(self.composition.mechanism, operation, named_by(effect), frozenset(changes))
        for key, each in zip(self.keys, self, strict=True):
            after = each.extend(effect, *changes) if operation == "extend" else each.precede(effect, *changes)
            self.composition.refine(key, after, refinement)
        return self
