"""Compares each claim of a transition relation with the promise of the model that has the same name.

Both are judged in each visited step: a promise about states in the state after the step, a promise about steps at the
step. A step counts only if neither side has been broken on a way to the state before it, so that the first violations
are compared. Under the default protocol no promise is broken; the weaker protocols that the relation describes break
some.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from nbcc.model import Model, State, Step
from nbcc.model.promises import PROMISES, Promise
from nbcc.simulator.search.explore import explore
from nbcc.simulator.search.prove.lemmas import Lemmas
from nbcc.simulator.search.prove.system import Claim, ProvedSystem
from nbcc.simulator.search.prove.worlds import models, most_judged, protocols, reachable

from .bridge import values_of
from .finite import Explorer, Finite
from .worlds import elements_of

RARE: Final = frozenset({"ARCH", "FREE", "LAWS"})
"""Promises that no walk of a few states breaks."""
LONG_RUNS: Final = frozenset({"resizes"})
"""Files of lemmas whose weaker protocols break every promise in long runs only."""
SEARCHED: Final = 3_000
"""In how many states of a small world a run is searched that breaks a promise under a weaker protocol."""


Visited = tuple[State, list[tuple[Step, State]]]
"""A state of the model with its steps."""


class Judged:
    """How the claims of a relation and a promise of the model agree.

    `steps` counts the steps in which both were judged, and `broken` those that break both. `weaker` maps the option of
    a protocol to the steps that break the promise and no claim, and `stronger` to those that break a claim only.
    """

    def __init__(self) -> None:
        self.steps = self.broken = 0
        self.weaker: dict[str, int] = {}
        self.stronger: dict[str, int] = {}

    def add(self, option: str, kept: bool, holds: bool) -> None:
        self.steps += 1
        self.broken += not kept and not holds
        if kept != holds:
            table = self.weaker if kept else self.stronger
            table[option] = table.get(option, 0) + 1


class Timed(Finite):
    """A state with a time for the free variable of the claims, which records whether a claim reads it."""

    # Names that no relation has: the other attributes of a state are its relations.
    _time_is_read = False
    _now = 0

    def time(self) -> int:
        self._time_is_read = True
        return self._now


class Seen(NamedTuple):
    """A state of the model with its views in the relation, one for each time, and the promises that it keeps."""

    views: tuple[Timed, ...]
    claims_hold: dict[str, bool]
    promise_holds: dict[str, bool]


def judge(
    lemmas: Lemmas, times: int = 1, every: bool = False, only: Collection[str] | None = None
) -> dict[str, Judged]:
    """Compare the claims of a file of lemmas with the promises of the model in its small worlds, in `times` as many
    states as by day. If `only` is given, compare them only under the protocols with these options.
    """
    judged = {claim.promise: Judged() for claim in lemmas.system().claims}
    for option, protocol in protocols(lemmas, every):
        if only is not None and option not in only:
            continue
        system, reason = lemmas.under(protocol.to_mapping())
        assert system is not None, reason
        for model in models(lemmas.name, protocol):
            rare = judged.keys() if lemmas.name in LONG_RUNS else RARE
            runs = _broken_runs(model, [PROMISES[name] for name in judged if option and name in rare])
            _judge_in(model, system, option, (*reachable(model, times * most_judged(lemmas.name)), *runs), judged)
    return judged


def _judge_in(
    model: Model, system: ProvedSystem, option: str, visited: Iterable[Visited], judged: dict[str, Judged]
) -> None:
    explorer = Explorer(system, elements_of(model, system))
    claims: dict[str, list[Claim]] = {}
    for claim in system.claims:
        if PROMISES[claim.promise].unfit(model) is None:
            claims.setdefault(claim.promise, []).append(claim)
    states: dict[State, Seen] = {}

    def seen(state: State) -> Seen:
        if state not in states:
            states[state] = _seen(model, explorer, claims, state)
        return states[state]

    unbroken = {(name, model.initial) for name in claims}
    for state, after in visited:
        before = seen(state)
        for step, following in after:
            now = seen(following)
            for name, of_it in claims.items():
                if (name, state) in unbroken:
                    kept = now.claims_hold[name] and all(_keeps(claim, before, now) for claim in of_it)
                    holds = now.promise_holds[name] and _holds(PROMISES[name], model, state, step, following)
                    judged[name].add(option, kept, holds)
                    if kept and holds:
                        unbroken.add((name, following))


def _broken_runs(model: Model, promises: list[Promise]) -> Iterator[Visited]:
    """Yield the states of the shortest run that breaks each promise, each with its step of the run."""
    promises = [promise for promise in promises if promise.unfit(model) is None]
    found = explore(model, promises, max_states=SEARCHED).promises if promises else {}
    for each in found.values():
        state = model.initial
        for step in each.trace or ():
            following = model.apply(state, step)
            yield state, [(step, following)]
            state = following


def _seen(model: Model, explorer: Explorer, claims: dict[str, list[Claim]], state: State) -> Seen:
    table = explorer.table(values_of(explorer, model, state))
    views = []
    # The entries of a decision log give times that may be ahead of the clock.
    for time in range(max(table["clock",], table.get(("reserved",), 0)) + 2):
        views.append(Timed(explorer.instance.elements, table))
        views[-1]._now = time
    hold = {name: all(_true(claim.holds, *((view,) for view in views)) for claim in of_it if claim.holds is not None)
            for name, of_it in claims.items()}  # fmt: skip
    of_states = {name: PROMISES[name].kind != "state" or PROMISES[name].holds(model, None, None, state) is None
                 for name in claims}  # fmt: skip
    return Seen(tuple(views), hold, of_states)


def _keeps(claim: Claim, before: Seen, now: Seen) -> bool:
    return claim.step is None or _true(claim.step, *zip(before.views, now.views, strict=False))


def _true(formula: Any, *cases: tuple[Timed, ...]) -> bool:
    """True if a formula is true at each time; a formula that reads no time is evaluated once."""
    for case in cases:
        for view in case:
            view._time_is_read = False
        if not formula(*case):
            return False
        if not any(view._time_is_read for view in case):
            return True
    return True


def _holds(promise: Promise, model: Model, state: State, step: Step, following: State) -> bool:
    return promise.kind == "state" or promise.holds(model, state, step, following) is None
