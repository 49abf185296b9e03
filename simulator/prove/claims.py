"""Compares each claim of a transition relation with the promise of the model that has the same name.

Both are judged in each visited step: a promise about states in the state after the step, a promise about steps at the
step. A step counts only if neither side is broken in the state before it, so that the first violations are compared.
Under the default protocol no promise is broken; the weaker protocols that the relation describes break some.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final, NamedTuple

from nbcc.model import Model, Protocol, State, Step
from nbcc.model.promises import PROMISES, Promise
from nbcc.simulator import specs

from .bridge import reachable, values_of
from .finite import Explorer
from .lemmas import Lemmas
from .lemmas.options import Options
from .logic import Finite
from .system import Claim, System
from .worlds import elements_of, models

UNMAPPED: Final = frozenset({"replacing"})
"""Options whose weaker values have no interpretation: an overwriter by file ids has no plan in the model."""


def most_judged(name: str) -> int:
    """Return in how many states of a small world the claims of a file are judged; every night, in ten times as many.
    The claims of a mechanism's file are mostly those of the core; runs that break FIRST are long.
    """
    return {"core": 60, "optimistic": 150}.get(name, 30)


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


def protocols(lemmas: Lemmas, every: bool = False) -> Iterator[tuple[str, Protocol]]:
    """Yield the protocol of a file of lemmas, and each protocol with one weaker option that the relation describes.
    Without `every`, a mechanism's file changes only the options that the mechanism adds to those of the core.
    """
    usual = specs.protocol(lemmas.protocol)
    yield "", usual
    of_core = {each.name for each in fields(Options)} | UNMAPPED
    for name, values in lemmas.described().items():
        for value in values if name not in (UNMAPPED if every or lemmas.name == "core" else of_core) else ():
            if value != usual.to_mapping()[name]:
                yield f"{name} = {value}", Protocol.from_mapping({**usual.to_mapping(), name: value})


def judge(lemmas: Lemmas, times: int = 1, every: bool = False) -> dict[str, Judged]:
    """Compare the claims of a file of lemmas with the promises of the model in its small worlds, in `times` as many
    states as by day.
    """
    judged = {claim.promise: Judged() for claim in lemmas.system().claims}
    for option, protocol in protocols(lemmas, every):
        system, reason = lemmas.under(protocol.to_mapping())
        assert system is not None, reason
        for model in models(lemmas.name, protocol):
            _judge_in(model, system, option, times * most_judged(lemmas.name), judged)
    return judged


def _judge_in(model: Model, system: System, option: str, most: int, judged: dict[str, Judged]) -> None:
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

    for state, after in reachable(model, most):
        before = seen(state)
        for step, following in after:
            now = seen(following)
            for name, of_it in claims.items():
                if before.claims_hold[name] and before.promise_holds[name]:
                    kept = now.claims_hold[name] and all(_keeps(claim, before, now) for claim in of_it)
                    holds = now.promise_holds[name] and _holds(PROMISES[name], model, state, step, following)
                    judged[name].add(option, kept, holds)


def _seen(model: Model, explorer: Explorer, claims: dict[str, list[Claim]], state: State) -> Seen:
    values = values_of(explorer, model, state)
    views = []
    for time in range(model.component(state, "clock") + 2):
        views.append(Timed(explorer.instance.elements, explorer.table(values)))
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
