"""The walk of a breadth-first search: visits successors and numbers states in order of discovery."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from .ends import Ends
from .memory import growth_of
from .space import Space
from .watch import Watchers


class Numbers(Protocol):
    """The number of each visited state."""

    def __getitem__(self, state: Any) -> int: ...
    def get(self, state: Any) -> int | None: ...


class Parents(Protocol):
    """The number of each state's predecessor; -1 for the first state."""

    def __getitem__(self, number: int) -> int: ...
    def tobytes(self) -> bytes: ...


class Walk(Protocol):
    """What a search asks of its walk. `states` contains the states in order of discovery; `stands_for` is how many
    states of the system these represent.
    """

    @property
    def states(self) -> Sequence[Any]: ...
    @property
    def numbers(self) -> Numbers: ...
    @property
    def parents(self) -> Parents: ...
    @property
    def stands_for(self) -> int: ...
    @property
    def growth(self) -> int:
        """The bytes that the next states may need at once in addition to those in use."""

    def expand(self, first: int, until: int, level_end: int) -> tuple[int, bool]:
        """Visit the successors of the states from `first` to `until`. Returns how many these are, and whether one of
        them is a state before `level_end`: only a step to the same or an earlier level can close a cycle.
        """


class PlainWalk:
    """The walk of any system over Python's objects, from the first state on or after a checkpoint."""

    def __init__(
        self, space: Space, watchers: Watchers, ends: Ends, states: Iterable[Any] = (), parents: Iterable[int] = ()
    ) -> None:
        self.space, self.watchers, self.ends = space, watchers, ends
        first = space.canonical(space.initial) if space.canonical else space.initial
        self.states: list[Any] = list(states) or [first]
        self.numbers: dict[Any, int] = {state: number for number, state in enumerate(self.states)}
        self.parents = array("q", parents or [-1])
        self.stands_for = space.stands_for(first)

    @property
    def growth(self) -> int:
        return growth_of(self.numbers)

    def expand(self, first: int, until: int, level_end: int) -> tuple[int, bool]:
        states, numbers, parents = self.states, self.numbers, self.parents
        canonical = self.space.canonical
        successors, see_state = self.space.successors, self.watchers.see_state
        see_step, can_matter, judged = self.watchers.see_step, self.watchers.step_bits, self.watchers.state_bits
        reduced, total, goes_back = bool(self.space.about), 0, False
        for number in range(first, until):
            state, generated = states[number], 0
            for step, after in successors(state):
                generated += 1
                new = after if canonical is None else canonical(after)
                known = numbers.get(new)
                if known is None:
                    numbers[new] = len(states)
                    states.append(new)
                    parents.append(number)
                    if reduced:
                        self.stands_for += self.space.stands_for(after)
                    if judged != 0 and (judged is None or (state ^ new) & judged):
                        see_state(new, state, step)
                elif known < level_end:
                    goes_back = True
                if can_matter != 0 and (can_matter is None or (state ^ after) & can_matter):
                    see_step(state, step, after)
            total += generated
            if not generated:
                self.ends.see(number, state)
        return total, goes_back
