"""Symmetry: one state kept for all that differ in the names of exchangeable actors alone (see `exchanges`).

Orbits are exact. The kept state of an orbit is an image in which the components of the exchangeable actors are in
order, and of all such images the smallest. Where these components name no actor, order means ascending, and only orders
that equal components leave open are tried; where one names another, every renaming is, once per value of them.

A search keeps no names along its edges: the way to a kept state is walked again from the first state, each time to a
successor whose kept state is the next one, so that what comes out is a run of the system as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, permutations, product
from math import factorial, prod
from typing import Any

from nbcc.model import Model, State
from nbcc.model.packed import WIDTH

from .exchanges import classes
from .renaming import Image, Renaming, names_one
from .rows import RowSystem

REMEMBERED = 1 << 18
"""Values of all other components together that are kept with what the same renamings make of them, some 60 MB."""
_Least = tuple[State, int]
"""The smallest image of the other components, and how many renamings make it."""
_Sorted = tuple[State, tuple[Image, ...], dict[State, _Least]]
"""The exchangeable components in order, the renamings that make them so, and what is the least under these."""


class Symmetry:
    """The admitted exchanges of a model; none: `kept` gives back what it is given."""

    def __init__(
        self, model: Model | RowSystem, promises: Sequence[Any] = (), known: Sequence[Sequence[str]] | None = None
    ) -> None:
        self.model = model
        self.classes = classes(model, promises) if known is None else known
        self.order = prod(factorial(len(each)) for each in self.classes)
        """How many renamings there are, the one that changes nothing included."""
        coding = model.coding
        self._members = [[coding.place[name] for name in each] for each in self.classes]
        mine = [place for members in self._members for place in members]
        # What is a number names nobody: it is the same in every image. Of the others each value may name somebody.
        numbers = [place for place in range(len(coding.names)) if isinstance(coding.values(place)[0], int)]
        others = [place for place in range(len(coding.names)) if place not in mine and place not in numbers]
        self._fields = (mine, others)
        self._bits, self._rest, self._numbers = coding.mask(mine), coding.mask(others), coding.mask(numbers)
        self._names = frozenset(name for each in self.classes for name in each)
        self._mine = [(place, coding.mask((place,))) for place in mine]
        self._moved: dict[tuple[int, State], tuple[bool, tuple[State, ...]]] = {}
        self._sorted: dict[State, _Sorted] = {}
        self._images: dict[tuple[tuple[int, ...], ...], Image] = {}
        self._least: dict[tuple[Image, ...], dict[State, _Least]] = {}

    @property
    def about(self) -> str:
        """The admitted exchanges in words; empty if there are none."""
        return ", ".join(f"{' and '.join(each)} are exchangeable" for each in self.classes)

    def kept(self, state: State) -> State:
        """The state that stands for all of its orbit."""
        own, images, least = self._sorted.get(state & self._bits) or self._sorting(state & self._bits)
        rest = state & self._rest
        return own + (least.get(rest) or self._least_of(rest, images, least))[0] + (state & self._numbers)

    def renamings(self, state: State) -> list[Renaming]:
        """The renamings that lead from a state to the one that stands for it; one at least."""
        own, images, _ = self._sorted.get(state & self._bits) or self._sorting(state & self._bits)
        rest, kept = state & self._rest, self.kept(state) - (state & self._numbers)
        return [image.names for image in images if own + image.of_others(rest) == kept]

    def orbit(self, state: State) -> int:
        """How many states there are of which one stands for this one."""
        _, images, least = self._sorted.get(state & self._bits) or self._sorting(state & self._bits)
        rest = state & self._rest
        return self.order // (least.get(rest) or self._least_of(rest, images, least))[1]

    def _least_of(self, rest: State, images: Iterable[Image], least: dict[State, _Least]) -> _Least:
        if len(least) >= REMEMBERED:
            least.clear()
        others = [image.of_others(rest) for image in images]
        found = least[rest] = (min(others), others.count(min(others)))
        return found

    def _sorting(self, bits: State) -> _Sorted:
        """The exchangeable components at their smallest, and the renamings that make them so: they put them in order,
        as far as names allow."""
        fields = [self._field(place, bits & mask) for place, mask in self._mine]
        if any(speaks for speaks, _ in fields):
            made = list(map(sum, zip(*(moved for _, moved in fields), strict=True)))
            own = min(made)
            images = tuple(image for image, there in zip(self._every, made, strict=True) if there == own)
        else:
            images = tuple(self._image(orders) for orders in product(*(self._orders(bits, m) for m in self._members)))
            own = images[0].of_own(bits)
        found = self._sorted[bits] = (own, images, self._least.setdefault(images, {}))
        return found

    def _field(self, place: int, bits: State) -> tuple[bool, tuple[State, ...]]:
        """Of one exchangeable component: whether it names another, and what each renaming makes of it."""
        found = self._moved.get((place, bits))
        if found is None:
            speaks = names_one(self.model.coding.value(bits, place), self._names)
            moved = tuple(image.of_own_field(place, bits) for image in self._every)
            found = self._moved[place, bits] = speaks, moved
        return found

    @cached_property
    def _every(self) -> list[Image]:
        return [self._image(orders) for orders in product(*(list(permutations(m)) for m in self._members))]

    def _image(self, orders: tuple[tuple[int, ...], ...]) -> Image:
        """The renaming after which the members of each class stand in this order."""
        found = self._images.get(orders)
        if found is None:
            places = self.model.coding.names
            pairs = zip(self._members, orders, strict=True)
            names = {places[old]: places[new] for members, order in pairs
                     for new, old in zip(members, order, strict=True)}  # fmt: skip
            found = self._images[orders] = Image(self.model, names, *self._fields)
        return found

    def _orders(self, bits: State, members: list[int]) -> Iterator[tuple[int, ...]]:
        # Not by value: equal numbers mean equal components, and any fixed order of the numbers will do.
        alike: dict[int, list[int]] = {}
        for place in members:
            alike.setdefault(bits >> place * WIDTH & ((1 << WIDTH) - 1), []).append(place)
        for parts in product(*(permutations(alike[number]) for number in sorted(alike))):
            yield tuple(chain.from_iterable(parts))
