"""The walk of a breadth-first search: visits successors and numbers states in order of discovery."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from .components import on_cycles
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
    states of the system these represent. `generated` counts the first state and all successors, and `goes_back` is True
    if one of them is a state of the same or an earlier level: only such a step can close a cycle.
    """

    generated: int
    goes_back: bool

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

    def expand(self, first: int, until: int, level_end: int) -> None:
        """Visit the successors of the states from `first` to `until`, whose level ends before `level_end`."""

    def on_cycles(self) -> list[int]:
        """Return the numbers of the states that are on a cycle, perhaps also of states between two cycles, after a
        search that visited all states.
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
        self.generated, self.goes_back = 1, False

    @property
    def growth(self) -> int:
        return growth_of(self.numbers)

    def expand(self, first: int, until: int, level_end: int) -> None:
        states, numbers, parents = self.states, self.numbers, self.parents
        canonical = self.space.canonical
        successors, see_state = self.space.successors, self.watchers.see_state
        see_step, can_matter, judged = self.watchers.see_step, self.watchers.step_bits, self.watchers.state_bits
        reduced = bool(self.space.about)
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
                    self.goes_back = True
                if can_matter != 0 and (can_matter is None or (state ^ after) & can_matter):
                    see_step(state, step, after)
            self.generated += generated
            if not generated:
                self.ends.see(number, state)

    def on_cycles(self) -> list[int]:
        return on_cycles(self._following, len(self.states))

    def _following(self, number: int) -> Iterator[int]:
        # From cached transitions: a list of all edges would need ten times as much memory as the states.
        canonical, numbers = self.space.canonical, self.numbers
        for _, after in self.space.successors(self.states[number]):
            yield numbers[canonical(after) if canonical else after]
