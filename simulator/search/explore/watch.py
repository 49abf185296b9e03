"""Checks promises during a search, each until its first violation.

A promise is evaluated once for each combination of the values that it reads. In a breadth-first search, the first
violation found is reached by a shortest run. If a promise reads a component (state variable) that it does not declare
in `reads`, `UndeclaredRead` is raised (see `nbcc.model.machine.state`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from .result import PromiseResult
from .system import Projection, projection_of, rests_on, shape_of, unfit_of
from .verdict import Verdict

UNREACHED = "no state was reached that tests the promise"
"""Why a promise that no state has tested is not HOLDS."""


class Watch:
    """One promise, with the results of its evaluations in a search."""

    def __init__(self, system: Any, promise: Any) -> None:
        self.promise = promise
        self.project: Projection = projection_of(system, promise)
        self.unfit = unfit_of(promise, system)
        self.reached = False
        self.doubt: str | None = None
        """Why this promise cannot be proven."""
        self.broken: tuple[str, Any, Any] | None = None
        """The message, the state before the last step, and the last step (None: the first state violates it)."""
        self.lasso: Any = None
        """The `lasso.Lasso` that violates a promise about runs."""

    def result(self, trace: tuple[Any, ...] | None, doubt: str | None) -> PromiseResult:
        """Return the verdict on the promise, with its counterexample `trace`. `doubt` is the reason why the search is
        incomplete, or None.
        """
        name, doubt = self.promise.name, doubt or self.doubt
        if self.unfit:
            return PromiseResult(name=name, verdict=Verdict.NOT_APPLICABLE, because=self.unfit)
        if self.broken:
            return PromiseResult(name=name, verdict=Verdict.VIOLATED, because=self.broken[0], trace=trace,
                                 cycle=self.lasso.cycle if self.lasso else 0)  # fmt: skip
        # A promise that no state has tested is not proven by a complete search.
        if not self.reached and not doubt:
            doubt = UNREACHED
        if doubt:
            return PromiseResult(name=name, verdict=Verdict.UNDETERMINED, because=doubt)
        return PromiseResult(name=name, verdict=Verdict.HOLDS)


class Watchers:
    """The promises of one search, grouped by the components (state variables) that they read."""

    def __init__(self, system: Any, promises: Sequence[Any]) -> None:
        self.watches = [Watch(system, promise) for promise in promises]
        together: dict[Hashable, list[Watch]] = {}
        for watch in self.watches:
            if watch.unfit is None:
                together.setdefault((rests_on(system, watch.promise), shape_of(watch.promise)), []).append(watch)
        groups = [PromiseGroup(system, members) for members in together.values()]
        by_reads: dict[Hashable, list[PromiseGroup]] = {}
        for group in groups:
            by_reads.setdefault(group if group.rests_on is None else frozenset(group.rests_on), []).append(group)
        self.footprints = [PromiseFootprint(some) for some in by_reads.values()]
        """What the groups that a state can still change read of a state."""
        self.step_groups = [group for group in groups if group.of_steps]
        self.of_runs = [w for w in self.watches if w.unfit is None and w.promise.kind == "run"]
        self.state_bits = _bits(groups)
        """The bits that a step must change to lead to a state that is not judged yet; None: any."""
        self.step_bits = _bits(self.step_groups)
        """The bits that a step must change to be relevant to a promise over steps; None: any."""

    @property
    def all_broken(self) -> bool:
        """True if every promise is violated, so that the search can stop."""
        return all(watch.broken for watch in self.watches)

    def see_state(self, state: Any, before: Any, step: Any) -> None:
        """Check the promises in the new state `state`, which results from `step` in the state `before`."""
        for footprint in self.footprints:
            shown = footprint.project(state)
            if shown not in footprint.seen:
                footprint.seen.add(shown)
                self.judge(footprint, state, before, step)

    def judge(self, footprint: PromiseFootprint, state: Any, before: Any, step: Any) -> None:
        """Check the promises that read a footprint which no state before has shown."""
        for group in footprint.groups:
            # A settled group is dropped, so that later states are not projected for it.
            if group.see_state(state, before, step) and group.is_settled:
                footprint.groups = [each for each in footprint.groups if each is not group]
                self.footprints = [each for each in self.footprints if each.groups]

    def see_step(self, before: Any, step: Any, after: Any) -> None:
        """Check the promises on a step from the state `before` to the state `after`."""
        for group in self.step_groups:
            group.see_step(before, step, after)


class PromiseFootprint:
    """What some groups of promises read of a state. Groups that read the same components share one."""

    def __init__(self, groups: list[PromiseGroup]) -> None:
        self.groups = groups
        self.bits = groups[0].bits
        self.project = groups[0].project
        self.seen = set[Hashable]()


def _bits(groups: Sequence[PromiseGroup]) -> int | None:
    every = 0
    for group in groups:
        if group.bits is None:
            return None
        every |= group.bits
    return every


class PromiseGroup:
    """A group of promises that read the same components (state variables). While the promises are evaluated, all
    components that they do not read are hidden.
    """

    def __init__(self, system: Any, members: list[Watch]) -> None:
        self.system = system
        self.project = members[0].project
        self.rests_on = rests_on(system, members[0].promise)
        place = None if self.rests_on is None else system.coding.place
        self.bits = None if place is None else int(system.coding.mask(place[name] for name in self.rests_on or ()))
        """The bits of a state that the promises read; None: unknown."""
        self._hiding = None if self.rests_on is None else system.coding.mask_undeclared(self.rests_on)
        self.all = members
        self.of_states = [watch for watch in members if watch.promise.kind == "state"]
        self.of_steps = [watch for watch in members if watch.promise.kind == "step"]
        self.shape = shape_of(members[0].promise)
        self.seen_steps: set[Hashable] = set()
        self.shapes: set[Hashable] = set()

    @property
    def is_settled(self) -> bool:
        """True if no further state can change a result: each promise's precondition was true in some state, and each
        promise about states is violated.
        """
        return all(watch.reached for watch in self.all) and all(watch.broken for watch in self.of_states)

    def _shown(self, state: Any) -> Any:
        return state if self._hiding is None else self.project(state) | self._hiding

    def _known(self, kind: Hashable, *states: Any) -> bool:
        shape = self.shape(self.system, *states) if self.shape else None
        if shape is None:
            return False
        if (kind, shape) in self.shapes:
            return True
        self.shapes.add((kind, shape))
        return False

    def see_state(self, state: Any, before: Any, step: Any) -> bool:
        """Check the promises in a state. Return False if the verdicts on its shape were known."""
        shown = self._shown(state)
        if self._known("state", shown):
            return False
        for watch in self.all:
            watch.reached = watch.reached or watch.promise.sometimes(self.system, shown)
        self._judge(self.of_states, (None, None, shown), before, step)
        return True

    def see_step(self, before: Any, step: Any, after: Any) -> None:
        old, new = self.project(before), self.project(after)
        # A promise over steps must hold on a step that changes nothing it reads.
        if old == new:
            return
        key = (old, new, step)
        if key in self.seen_steps:
            return
        self.seen_steps.add(key)
        self.judge_step(before, step, after)

    def judge_step(self, before: Any, step: Any, after: Any) -> None:
        """Check the promises on a step that none before was like."""
        was, now = self._shown(before), self._shown(after)
        if not self._known(step.action, was, now):
            self._judge(self.of_steps, (was, step, now), before, step)

    def _judge(self, watches: Sequence[Watch], shown: tuple[Any, Any, Any], before: Any, step: Any) -> None:
        for watch in watches:
            if watch.broken is None and (message := watch.promise.holds(self.system, *shown)):
                watch.broken = (message, before, step)
