"""A system made of rows alone, for models of other people: packed and remembered like the table's own model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from nbcc.model import State, Step
from nbcc.model.packed import Coding, Stepper
from nbcc.model.step import Row


class RowSystem:
    """`first` are the components with their first values. `actors` maps a kind to names that may be exchangeable: each
    is the name of a component, and what stands for it wherever values speak of it."""

    uniform = False
    """True declares that all actors of a kind have the same rows but for their names, by construction. Then a sample of
    states suffices to exchange them; otherwise a search checks the exchange on all that it evaluated (`certify`)."""

    def __init__(self, first: Mapping[str, Any], rows: Iterable[Row], actors: Mapping[str, tuple[str, ...]]) -> None:
        self.actors = actors
        self.coding = Coding(first, actors.values())
        self.table_of_rows = tuple(rows)
        self.stepper = Stepper(self.coding, self.table_of_rows)
        self.initial: State = 0

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every step that can happen now with the state after it."""
        return self.stepper.successors(state)

    def component(self, state: State, name: str) -> Any:
        """What a component holds."""
        return self.coding.value(state, self.coding.place[name])

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """A function of a state: equal exactly where the values of these components are."""
        return self.coding.projection(names)
