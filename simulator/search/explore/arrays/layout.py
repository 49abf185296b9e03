"""Packs states into machine words: each component (state variable) has a field that is as wide as its values need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nbcc.model.machine.state import WIDTH, Coding, State

Words = NDArray[np.uint64]
"""One row a state, one column a word."""

WORD: Final = 64
BYTES: Final = WIDTH // 8
"""Bytes of a component in an encoded state."""
_FIELD: Final = (1 << WIDTH) - 1


class Layout:
    """The places of all components in words. A field has room for twice the values that its component has had so far;
    the free bits of each word are shared among its fields.
    """

    def __init__(self, coding: Coding) -> None:
        self.coding = coding
        self.places = range(len(coding.names))
        needed = [max(1, min(WIDTH, (2 * len(coding.values(place)) - 1).bit_length())) for place in self.places]
        self.word = _first_fit(needed)
        self.count = max(self.word) + 1
        """Words of a state."""
        self.width = needed
        self._share_free_bits()
        self.shift = [sum(self.width[other] for other in range(place) if self.word[other] == self.word[place])
                      for place in self.places]  # fmt: skip

    def _share_free_bits(self) -> None:
        for word in range(self.count):
            inside = [place for place in self.places if self.word[place] == word]
            # A component that never changed is probably constant.
            growing = [place for place in inside if len(self.coding.values(place)) > 1] or inside
            free = WORD - sum(self.width[place] for place in inside)
            while free and any(self.width[place] < WIDTH for place in growing):
                least = min(growing, key=lambda place: self.width[place] - needed_bits(self.coding, place))
                self.width[least] += 1
                free -= 1

    @property
    def fields(self) -> NDArray[np.int64]:
        """The word, the shift and the mask of each component, a row each."""
        return np.array(
            [(self.word[p], self.shift[p], (1 << self.width[p]) - 1) for p in self.places], dtype=np.int64
        )

    @property
    def is_too_narrow(self) -> bool:
        """True if a component has had more values than its field has room for."""
        return any(len(self.coding.values(place)) > 1 << self.width[place] for place in self.places)

    def pack(self, states: Sequence[State]) -> Words:
        """Return the words of states, a row each."""
        size = BYTES * len(self.places)
        numbers = np.zeros((len(states), len(self.places), 8), dtype=np.uint8)
        parts = b"".join([state.to_bytes(size, "little") for state in states])
        numbers[:, :, :BYTES] = np.frombuffer(parts, dtype=np.uint8).reshape(-1, len(self.places), BYTES)
        values = numbers.view(np.uint64)[:, :, 0]
        words = np.zeros((len(states), self.count), dtype=np.uint64)
        for place, (word, shift) in enumerate(zip(self.word, self.shift, strict=True)):
            words[:, word] |= values[:, place] << np.uint64(shift)
        return words

    def unpack(self, words: Words) -> list[State]:
        """Return the states of rows of words."""
        values = np.empty((len(words), len(self.places)), dtype=np.uint64)
        for place, (word, shift, width) in enumerate(zip(self.word, self.shift, self.width, strict=True)):
            values[:, place] = words[:, word] >> np.uint64(shift) & np.uint64((1 << width) - 1)
        parts = values.view(np.uint8).reshape(len(words), len(self.places), 8)[:, :, :BYTES].tobytes()
        size = BYTES * len(self.places)
        return [int.from_bytes(parts[at : at + size], "little") for at in range(0, len(parts), size)]

    def mask(self, bits: State) -> list[int]:
        """Return the mask, a number a word, of the components that `bits` masks in a state."""
        words = [0] * self.count
        for place, word in enumerate(self.word):
            if bits >> place * WIDTH & _FIELD:
                words[word] |= ((1 << self.width[place]) - 1) << self.shift[place]
        return words

    def masks(self, several: Iterable[State]) -> Words:
        """Return the masks of several masks of states, a row each."""
        return np.array([self.mask(bits) for bits in several], dtype=np.uint64).reshape(-1, self.count)

    def fits(self, state: State) -> bool:
        """True if each component's number has room in its field."""
        return all(state >> place * WIDTH & _FIELD < 1 << self.width[place] for place in self.places)


def needed_bits(coding: Coding, place: int) -> int:
    """Return the bits that the values so far of the component at `place` need."""
    return (len(coding.values(place)) - 1).bit_length()


def _first_fit(widths: Sequence[int]) -> list[int]:
    """Return a word for each field, the widest fields first, such that no word has too many bits."""
    word, free = [0] * len(widths), list[int]()
    for place in sorted(range(len(widths)), key=lambda place: -widths[place]):
        found = next((number for number, left in enumerate(free) if left >= widths[place]), len(free))
        if found == len(free):
            free.append(WORD)
        free[found] -= widths[place]
        word[place] = found
    return word
