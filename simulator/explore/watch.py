"""Promises under watch during a search: each looked at once per distinct footprint, the first violation kept.

Breadth first, the first violation that turns up has a shortest counterexample.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from .result import PromiseResult
from .system import Projection, projection_of
from .verdict import Verdict


class Watch:
    """One promise: what was found so far."""

    def __init__(self, system: Any, promise: Any) -> None:
        self.promise = promise
        self.project: Projection = projection_of(system, promise)
        self.is_step = promise.kind == "step"
        unfit = getattr(promise, "unfit", None)
        self.unfit: str | None = unfit(system) if unfit else None
        self.reached = False
        self.broken: tuple[str, Any, Any] | None = None
        """The message, the state before the last step, and the last step (None: the first state breaks it)."""

    def result(self, trace: tuple[Any, ...] | None, doubt: str | None) -> PromiseResult:
        """The verdict; `doubt` is what keeps the search from proving anything."""
        name = self.promise.name
        if self.unfit:
            return PromiseResult(name=name, verdict=Verdict.NOT_APPLICABLE, because=self.unfit)
        if self.broken:
            return PromiseResult(name=name, verdict=Verdict.VIOLATED, because=self.broken[0], trace=trace)
        if not self.reached and not doubt:
            doubt = "no state was reached in which the promise says something"
        if doubt:
            return PromiseResult(name=name, verdict=Verdict.UNDETERMINED, because=doubt)
        return PromiseResult(name=name, verdict=Verdict.HOLDS)


class Watchers:
    """The promises of one search, those that rest on the same components together."""

    def __init__(self, system: Any, promises: Sequence[Any]) -> None:
        self.system = system
        self.watches = [Watch(system, promise) for promise in promises]
        self._groups: list[_Group] = []
        together: dict[Hashable, list[Watch]] = {}
        for watch in self.watches:
            if watch.unfit is None:
                reads = getattr(watch.promise, "reads", None)
                together.setdefault(tuple(reads(system)) if reads else watch.promise.name, []).append(watch)
        self._groups = [_Group(system, members) for members in together.values()]
        self.step_groups = [group for group in self._groups if group.of_steps]

    def see_state(self, state: Any, before: Any, step: Any) -> None:
        """A state that was not seen before, reached by `step` from `before`."""
        for group in self._groups:
            group.see_state(state, before, step)

    def see_step(self, before: Any, step: Any, after: Any) -> None:
        """A step between two states, whether or not they were seen before."""
        for group in self.step_groups:
            group.see_step(before, step, after)


class _Group:
    """Promises that rest on the same components."""

    def __init__(self, system: Any, members: list[Watch]) -> None:
        self.system = system
        self.project = members[0].project
        self.all = members
        self.of_states = [watch for watch in members if not watch.is_step]
        self.of_steps = [watch for watch in members if watch.is_step]
        self._seen: set[Hashable] = set()
        self._seen_steps: set[Hashable] = set()

    def see_state(self, state: Any, before: Any, step: Any) -> None:
        footprint = self.project(state)
        if footprint in self._seen:
            return
        self._seen.add(footprint)
        for watch in self.all:
            if not watch.reached:
                watch.reached = watch.promise.sometimes(self.system, state)
        for watch in self.of_states:
            if watch.broken is None and (message := watch.promise.holds(self.system, None, None, state)):
                watch.broken = (message, before, step)

    def see_step(self, before: Any, step: Any, after: Any) -> None:
        old, new = self.project(before), self.project(after)
        if old == new:
            return
        key = (old, new, step)
        if key in self._seen_steps:
            return
        self._seen_steps.add(key)
        for watch in self.of_steps:
            if watch.broken is None and (message := watch.promise.holds(self.system, before, step, after)):
                watch.broken = (message, before, step)
