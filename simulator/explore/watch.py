"""Promises under watch during a search: each looked at once per distinct footprint or shape, the first violation kept.

Breadth first, the first violation that turns up has a shortest counterexample. What promises are given hides all that
they do not declare: one that looks at more fails (`packed.Hidden`), instead of being judged by half.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol

from .result import PromiseResult
from .system import Projection, projection_of, rests_on
from .verdict import Verdict


class Judging(Protocol):
    """Who judges in the place of a search."""

    def take(self, look: Look) -> bool:
        """Whether somebody else looks; if not, who asks has to."""

    def finish(self) -> None:
        """Wait until everything is judged."""


class Watch:
    """One promise: what was found so far."""

    def __init__(self, system: Any, promise: Any) -> None:
        self.promise = promise
        self.project: Projection = projection_of(system, promise)
        unfit = getattr(promise, "unfit", None)
        self.unfit: str | None = unfit(system) if unfit else None
        self.reached = False
        self.doubt: str | None = None
        """What keeps this promise, and maybe no other, from being proven."""
        self.broken: tuple[str, Any, Any] | None = None
        """The message, the state before the last step, and the last step (None: the first state breaks it)."""
        self.broken_at = 0
        """The number of the look at which that turned up."""

    def breaks(self, number: int, message: str, before: Any, step: Any) -> None:
        """What was found at the look of this number, kept unless an earlier one has found something."""
        if self.broken is None or number < self.broken_at:
            self.broken, self.broken_at = (message, before, step), number

    def result(self, trace: tuple[Any, ...] | None, doubt: str | None) -> PromiseResult:
        """The verdict; `doubt` is what keeps the search from proving anything."""
        name, doubt = self.promise.name, doubt or self.doubt
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
    """The promises of one search, those that rest on the same components together; `judges` may look for them."""

    def __init__(self, system: Any, promises: Sequence[Any], judges: Judging | None = None) -> None:
        self.system, self.judges = system, judges
        self.watches = [Watch(system, promise) for promise in promises]
        together: dict[Hashable, list[Watch]] = {}
        for watch in self.watches:
            if watch.unfit is None:
                shape = getattr(watch.promise, "shape", None)
                together.setdefault((rests_on(system, watch.promise), shape), []).append(watch)
        self.groups = [Group(self, place, members) for place, members in enumerate(together.values())]
        self._looking = self.groups
        """Those to which a state can still say something."""
        self._step_groups = [group for group in self.groups if group.of_steps]
        self.of_runs = [w for w in self.watches if w.unfit is None and w.promise.kind == "run"]
        self.state_bits = _bits(system, self.groups)
        """The bits that a step must change to lead to a state that is not judged yet; None: it may always do so."""
        self.step_bits = _bits(system, self._step_groups)
        """The bits that a step must change to matter to a promise over steps; None: it may always matter."""
        self.looks = 0
        """How many times promises have looked at what they had not seen before."""

    @property
    def all_broken(self) -> bool:
        """Nothing is left to find."""
        return all(watch.broken for watch in self.watches)

    def see_state(self, state: Any, before: Any, step: Any) -> None:
        """A state that was not seen before, reached by `step` from `before`."""
        for group in self._looking:
            footprint = group.project(state)
            if footprint not in group.seen:
                group.seen.add(footprint)
                group.see_state(state, before, step)
                if group.has_seen_all:
                    self._looking = [each for each in self._looking if not each.has_seen_all]

    def see_step(self, before: Any, step: Any, after: Any) -> None:
        """A step between two states, whether or not they were seen before."""
        for group in self._step_groups:
            group.see_step(before, step, after)

    def look(self, group: Group, shown: tuple[Any, ...], before: Any, step: Any) -> None:
        """Have promises look at a state, or at the two of a step, here or in another process."""
        self.looks += 1
        look = Look(self.looks, group, shown, before, step)
        if self.judges is None or not self.judges.take(look):
            group.judge(look)

    def finish(self) -> None:
        """Wait for what others look at."""
        if self.judges is not None:
            self.judges.finish()


def _bits(system: Any, groups: Sequence[Group]) -> int | None:
    """The bits of all that some promises rest on; None where that is everything."""
    if any(group.rests_on is None for group in groups):
        return None
    names = {name for group in groups for name in group.rests_on or ()}
    return int(system.coding.mask(system.coding.place[name] for name in names)) if names else 0


class Look(NamedTuple):
    """Something that promises have not seen before, by number: one state, or the two of a step, as it is shown to them;
    and how the search came there."""

    number: int
    group: Group
    shown: tuple[Any, ...]
    before: Any
    step: Any


class Group:
    """Promises that rest on the same components. They are shown these alone: whoever looks at others fails."""

    def __init__(self, watchers: Watchers, place: int, members: list[Watch]) -> None:
        self.watchers, self.system, self.place = watchers, watchers.system, place
        self.project = members[0].project
        self.rests_on = rests_on(self.system, members[0].promise)
        self._hiding = None if self.rests_on is None else self.system.coding.hiding(self.rests_on)
        self.all = members
        self.of_states = [watch for watch in members if watch.promise.kind == "state"]
        self.of_steps = [watch for watch in members if watch.promise.kind == "step"]
        self.shape = getattr(members[0].promise, "shape", None)
        self.seen: set[Hashable] = set()
        self.seen_steps: set[Hashable] = set()
        self.shapes: set[Hashable] = set()

    @property
    def has_seen_all(self) -> bool:
        """Whether no further state says anything: each promise was put to the test, each over states is broken."""
        return all(watch.reached for watch in self.all) and all(watch.broken for watch in self.of_states)

    def shown(self, state: Any) -> Any:
        """What its promises see of a state."""
        return state if self._hiding is None else self.project(state) | self._hiding

    def _known(self, kind: Hashable, *states: Any) -> bool:
        """Whether states of this shape were judged before; a state without a shape was not."""
        shape = self.shape(self.system, *states) if self.shape else None
        if shape is None:
            return False
        if (kind, shape) in self.shapes:
            return True
        self.shapes.add((kind, shape))
        return False

    def see_state(self, state: Any, before: Any, step: Any) -> None:
        shown = self.shown(state)
        if not self._known("state", shown):
            self.watchers.look(self, (shown,), before, step)

    def see_step(self, before: Any, step: Any, after: Any) -> None:
        old, new = self.project(before), self.project(after)
        if old == new:
            return
        key = (old, new, step)
        if key in self.seen_steps:
            return
        self.seen_steps.add(key)
        was, now = self.shown(before), self.shown(after)
        if not self._known(step.action, was, now):
            self.watchers.look(self, (was, now), before, step)

    def judge(self, look: Look) -> None:
        """What the promises over states say of one state, those over steps of two."""
        *was, now = look.shown
        if was:
            given = (was[0], look.step, now)
        else:
            given = (None, None, now)
            for watch in self.all:
                watch.reached = watch.reached or watch.promise.sometimes(self.system, now)
        for watch in self.of_steps if was else self.of_states:
            if watch.broken is None and (message := watch.promise.holds(self.system, *given)):
                watch.breaks(look.number, message, look.before, look.step)
