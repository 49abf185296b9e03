"""The state space that a search visits: all states of a system, or fewer after reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any

from nbcc.model.machine import TransitionSystem
from nbcc.model.machine.state import Coding
from nbcc.model.machine.stepper import Compiled, Stepper

from .reduction import private_transitions, symmetric
from .symmetry import Symmetry
from .system import Successors, successors_of


class Space:
    """The state space of a system without reduction. In a subclass with symmetry reduction, `canonical` maps a state to
    its canonical state; otherwise, `canonical` is None.
    """

    canonical: Callable[[Any], Any] | None = None
    about: tuple[str, ...] = ()
    """The reductions in words."""
    exchangeable: Sequence[Sequence[str]] = ()
    """The classes of exchangeable actors."""
    uniform = True
    """Whether the classes of exchangeable actors need no check after the search (see `certify`)."""
    fused = False
    """Whether one step here may be several of the system. Then the first counterexample may not be shortest."""

    def __init__(self, system: Any) -> None:
        self.system = system
        self.initial = system.initial
        self.successors: Successors = successors_of(system)
        self.coding: Coding | None = system.coding if isinstance(system, TransitionSystem) else None
        """The encoding of states, if the system is written in the modelling language."""
        self.finished: Callable[[Any], bool] = getattr(system, "finished", lambda state: True)
        self.limits: Callable[[Any], Iterable[Any]] = getattr(system, "stopped_by_limits", lambda state: ())

    @property
    def stepper(self) -> Stepper | None:
        """What computes the steps, if the system is written in the modelling language."""
        return self.system.stepper if self.coding else None

    def rows(self) -> Sequence[Compiled]:
        """Return the compiled transitions and their cached results. For a system without declared transitions, return
        ().
        """
        return self.stepper.rows if self.stepper else ()

    def stands_for(self, state: Any) -> int:
        """Return how many states of the system a canonical state represents."""
        return 1

    def private_runs(self, state: Any) -> Iterator[Mapping[Any, tuple[Any, ...]]]:
        """For each actor, yield the changes that its private steps can make in `state`, each with these steps."""
        yield from ()

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


def _may_strand(model: TransitionSystem, promises: Sequence[Any]) -> bool:
    """True if a run may end with private steps (which no other actor observes), and the search asks how runs end. Then
    these steps cannot be fused with a later step.
    """
    asks = type(model).finished is not TransitionSystem.finished or any(promise.kind == "run" for promise in promises)
    return asks and not model.ends_visibly


class Reduced(Space):
    """The state space of a system, reduced by symmetry and, if `fuse` is True, by fusing private steps."""

    def __init__(self, model: TransitionSystem, promises: Sequence[Any], fuse: bool = True) -> None:
        super().__init__(model)
        self.model, self.uniform = model, model.uniform
        # A promise about whole runs reads ends of runs, where every private step has been taken.
        about_states = [promise for promise in promises if promise.kind != "run"]
        # What one call does at the granularity `call` is not fused with what comes next: others may come between calls.
        may = fuse and not model.stepper.continuations and not _may_strand(model, promises)
        self.symmetry = Symmetry(model, about_states)
        self.exchangeable = self.symmetry.classes
        private = private_transitions(model, about_states) if may else frozenset()
        self.private = symmetric(private, self.exchangeable)
        self.fused = bool(self.private)
        rows = (row for row in model.transitions if (row.actor, row.action) in self.private)
        self._bits = model.coding.mask(model.coding.place[row.component] for row in rows)
        self._runs: dict[Any, int] = {}
        self._stepper = Stepper(model.coding, model.transitions, self.private, model.stepper.continuations)
        self.successors = self._stepper.successors
        self.canonical = self.symmetry.canonical if self.symmetry.order > 1 else None
        words = [self.symmetry.about] if self.symmetry.order > 1 else []
        if self.private:
            actions = sorted({action for _, action in self.private})
            words.append(f"{', '.join(actions)} happen with the next visible step")
        self.about = tuple(words)

    @property
    def stepper(self) -> Stepper:
        return self._stepper

    def private_runs(self, state: Any) -> Iterator[Mapping[Any, tuple[Any, ...]]]:
        return self._stepper.private_runs(state)

    def stands_for(self, state: Any) -> int:
        runs = 1
        if self.private:
            own = state & self._bits
            # Kept for each combination of the private components, of which there are far fewer than states.
            runs = self._runs.get(own) or self._count_runs(own)
        return runs * self.symmetry.orbit(state) if self.canonical else runs

    def _count_runs(self, own: Any) -> int:
        found = self._runs[own] = prod(len(changes) for changes in self.private_runs(own))
        return found

    def ends(self, state: Any) -> Iterator[Any]:
        ends = [state]
        for changes in self.private_runs(state):
            ends = [end + change for end in ends for change in changes]
        # A run has not ended if a private step is possible.
        return (end for end in ends if next(self.model.successors(end), None) is None)

    def to_end(self, state: Any) -> Iterator[Any]:
        while following := next(self.model.successors(state), None):
            step, state = following
            yield step

    def steps(self, before: Any, step: Any, after: Any) -> Iterator[Any]:
        runs = chain.from_iterable(changes.items() for changes in self.private_runs(before))
        # Fewest private steps first, so that the counterexample is no longer than it must be.
        for change, private in sorted(runs, key=lambda run: len(run[1])):
            if (step, after) in self.model.successors(before + change):
                yield from private
                yield step
                return
        raise AssertionError(f"{step} is not a step of the model in this state")
