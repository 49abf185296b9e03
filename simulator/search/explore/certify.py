"""Verifies after a search that the symmetry reduction was sound for a user's system.

Exchangeable actors are detected in a sample of states (`symmetry_detection`). In the built-in model, and in systems
that declare `uniform`, all actors of one kind have the same transitions. Actors that are exchangeable in the sample are
then exchangeable in all states. In a system that does not declare `uniform`, two actors may behave differently in
states outside the sample.

This module exchanges two actors' names in all inputs of transitions and promises that the search has evaluated. The
symmetry is proved if every exchange maps transitions to transitions, and changes no promise's verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from nbcc.model import State, Step
from nbcc.model.machine import TransitionSystem
from nbcc.model.machine.state import WIDTH
from nbcc.model.machine.stepper import Compiled, Stepper

from .renaming import Image, Renaming, renamed_step
from .search import Search
from .space import Space
from .system import rests_on

_Check = Callable[[Hashable, "Exchanged"], tuple[Hashable, bool]]
"""(item, exchange) -> the image of the item, and whether both behave the same."""


def refuted(search: Search) -> str | None:
    """Return the reason why the symmetry reduction of a finished search is unsound, or None if the reduction is sound.
    """
    space = search.space
    if space.canonical is None or space.uniform:
        return None
    promises = [watch.promise for watch in search.watchers.watches if watch.unfit is None]
    swaps = [{one: two, two: one} for each in space.exchangeable for one, two in pairwise(each)]
    exchanges = [Exchanged(space.system, swap) for swap in swaps]
    # Promises over steps need all steps. After a resumed search the memos are incomplete, and evaluating all steps
    # fills them.
    if search.resumed or any(promise.kind == "step" for promise in promises):
        moves = [(state, step, after) for state in search.states for step, after in space.successors(state)]
    else:
        moves = []
    for what, items, check in _parts(space, search.states, moves, promises):
        if wrong := _first_difference(items, exchanges, check):
            return f"{wrong.words} cannot be exchanged: {what} differs"
    return None


class Exchanged:
    """Exchanges two actor names in the states of a system."""

    def __init__(self, system: TransitionSystem, names: Renaming) -> None:
        self.names = names
        self.words = " and ".join(sorted(names))
        self.place = [system.coding.place[names.get(name, name)] for name in system.coding.names]
        self._image = Image(system, names, range(len(system.coding.names)), ())

    def state(self, state: State, mask: State) -> State:
        return self._image.of_own(state) & mask


def _first_difference(items: Iterable[Hashable], exchanges: Sequence[Exchanged], check: _Check) -> Exchanged | None:
    # A dictionary and not a set, so that the difference that is reported is the same in each run.
    seen = dict.fromkeys(items)
    queue = list(seen)
    while queue:
        item = queue.pop()
        for exchange in exchanges:
            try:
                image, same = check(item, exchange)
            except Exception:  # no run reaches this image, and a transition or promise cannot evaluate it
                return exchange
            if not same:
                return exchange
            if image not in seen:
                seen[image] = None
                queue.append(image)
    return None


_Part = tuple[str, Iterable[Hashable], _Check]


def _parts(
    space: Space, states: Sequence[State], moves: Sequence[tuple[State, Step, State]], promises: Sequence[Any]
) -> Iterator[_Part]:
    system = space.system
    transitions = _Transitions(system)
    for compiled in space.rows():
        yield f"the action {compiled.transition.action}", transitions.found(compiled), transitions.check
    for promise in promises:
        judge = _Promise(system, promise, space.exchangeable)
        if promise.kind == "state":
            yield f"the promise {promise.name}", {judge.part(state) for state in states}, judge.check_state
        elif promise.kind == "step":
            those = {(judge.part(before), step, judge.part(after)) for before, step, after in moves}
            yield f"the promise {promise.name}", those, judge.check_step
    ends = [end for state in states if not next(space.successors(state), None) for end in space.ends(state)]
    asked: list[tuple[str, Callable[[State], bool]]] = [
        ("whether a run may stop", lambda end: bool(space.finished(end))),
        ("whether a limit stops a run", lambda end: any(True for _ in space.limits(end))),
    ]
    for promise in (each for each in promises if each.kind == "run"):
        asked.append((f"the promise {promise.name}", partial(_left, promise, system)))
    for what, holds in asked:
        yield what, ends, partial(_check_end, holds)


def _left(promise: Any, system: TransitionSystem, end: State) -> bool:
    return bool(promise.outstanding(system, end)) and not promise.limited(system, end)


def _check_end(holds: Callable[[State], bool], end: Any, exchange: Exchanged) -> tuple[Hashable, bool]:
    image = exchange.state(end, ~0)
    return image, holds(end) == holds(image)


class _Transitions:
    """The transitions that a finished search evaluated, and all inputs on which it evaluated them.

    A separate `Stepper` evaluates transitions on exchanged inputs, so that the search's own coverage does not change.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self.coding = system.coding
        self.stepper = Stepper(system.coding, system.transitions)
        self.compiled = {(each.transition.actor, each.transition.action): each for each in self.stepper.rows}

    def found(self, compiled: Compiled) -> list[Hashable]:
        row, own = (compiled.transition.actor, compiled.transition.action), compiled.own
        awake = [(row, "awake", number << own * WIDTH) for number in range(len(self.coding.values(own)))]
        return [*awake, *((row, "moves", footprint) for footprint in compiled.memo)]

    def check(self, item: Any, exchange: Exchanged) -> tuple[Hashable, bool]:
        (actor, action), kind, bits = item
        row = self.compiled[actor, action]
        other = self.compiled[exchange.names.get(actor, actor), action]
        mask = self.coding.mask((other.own,)) if kind == "awake" else other.mask
        image = exchange.state(bits, mask)
        item = ((other.transition.actor, action), kind, image)
        if kind == "awake":
            return item, self._awake(row, bits) == self._awake(other, image)
        here = self._moves(row, bits)
        moves = {(renamed_step(step, exchange.names), exchange.state(after, mask)) for step, after in here}
        return item, moves == set(self._moves(other, image))

    def _awake(self, compiled: Compiled, bits: State) -> bool:
        value = self.coding.value(bits, compiled.own)
        return all(guard.holds(value) for guard in compiled.transition.actor_guards)

    def _moves(self, compiled: Compiled, bits: State) -> list[tuple[Step, State]]:
        return [(step, bits + change) for step, change in self.stepper._row(compiled, bits)]


class _Promise:
    def __init__(self, system: TransitionSystem, promise: Any, exchangeable: Sequence[Sequence[str]]) -> None:
        self.system, self.promise = system, promise
        reads = rests_on(system, promise)
        names = set(system.coding.names if reads is None else reads)
        for each in exchangeable:
            if names & set(each):
                names |= set(each)
        self.mask = system.coding.mask(system.coding.place[name] for name in names)
        self._known: dict[Hashable, bool] = {}
        self._hidden = 0 if reads is None else system.coding.mask_undeclared(reads)
        self._shown = ~0 if reads is None else system.coding.mask(system.coding.place[name] for name in reads)

    def part(self, state: State) -> State:
        return state & self.mask

    def check_state(self, item: Any, exchange: Exchanged) -> tuple[Hashable, bool]:
        image = exchange.state(item, self.mask)
        return image, self._holds(None, None, item) == self._holds(None, None, image)

    def check_step(self, item: Any, exchange: Exchanged) -> tuple[Hashable, bool]:
        before, step, after = item
        image = exchange.state(before, self.mask), renamed_step(step, exchange.names), exchange.state(after, self.mask)
        return image, self._holds(*item) == self._holds(*image)

    def _holds(self, before: State | None, step: Step | None, after: State) -> bool:
        key = (before, step, after)
        if key not in self._known:
            was = None if before is None else self._show(before)
            self._known[key] = self.promise.holds(self.system, was, step, self._show(after)) is None
        return self._known[key]

    def _show(self, part: State) -> State:
        return part & self._shown | self._hidden
