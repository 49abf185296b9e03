"""What a search walks through: a system as it is, or a model with its symmetry and its private steps taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import prod
from typing import Any

from nbcc.model import Model
from nbcc.model.machine.stepper import Compiled, Stepper

from .reduction import private_rows, symmetric
from .symmetry import Symmetry
from .system import Successors, successors_of
from .transition_system import TransitionSystem


def has_rows(system: Any) -> bool:
    """Whether a system is made of rows: then it can be reduced, and what it covers can be told."""
    return isinstance(system, Model | TransitionSystem)


class Space:
    """A system as it is. `kept(state)`, if there is one, gives the state that stands for this one."""

    kept: Callable[[Any], Any] | None = None
    about: tuple[str, ...] = ()
    """What was reduced, in words."""
    exchangeable: Sequence[Sequence[str]] = ()
    """The actors whose names `kept` does not mind, those together that may be exchanged with each other."""
    fused = False
    """Whether several steps of the system may be one here: then the first counterexample may not be a shortest one."""

    def __init__(self, system: Any) -> None:
        self.system = system
        self.initial = system.initial
        self.successors: Successors = successors_of(system)
        self.finished: Callable[[Any], bool] = getattr(system, "finished", lambda state: True)
        self.budget: Callable[[Any], Iterable[Any]] = getattr(system, "stopped_by_limits", lambda state: ())

    def rows(self) -> Sequence[Compiled]:
        """The rows that were run, with what they found; none in a system that has no rows."""
        return self.system.stepper.rows if has_rows(self.system) else ()

    def stands_for(self, state: Any) -> int:
        """How many states of the system the one stands for that is kept for this one."""
        return 1

    def ends(self, state: Any) -> Iterator[Any]:
        """The states of the system in which a state without successors ends."""
        yield state

    def to_end(self, state: Any) -> Iterator[Any]:
        """The steps of the system that are left in a state without successors here."""
        yield from ()

    def steps(self, before: Any, step: Any, after: Any) -> Iterator[Any]:
        """The steps of the system that make up one step here."""
        yield step

    def walk(self, chain_of_kept: Sequence[Any]) -> tuple[list[Any], Any]:
        """The steps of a run of the system along kept states, and the state it ends in."""
        state, taken = self.initial, list[Any]()
        for target in chain_of_kept[1:]:
            step, after = next(
                (step, after) for step, after in self.successors(state)
                if (self.kept(after) if self.kept else after) == target
            )  # fmt: skip
            taken.extend(self.steps(state, step, after))
            state = after
        return taken, state


def _may_be_stranded(model: Model | TransitionSystem, promises: Sequence[Any]) -> bool:
    """Whether it matters, and nobody has looked, that a private step may lead to where its actor can do nothing more:
    a run that ends there has no next visible step. In the table's model nobody is (a test holds it)."""
    return not isinstance(model, Model) and (hasattr(model, "finished") or any(p.kind == "run" for p in promises))


class Reduced(Space):
    """A model with one state for all that differ in exchangeable names, and private steps fused (`fuse`). `known` are
    the exchangeable actors, where they are."""

    def __init__(
        self,
        model: Model | TransitionSystem,
        promises: Sequence[Any],
        fuse: bool = True,
        known: Sequence[Sequence[str]] | None = None,
    ) -> None:
        super().__init__(model)
        self.model = model
        # A promise about whole runs looks at ends alone, and there every private step has been taken.
        about_states = [promise for promise in promises if promise.kind != "run"]
        # What one call does at the granularity `call` is not fused with what comes next: others may come between calls.
        may = fuse and not model.stepper.continuations and not _may_be_stranded(model, promises)
        self.symmetry = Symmetry(model, about_states, known)
        self.exchangeable = self.symmetry.classes
        self.private = private_rows(model, about_states) if may else frozenset()
        if isinstance(model, TransitionSystem):
            self.private = symmetric(self.private, self.exchangeable)
        self.fused = bool(self.private)
        rows = (row for row in model.transitions if (row.actor, row.action) in self.private)
        self._bits = model.coding.mask(model.coding.place[row.component] for row in rows)
        self._runs: dict[Any, int] = {}
        self.stepper = Stepper(model.coding, model.transitions, self.private, model.stepper.continuations)
        self.successors = self.stepper.successors
        self.kept = self.symmetry.kept if self.symmetry.order > 1 else None
        words = [self.symmetry.about] if self.symmetry.order > 1 else []
        if self.private:
            private = sorted({action for _, action in self.private})
            words.append(f"{', '.join(private)} happen with the next visible step")
        self.about = tuple(words)

    def rows(self) -> Sequence[Compiled]:
        return self.stepper.rows

    def stands_for(self, state: Any) -> int:
        runs = 1
        if self.private:
            own = state & self._bits
            runs = self._runs.get(own) or self._count_runs(own)
        return runs * self.symmetry.orbit(state) if self.kept else runs

    def _count_runs(self, own: Any) -> int:
        """How many private steps may have happened, by the components of those who can take one."""
        found = self._runs[own] = prod(len(changes) for _, changes in self.stepper.private_runs(own))
        return found

    def ends(self, state: Any) -> Iterator[Any]:
        ends = [state]
        for _, changes in self.stepper.private_runs(state):
            ends = [end + change for end in ends for change in changes]
        # Where a private step is left, the run has not ended.
        return (end for end in ends if next(self.model.successors(end), None) is None)

    def to_end(self, state: Any) -> Iterator[Any]:
        while following := next(self.model.successors(state), None):
            step, state = following
            yield step

    def steps(self, before: Any, step: Any, after: Any) -> Iterator[Any]:
        runs = chain.from_iterable(changes.items() for _, changes in self.stepper.private_runs(before))
        for change, private in sorted(runs, key=lambda run: len(run[1])):
            if (step, after) in self.model.successors(before + change):
                yield from private
                yield step
                return
        raise AssertionError(f"{step} is no step of the model here")
