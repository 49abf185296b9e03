"""The state space that a search visits: all states of a system, or fewer after reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import prod
from typing import Any

from nbcc.model import Model
from nbcc.model.machine.stepper import Compiled, Stepper

from .reduction import private_transitions, symmetric
from .symmetry import Symmetry
from .system import Successors, successors_of
from .transition_system import TransitionSystem


def has_transitions(system: Any) -> bool:
    """True if a system consists of declared transitions, as reductions and coverage require."""
    return isinstance(system, Model | TransitionSystem)


class Space:
    """The state space of a system without reduction. In a subclass with symmetry reduction, `canonical` maps a state to
    its canonical state; otherwise, `canonical` is None.
    """

    canonical: Callable[[Any], Any] | None = None
    about: tuple[str, ...] = ()
    """The reductions in words."""
    exchangeable: Sequence[Sequence[str]] = ()
    """The classes of exchangeable actors."""
    fused = False
    """Whether one step here may be several of the system. Then the first counterexample may not be shortest."""

    def __init__(self, system: Any) -> None:
        self.system = system
        self.initial = system.initial
        self.successors: Successors = successors_of(system)
        self.finished: Callable[[Any], bool] = getattr(system, "finished", lambda state: True)
        self.limits: Callable[[Any], Iterable[Any]] = getattr(system, "stopped_by_limits", lambda state: ())

    def rows(self) -> Sequence[Compiled]:
        """Return the compiled transitions and their cached results. For a system without declared transitions, return
        ().
        """
        return self.system.stepper.rows if has_transitions(self.system) else ()

    def stands_for(self, state: Any) -> int:
        """Return how many states of the system a canonical state represents."""
        return 1

    def ends(self, state: Any) -> Iterator[Any]:
        """Yield the end states of the original system that are represented by `state`, an end state of the reduced
        space.
        """
        yield state

    def to_end(self, state: Any) -> Iterator[Any]:
        """Yield the private steps that the original system still takes after a run to `state`, an end state of the
        reduced space.
        """
        yield from ()

    def steps(self, before: Any, step: Any, after: Any) -> Iterator[Any]:
        """Yield the steps of the original system that are represented by `step`, a step of the reduced space."""
        yield step

    def walk(self, chain_of_canonical: Sequence[Any]) -> tuple[list[Any], Any]:
        """Return a run that passes through the given canonical states, as its steps and its last state."""
        state, taken = self.initial, list[Any]()
        for target in chain_of_canonical[1:]:
            step, after = next(
                (step, after) for step, after in self.successors(state)
                if (self.canonical(after) if self.canonical else after) == target
            )  # fmt: skip
            taken.extend(self.steps(state, step, after))
            state = after
        return taken, state


def _may_strand(model: Model | TransitionSystem, promises: Sequence[Any]) -> bool:
    """True if a run may end with private steps (which no other actor observes), so that they cannot be fused with a
    later step.
    """
    return not isinstance(model, Model) and (hasattr(model, "finished") or any(p.kind == "run" for p in promises))


class Reduced(Space):
    """The state space of a system, reduced by symmetry and, if `fuse` is True, by fusing private steps.

    `known` contains the classes of exchangeable actors. If it is None, these classes are detected.
    """

    def __init__(
        self,
        model: Model | TransitionSystem,
        promises: Sequence[Any],
        fuse: bool = True,
        known: Sequence[Sequence[str]] | None = None,
    ) -> None:
        super().__init__(model)
        self.model = model
        # A promise about whole runs reads ends of runs, where every private step has been taken.
        about_states = [promise for promise in promises if promise.kind != "run"]
        # What one call does at the granularity `call` is not fused with what comes next: others may come between calls.
        may = fuse and not model.stepper.continuations and not _may_strand(model, promises)
        self.symmetry = Symmetry(model, about_states, known)
        self.exchangeable = self.symmetry.classes
        self.private = private_transitions(model, about_states) if may else frozenset()
        if isinstance(model, TransitionSystem):
            self.private = symmetric(self.private, self.exchangeable)
        self.fused = bool(self.private)
        rows = (row for row in model.transitions if (row.actor, row.action) in self.private)
        self._bits = model.coding.mask(model.coding.place[row.component] for row in rows)
        self._runs: dict[Any, int] = {}
        self.stepper = Stepper(model.coding, model.transitions, self.private, model.stepper.continuations)
        self.successors = self.stepper.successors
        self.canonical = self.symmetry.canonical if self.symmetry.order > 1 else None
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
        return runs * self.symmetry.orbit(state) if self.canonical else runs

    def _count_runs(self, own: Any) -> int:
        found = self._runs[own] = prod(len(changes) for _, changes in self.stepper.private_runs(own))
        return found

    def ends(self, state: Any) -> Iterator[Any]:
        ends = [state]
        for _, changes in self.stepper.private_runs(state):
            ends = [end + change for end in ends for change in changes]
        # A run has not ended if a private step is possible.
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
        raise AssertionError(f"{step} is not a step of the model in this state")
