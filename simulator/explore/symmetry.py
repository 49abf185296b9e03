"""Symmetry: one state kept for all that differ in the names of exchangeable actors alone (see `exchanges`).

Orbits are exact. The kept state of an orbit is an image in which the components of the exchangeable actors are in
order. Where these components name no actor, order means ascending; of actors whose components are equal that one comes
first whom the other components name first, and only what that leaves open (the members of a set) is tried, the smallest
image being kept. Where one names another, every renaming is tried, once per value of them.

A search keeps no names along its edges: the way to a kept state is walked again from the first state, each time to a
successor whose kept state is the next one, so that what comes out is a run of the system as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, groupby, permutations, product
from math import factorial, prod
from typing import Any

from nbcc.model import Model, State
from nbcc.model.packed import WIDTH

from .exchanges import classes
from .renaming import NOWHERE, FirstNamed, Image, Path, Renaming
from .rows import RowSystem

REMEMBERED = 1 << 18
"""Values of all other components together that are kept with what the same renamings make of them, some 60 MB."""
_Least = tuple[State, int]
"""What the other components are in the kept state, and how many renamings make them so."""
_Alike = tuple[tuple[str, ...], ...]
"""The actors class by class, in each by their components, ascending; those together whose components are equal."""
_Tries = Callable[[State], tuple[Sequence[Image], int]]
"""The renamings to be tried on the other components, and how many more there are that do what each of them does."""
_Sorted = tuple[State, _Tries, dict[State, _Least]]
"""The exchangeable components in order, what they leave to be tried, and what was kept of the others."""


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
        self._members = tuple(chain.from_iterable(self.classes))
        mine = [coding.place[name] for name in self._members]
        # What is a number names nobody: it is the same in every image. Of the others each value may name somebody.
        numbers = [place for place in range(len(coding.names)) if isinstance(coding.values(place)[0], int)]
        others = [place for place in range(len(coding.names)) if place not in mine and place not in numbers]
        self._fields = (mine, others)
        self._bits, self._rest, self._numbers = coding.mask(mine), coding.mask(others), coding.mask(numbers)
        self._first_named = FirstNamed(self._members)
        self._mine = [(place, coding.mask((place,))) for place in mine]
        self._others = [(place, coding.mask((place,))) for place in others]
        self._named: dict[tuple[int, State], Mapping[str, Path]] = {}
        self._sorted: dict[State, _Sorted] = {}
        self._images: dict[tuple[str, ...], Image] = {}
        self._left_open: dict[Hashable, tuple[_Tries, dict[State, _Least]]] = {}

    @property
    def about(self) -> str:
        """The admitted exchanges in words; empty if there are none."""
        return ", ".join(f"{' and '.join(each)} are exchangeable" for each in self.classes)

    def kept(self, state: State) -> State:
        """The state that stands for all of its orbit."""
        own, tries, least = self._sorted.get(state & self._bits) or self._sorting(state & self._bits)
        rest = state & self._rest
        return own + (least.get(rest) or self._least_of(rest, tries, least))[0] + (state & self._numbers)

    def renamings(self, state: State) -> list[Renaming]:
        """The renamings that lead from a state to the one that stands for it; one at least."""
        own, rest, kept = state & self._bits, state & self._rest, self.kept(state) - (state & self._numbers)
        return [image.names for image in self._every if image.of_own(own) + image.of_others(rest) == kept]

    def orbit(self, state: State) -> int:
        """How many states there are of which one stands for this one."""
        _, tries, least = self._sorted.get(state & self._bits) or self._sorting(state & self._bits)
        rest = state & self._rest
        return self.order // (least.get(rest) or self._least_of(rest, tries, least))[1]

    def _least_of(self, rest: State, tries: _Tries, least: dict[State, _Least]) -> _Least:
        if len(least) >= REMEMBERED:
            least.clear()
        images, times = tries(rest)
        others = [image.of_others(rest) for image in images]
        found = least[rest] = (min(others), others.count(min(others)) * times)
        return found

    def _sorting(self, bits: State) -> _Sorted:
        """The exchangeable components in order, and what they leave open."""
        left_open: Hashable
        if any(self._named_in(place, bits & mask) for place, mask in self._mine):
            made = [image.of_own(bits) for image in self._every]
            own = min(made)
            left_open = images = tuple(image for image, there in zip(self._every, made, strict=True) if there == own)
            tries: _Tries = partial(_each, images)
        else:
            left_open = alike = self._alike(bits)
            own = self._image(tuple(chain.from_iterable(alike))).of_own(bits)
            tries = partial(self._told_apart, alike)
        found = self._sorted[bits] = (own, *self._left_open.setdefault(left_open, (tries, {})))
        return found

    def _alike(self, bits: State) -> _Alike:
        # Not by value: equal numbers mean equal components, and any fixed order of the numbers will do.
        def number(name: str) -> int:
            return bits >> self.model.coding.place[name] * WIDTH & ((1 << WIDTH) - 1)

        return tuple(
            tuple(those) for each in self.classes for _, those in groupby(sorted(each, key=number), key=number)
        )

    def _told_apart(self, alike: _Alike, rest: State) -> tuple[Sequence[Image], int]:
        """Of those who are alike they first whom the others name first; who is named nowhere may be called anything."""
        named = [found for place, mask in self._others if (found := self._named_in(place, rest & mask))]
        orders, times = list[Iterable[tuple[str, ...]]](), 1
        for together in alike:
            if len(together) == 1:
                orders.append([together])
                continue
            where = {name: [found.get(name, NOWHERE) for found in named] for name in together}
            for first, those in groupby(sorted(together, key=where.__getitem__), key=where.__getitem__):
                tied = tuple(those)
                if all(place is NOWHERE for place in first):
                    times *= factorial(len(tied))
                    orders.append([tied])
                else:
                    orders.append(permutations(tied))
        return [self._image(tuple(chain(*parts))) for parts in product(*orders)], times

    def _named_in(self, place: int, bits: State) -> Mapping[str, Path]:
        """Where a component names whom first."""
        found = self._named.get((place, bits))
        if found is None:
            found = self._named[place, bits] = self._first_named(self.model.coding.value(bits, place))
        return found

    @cached_property
    def _every(self) -> list[Image]:
        orders = product(*(list(permutations(each)) for each in self.classes))
        return [self._image(tuple(chain.from_iterable(each))) for each in orders]

    def _image(self, order: tuple[str, ...]) -> Image:
        """The renaming after which the members of each class stand in this order."""
        found = self._images.get(order)
        if found is None:
            names = dict(zip(order, self._members, strict=True))
            found = self._images[order] = Image(self.model, names, *self._fields)
        return found


def _each(images: Sequence[Image], rest: State) -> tuple[Sequence[Image], int]:
    return images, 1
