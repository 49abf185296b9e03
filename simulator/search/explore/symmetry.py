"""Symmetry reduction: one canonical state represents all states that differ only in the names of exchangeable actors.

The module `symmetry_detection` finds exchangeable actors. The reduction is exact: each orbit (set of symmetric states)
has exactly one canonical state, in which the components of exchangeable actors are sorted. Actors with equal components
are sorted by where their names first occur in the remaining components. If this leaves a tie, for example because two
names occur in one set, every order is tried. The order with the smallest encoded state is canonical. If a component of
an exchangeable actor contains another actor's name, every renaming is tried in the same way.

A counterexample is a run of the original system, reconstructed from the sequence of canonical states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, partial
from itertools import chain, groupby, permutations, product
from math import factorial, inf, prod
from typing import Any

from nbcc.model import State
from nbcc.model.machine import TransitionSystem
from nbcc.model.machine.state import WIDTH

from .renaming import Image, InOrder, Order, Renaming
from .symmetry_detection import classes

MEMO_SIZE = 1 << 18
"""The most entries of the memo for values of the other components, some 60 MB."""
_Least = tuple[State, int]
"""The other components of the canonical state, and the number of renamings that lead to it."""
_Tried = tuple[Sequence[Image], int]
"""The renamings to try on the other components, and how many renamings each of them represents."""
_Tries = Callable[[State], _Tried]
_Sorted = tuple[State, _Tries, dict[State, _Least]]
"""The exchangeable components in order, the renamings to try, and the memo of the other components."""
_FIELD = (1 << WIDTH) - 1
NOWHERE = inf
"""The place of an actor that no component names."""


class Symmetry:
    """The exchangeable actors of a model. The method `canonical` replaces a state with its canonical state. If no
    actors are exchangeable, `canonical` returns its argument unchanged.
    """

    def __init__(self, model: TransitionSystem, promises: Sequence[Any] = ()) -> None:
        self.model = model
        self.classes = classes(model, promises)
        self.order = prod(factorial(len(each)) for each in self.classes)
        """The number of renamings, with the identity."""
        coding = model.coding
        self._members = tuple(chain.from_iterable(self.classes))
        mine = [coding.place[name] for name in self._members]
        # A component that names no actor is equal in all images.
        numbers = [place for place, name in enumerate(coding.names) if not model.names_an_actor(name)]
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
        """Describe the exchangeable actors in words; '' if there are none."""
        return ", ".join(f"{' and '.join(each)} are exchangeable" for each in self.classes)

    def canonical(self, state: State) -> State:
        """Return the canonical representative of all states that are symmetric to a state."""
        own, tries, least = self._sorted.get(state & self._bits) or self._sorting(state & self._bits)
        rest = state & self._rest
        return own + (least.get(rest) or self._least_of(rest, tries, least))[0] + (state & self._numbers)

    def renamings(self, state: State) -> list[Renaming]:
        """Return all renamings that map a state to its canonical state."""
        own, rest, canonical = state & self._bits, state & self._rest, self.canonical(state) - (state & self._numbers)
        return [image.names for image in self._every if image.of_own(own) + image.of_others(rest) == canonical]

    def orbit(self, state: State) -> int:
        """Return the number of states that are symmetric to a state, including the state itself."""
        _, tries, least = self._sorted.get(state & self._bits) or self._sorting(state & self._bits)
        rest = state & self._rest
        return self.order // (least.get(rest) or self._least_of(rest, tries, least))[1]

    def _least_of(self, rest: State, tries: _Tries, least: dict[State, _Least]) -> _Least:
        if len(least) >= MEMO_SIZE:
            # All at once, because keeping an order of use would cost more than computing the values again.
            least.clear()
        images, times = tries(rest)
        others = [image.of_others(rest) for image in images]
        found = least[rest] = (min(others), others.count(min(others)) * times)
        return found

    def _sorting(self, bits: State) -> _Sorted:
        left_open: Hashable
        if any(self._order_in(place, bits & mask) for place, mask in self._mine):
            made = [image.of_own(bits) for image in self._every]
            own = min(made)
            left_open = images = tuple(image for image, there in zip(self._every, made, strict=True) if there == own)
            tries: _Tries = partial(_each, images)
        else:
            left_open = alike = self._alike(bits)
            own = self._image(tuple(chain.from_iterable(alike))).of_own(bits)
            tries = partial(self._tie_breakers, alike)
        found = self._sorted[bits] = (own, *self._left_open.setdefault(left_open, (tries, {})))
        return found

    def _alike(self, bits: State) -> Order:
        # By number, not by value: equal numbers mean equal components, and any fixed order is good.
        numbers = {name: bits >> shift & _FIELD for name, shift in self._shifts}
        by_number = numbers.__getitem__
        return tuple(
            [tuple(those) for each in self.classes for _, those in groupby(sorted(each, key=by_number), by_number)]
        )

    def _tie_breakers(self, alike: Order, rest: State) -> _Tried:
        """Return the renamings that sort actors with equal components by where their names first occur in other
        components.
        """
        orders = tuple([self._order_in(place, rest & mask) for place, mask in self._others])
        return self._tried.get((alike, orders)) or self._ordering(alike, orders)

    def _ordering(self, alike: Order, orders: tuple[Order, ...]) -> _Tried:
        parts, times = list[Iterable[tuple[str, ...]]](), 1
        for together in alike:
            where = {name: [_place(name, order) for order in orders] for name in together}
            for first, those in groupby(sorted(together, key=where.__getitem__), key=where.__getitem__):
                tied = tuple(those)
                if (
                    min(first, default=NOWHERE) == NOWHERE
                ):  # no component names them, so all their orders are equivalent
                    times *= factorial(len(tied))
                    parts.append([tied])
                else:
                    parts.append(permutations(tied))
        found = tuple(self._image(tuple(chain(*order))) for order in product(*parts)), times
        self._tried[alike, orders] = found
        return found

    def _order_in(self, place: int, bits: State) -> Order:
        order = self._orders.get((place, bits))
        if order is None:
            order = self._orders[place, bits] = self._in_order(self.model.coding.value(bits, place))
        return order

    @cached_property
    def _every(self) -> list[Image]:
        orders = product(*(list(permutations(each)) for each in self.classes))
        return [self._image(tuple(chain.from_iterable(each))) for each in orders]

    def _image(self, order: tuple[str, ...]) -> Image:
        image = self._images.get(order)
        if image is None:
            names = dict(zip(order, self._members, strict=True))
            image = self._images[order] = Image(self.model, names, *self._fields)
        return image


def _each(images: Sequence[Image], rest: State) -> _Tried:
    return images, 1


def _place(name: str, order: Order) -> float:
    return next((place for place, those in enumerate(order) if name in those), NOWHERE)
