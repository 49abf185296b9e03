"""Symmetry: one state kept for all that differ in the names of exchangeable actors alone (see `exchanges`).

Orbits are exact. The kept state of an orbit is an image in which the components of the exchangeable actors are in
order. Where these components name no actor, order means ascending; of actors whose components are equal that one comes
first whom the other components name first, and only what that leaves open (the members of a set) is tried, the smallest
image being kept. Where one names another, every renaming is tried, once per value of them.

A search keeps no names along its edges: the way to a kept state is walked again from the first state, each time to a
successor whose kept state is the next one, so that what comes out is a run of the system as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, partial
from itertools import chain, groupby, permutations, product
from math import factorial, inf, prod
from typing import Any

from nbcc.model import Model, State
from nbcc.model.machine.state import WIDTH

from .renaming import Image, InOrder, Order, Renaming
from .symmetry_detection import classes
from .transition_system import TransitionSystem

REMEMBERED = 1 << 18
"""Values of all other components together that are kept with what the same renamings make of them, some 60 MB."""
_Least = tuple[State, int]
"""What the other components are in the kept state, and how many renamings make them so."""
_Tried = tuple[Sequence[Image], int]
"""The renamings to be tried on the other components, and how many more there are that do what each of them does."""
_Tries = Callable[[State], _Tried]
_Sorted = tuple[State, _Tries, dict[State, _Least]]
"""The exchangeable components in order, what they leave to be tried, and what was kept of the others."""
_FIELD = (1 << WIDTH) - 1
NOWHERE = inf
"""The place of whom nobody names."""


class Symmetry:
    """The admitted exchanges of a model; none: `kept` gives back what it is given."""

    def __init__(
        self,
        model: Model | TransitionSystem,
        promises: Sequence[Any] = (),
        known: Sequence[Sequence[str]] | None = None,
    ) -> None:
        self.model = model
        self.classes = classes(model, promises) if known is None else known
        self.order = prod(factorial(len(each)) for each in self.classes)
        """How many renamings there are, the one that changes nothing included."""
        coding = model.coding
        self._members = tuple(chain.from_iterable(self.classes))
        mine = [coding.place[name] for name in self._members]
        # What is a number names nobody: it is the same in every image. Of the others each value may name somebody. In a
        # stranger's system what begins as a number may name somebody one day.
        ours = range(len(coding.names)) if isinstance(model, Model) else ()
        numbers = [place for place in ours if isinstance(coding.values(place)[0], int)]
        others = [place for place in range(len(coding.names)) if place not in mine and place not in numbers]
        self._fields = (mine, others)
        self._bits, self._rest, self._numbers = coding.mask(mine), coding.mask(others), coding.mask(numbers)
        self._in_order = InOrder(self._members)
        self._mine = [(place, coding.mask((place,))) for place in mine]
        self._shifts = [(name, place * WIDTH) for name, place in zip(self._members, mine, strict=True)]
        self._others = [(place, coding.mask((place,))) for place in others]
        self._orders: dict[tuple[int, State], Order] = {}
        self._tried: dict[tuple[Order, tuple[Order, ...]], _Tried] = {}
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
        if any(self._order_in(place, bits & mask) for place, mask in self._mine):
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

    def _alike(self, bits: State) -> Order:
        """The actors class by class, in each by their components, ascending."""

        # Not by value: equal numbers mean equal components, and any fixed order of the numbers will do.
        numbers = {name: bits >> shift & _FIELD for name, shift in self._shifts}
        by_number = numbers.__getitem__
        return tuple(
            [tuple(those) for each in self.classes for _, those in groupby(sorted(each, key=by_number), by_number)]
        )

    def _told_apart(self, alike: Order, rest: State) -> _Tried:
        """Of those who are alike they first whom the others name first."""
        orders = tuple([self._order_in(place, rest & mask) for place, mask in self._others])
        return self._tried.get((alike, orders)) or self._ordering(alike, orders)

    def _ordering(self, alike: Order, orders: tuple[Order, ...]) -> _Tried:
        parts, times = list[Iterable[tuple[str, ...]]](), 1
        for together in alike:
            where = {name: [_place(name, order) for order in orders] for name in together}
            for first, those in groupby(sorted(together, key=where.__getitem__), key=where.__getitem__):
                tied = tuple(those)
                if min(first, default=NOWHERE) == NOWHERE:  # these may be called anything
                    times *= factorial(len(tied))
                    parts.append([tied])
                else:
                    parts.append(permutations(tied))
        found = tuple(self._image(tuple(chain(*order))) for order in product(*parts)), times
        self._tried[alike, orders] = found
        return found

    def _order_in(self, place: int, bits: State) -> Order:
        """In which order a component names those who may be exchanged."""
        found = self._orders.get((place, bits))
        if found is None:
            found = self._orders[place, bits] = self._in_order(self.model.coding.value(bits, place))
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


def _each(images: Sequence[Image], rest: State) -> _Tried:
    return images, 1


def _place(name: str, order: Order) -> float:
    return next((place for place, those in enumerate(order) if name in those), NOWHERE)
