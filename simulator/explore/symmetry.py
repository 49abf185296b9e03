"""Symmetry: actors that only their names tell apart, and one state kept for all that differ in such names alone.

The candidates are the actors of one kind. Which of them may really be exchanged is not assumed: a pair is admitted if,
on the states that a search meets first, stepping commutes with exchanging the two names and every promise says the
same of both sides. Shapes of writes, settings of single actors, an order by name in a row: all of these show there.

Orbits are exact. The kept state of an orbit is an image in which the components of the exchangeable actors are in
order, and of all such images the smallest. Where these components name no actor, order means ascending, and only orders
that equal components leave open are tried; where one names another, every renaming is, once per value of them.

A search keeps no names along its edges: the way to a kept state is walked again from the first state, each time to a
successor whose kept state is the next one, so that what comes out is a run of the system as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice, permutations, product
from math import prod
from typing import Any

from nbcc.model import Model, State, Step
from nbcc.model.packed import WIDTH

from .rows import RowSystem

Renaming = Mapping[str, str]
_Field = tuple[int, int, int, dict[State, State]]
"""Where a component stands and where it goes, its bits, and what was made of its values."""
REMEMBERED = 1 << 18
"""Images of all other components together that one renaming keeps, some 50 MB."""
LOOKED_AT = 400
"""States on which a pair must pass before it is exchanged. Tests look at all states of every small world."""


def renamed(value: Any, names: Renaming) -> Any:
    """A value with other actors' names, however deep in tuples they stand."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        inside = [renamed(part, names) for part in value]
        return type(value)._make(inside) if hasattr(value, "_make") else tuple(inside)
    if isinstance(value, frozenset):
        return frozenset(renamed(part, names) for part in value)
    return value


def names_one(value: Any, names: frozenset[str]) -> bool:
    """Whether one of these names stands anywhere in a value."""
    if isinstance(value, tuple | frozenset):
        return any(names_one(part, names) for part in value)
    return value in names


def renamed_state(model: Model | RowSystem, state: State, names: Renaming) -> State:
    """A state with other actors' names: components change places, values inside them change names."""
    coding, after = model.coding, 0
    for position, name in enumerate(coding.names):
        after = coding.put(after, coding.place[names.get(name, name)], renamed(coding.value(state, position), names))
    return after


def renamed_step(step: Step, names: Renaming) -> Step:
    """A step of another actor."""
    return Step(names.get(step.actor, step.actor), step.action, renamed(step.args, names))


def difference(model: Model | RowSystem, state: State, names: Renaming, promises: Iterable[Any] = ()) -> str | None:
    """Why exchanging the names is no symmetry in this state, None if it is one."""
    other = renamed_state(model, state, names)
    moves = [(step, after, renamed_state(model, after, names)) for step, after in model.successors(state)]
    if {(renamed_step(step, names), there) for step, _, there in moves} != set(model.successors(other)):
        return f"other steps are possible after {names}"
    for promise in promises:
        for step, after, there in moves:
            said = promise.holds(model, state, step, after) is None
            if said != (promise.holds(model, other, renamed_step(step, names), there) is None):
                return f"{promise.name} says something else after {names}"
    return None


class Symmetry:
    """The admitted exchanges of a model; none: `kept` gives back what it is given."""

    def __init__(self, model: Model | RowSystem, promises: Sequence[Any] = ()) -> None:
        self.model = model
        states = list(islice(_first_states(model), LOOKED_AT))
        able = [p for p in promises if not getattr(p, "unfit", lambda model: None)(model)]
        self.classes = [
            each for names in model.actors.values() for each in _classes(model, names, states, able) if len(each) > 1
        ]
        self.order = prod(_factorial(len(each)) for each in self.classes)
        """How many renamings there are, the one that changes nothing included."""
        coding = model.coding
        self._members = [[coding.place[name] for name in each] for each in self.classes]
        mine = [place for members in self._members for place in members]
        # Components that may name an actor; where a value does not, renaming leaves it as it is.
        others = [place for place in range(len(coding.names)) if place not in mine]
        self._fields = (mine, others)
        self._bits, self._rest = coding.mask(mine), coding.mask(others)
        self._names = frozenset(name for each in self.classes for name in each)
        self._mine = [(place, coding.mask((place,))) for place in mine]
        self._moved: dict[tuple[int, State], tuple[bool, tuple[State, ...]]] = {}
        self._sorted: dict[State, tuple[State, list[_Image]]] = {}
        self._images: dict[tuple[tuple[int, ...], ...], _Image] = {}

    @property
    def about(self) -> str:
        """The admitted exchanges in words; empty if there are none."""
        return ", ".join(f"{' and '.join(each)} are exchangeable" for each in self.classes)

    def kept(self, state: State) -> State:
        """The state that stands for all of its orbit."""
        own, images = self._images_of(state & self._bits)
        rest = state & self._rest
        if len(images) == 1:
            return own + images[0].of_others(rest)
        return own + min([image.of_others(rest) for image in images])

    def renamings(self, state: State) -> list[Renaming]:
        """The renamings that lead from a state to the one that stands for it; one at least."""
        own, images = self._images_of(state & self._bits)
        rest, kept = state & self._rest, self.kept(state)
        return [image.names for image in images if own + image.of_others(rest) == kept]

    def orbit(self, state: State) -> int:
        """How many states there are of which one stands for this one."""
        _, images = self._images_of(state & self._bits)
        if len(images) == 1:
            return self.order
        others = [image.of_others(state & self._rest) for image in images]
        return self.order // others.count(min(others))  # so many renamings lead to the same one

    def _images_of(self, bits: State) -> tuple[State, list[_Image]]:
        found = self._sorted.get(bits)
        if found is None:
            found = self._sorted[bits] = self._sorting(bits)
        return found

    def _sorting(self, bits: State) -> tuple[State, list[_Image]]:
        """The exchangeable components at their smallest, and the renamings that make them so: they put them in order,
        as far as names allow."""
        fields = [self._field(place, bits & mask) for place, mask in self._mine]
        if not any(speaks for speaks, _ in fields):
            images = [self._image(orders) for orders in product(*(self._orders(bits, m) for m in self._members))]
            return images[0].of_own(bits), images
        made = list(map(sum, zip(*(moved for _, moved in fields), strict=True)))
        least = min(made)
        if made.count(least) == 1:
            return least, [self._every[made.index(least)]]
        return least, [image for image, own in zip(self._every, made, strict=True) if own == least]

    def _field(self, place: int, bits: State) -> tuple[bool, tuple[State, ...]]:
        """Of one exchangeable component: whether it names another, and what each renaming makes of it."""
        found = self._moved.get((place, bits))
        if found is None:
            speaks = names_one(self.model.coding.value(bits, place), self._names)
            moved = tuple(image.of_own_field(place, bits) for image in self._every)
            found = self._moved[place, bits] = speaks, moved
        return found

    @cached_property
    def _every(self) -> list[_Image]:
        return [self._image(orders) for orders in product(*(list(permutations(m)) for m in self._members))]

    def _image(self, orders: tuple[tuple[int, ...], ...]) -> _Image:
        """The renaming after which the members of each class stand in this order."""
        found = self._images.get(orders)
        if found is None:
            places = self.model.coding.names
            pairs = zip(self._members, orders, strict=True)
            names = {places[old]: places[new] for members, order in pairs
                     for new, old in zip(members, order, strict=True)}  # fmt: skip
            found = self._images[orders] = _Image(self.model, names, *self._fields)
        return found

    def _orders(self, bits: State, members: list[int]) -> list[tuple[int, ...]]:
        def number(place: int) -> int:
            return bits >> place * WIDTH & ((1 << WIDTH) - 1)

        # Not by value: equal numbers mean equal components, and any fixed order of the numbers will do.
        ascending = sorted(map(number, members))
        return [order for order in permutations(members) if [number(place) for place in order] == ascending]


class _Image:
    """One renaming, applied field by field; what it makes of a field, and of all others together, is remembered."""

    def __init__(self, model: Model | RowSystem, names: Renaming, own: Sequence[int], others: Sequence[int]) -> None:
        self.coding, self.names = model.coding, {old: new for old, new in names.items() if old != new}
        # The fields of the actors change places, and may name others; the other fields stay where they are.
        self.own = [self._field(old, self._moved(old)) for old in own]
        self.others = [self._field(place, place) for place in others]
        self.together: dict[State, State] = {}
        self._parts: dict[tuple[type, Any], Any] = {}
        """Of what stands in a tuple, as an entry does in many states of what is published: what it is called now."""

    def _renamed(self, value: Any) -> Any:
        if type(value) is not tuple:
            return renamed(value, self.names)
        known, found = self._parts, []
        for part in value:
            key = (type(part), part)  # values of different types may be equal
            if key not in known:
                known[key] = renamed(part, self.names)
            found.append(known[key])
        return tuple(found)

    def _moved(self, place: int) -> int:
        name = self.coding.names[place]
        return self.coding.place[self.names.get(name, name)]

    def _field(self, old: int, new: int) -> _Field:
        return old, new, self.coding.mask((old,)), {}

    def of_own(self, bits: State) -> State:
        """The image of the exchangeable components."""
        return self._of(bits, self.own) if self.names else bits

    def of_own_field(self, place: int, bits: State) -> State:
        """The image of one of them."""
        return self._of(bits, [field for field in self.own if field[0] == place]) if self.names else bits

    def of_others(self, bits: State) -> State:
        """The image of the other components."""
        if not self.names:
            return bits
        after = self.together.get(bits)
        if after is None:
            if len(self.together) >= REMEMBERED:
                self.together.clear()
            after = self.together[bits] = self._of(bits, self.others)
        return after

    def _of(self, bits: State, fields: Sequence[_Field]) -> State:
        after = 0
        for old, new, mask, memo in fields:
            part = bits & mask
            image = memo.get(part)
            if image is None:
                value = self._renamed(self.coding.value(part, old))
                image = memo[part] = self.coding.number(new, value) << new * WIDTH
            after += image
        return after


def _classes(
    model: Model | RowSystem, names: Sequence[str], states: Sequence[State], promises: Sequence[Any]
) -> list[list[str]]:
    """Actors of one kind, those together that may be exchanged with each other."""
    classes: list[list[str]] = []
    first = {name: model.component(model.initial, name) for name in names}
    for name in names:
        for each in classes:
            pair = {name: each[0], each[0]: name}
            same = renamed(first[name], pair) == first[each[0]]
            if same and not any(difference(model, state, pair, promises) for state in states):
                each.append(name)
                break
        else:
            classes.append([name])
    return classes


def _first_states(model: Model | RowSystem) -> Iterator[State]:
    """States in the order of a breadth-first search, thinned out so that they come from every depth."""
    seen, level = {model.initial}, [model.initial]
    while level:
        yield from level[:: max(1, len(level) // 8)]
        following: list[State] = []
        for state in level[:200]:
            for _, after in model.successors(state):
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        level = following


def _factorial(count: int) -> int:
    return prod(range(1, count + 1))


def pairs(model: Model | RowSystem) -> Iterator[dict[str, str]]:
    """Every two actors of one kind, as a renaming: what a test holds against all states of a world."""
    for names in model.actors.values():
        for one, other in combinations(names, 2):
            yield {one: other, other: one}
