"""Actors of a foreign system that differ in few states alone: a reduced search finds what the whole one finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from examples.hudi_v5 import INVARIANTS, Constants, HudiV5
from nbcc.model import State
from nbcc.model.machine import Guard, Transition, TransitionSystem, transition
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.search.explore.symmetry_detection import classes

ACTORS = ("a1", "a2")
FAR = 70
Breaks = Callable[[str, int, int], bool]


@dataclass(frozen=True)
class Never:
    """A promise that nothing is ever bad."""

    name: str = "NEVER"
    kind: str = "state"
    looks_at: tuple[str, ...] = ("bad",)
    bad: Callable[[Any, State], bool] = lambda system, state: bool(system.component(state, "bad"))

    def holds(self, system: TransitionSystem, before: State, step: Any, after: State) -> str | None:
        return "bad" if self.bad(system, after) else None

    def sometimes(self, system: TransitionSystem, state: State) -> bool:
        return True

    def reads(self, system: TransitionSystem) -> tuple[str, ...]:
        return self.looks_at


class Far(TransitionSystem):
    """Two actors that count in turn up to a limit; `breaks(me, own, other)` is when `me` may do something bad."""

    ends_at: str | None = None

    def __init__(
        self, breaks: Breaks, breaker: tuple[str, ...] = ACTORS, *, far: int = FAR, of_own: bool = False
    ) -> None:
        first = {"a1": 0, "a2": 0, "bad": 0, "turn": 0}
        super().__init__(first, self._rows(breaks, breaker, far, of_own), {"actor": ACTORS})

    def _rows(self, breaks: Breaks, breaker: tuple[str, ...], far: int, of_own: bool) -> Iterator[Transition]:
        def may(me: str, every_actor: dict[str, int], bad: int) -> bool:
            mine, other = (every_actor[name] for name in sorted(ACTORS, key=me.__ne__))
            return not bad and (of_own or breaks(me, mine, other))

        below, alone = Guard("below", lambda own: own < far), Guard("may", may)
        first = [Guard("own", lambda me, own: breaks(me, own, 0))] if of_own else []
        for me in ACTORS:
            yield transition("steps", me, guards=[below], effect=_steps, changes=("own", "turn"))
            if me in breaker:
                yield transition("breaks", me, guards=[*first, alone], effect=lambda: {"bad": 1}, changes=("bad",))

    def finished(self, state: State) -> bool:
        return self.ends_at is None or self.component(state, self.ends_at) < FAR


def _steps(own: int, turn: int) -> dict[str, int]:
    return {"own": own + 1, "turn": 1 - turn}


def only_first(me: str, own: int, other: int) -> bool:
    return me == "a1" and own == FAR and other == 0


def never(*_: Any) -> bool:
    return False


def first_is_far(system: TransitionSystem, state: State) -> bool:
    return bool(system.component(state, "a1") == FAR and system.component(state, "a2") < FAR)


def second_is_far(system: TransitionSystem, state: State) -> bool:
    return bool(system.component(state, "a2") == FAR and system.component(state, "a1") < FAR)


class EndsBadly(Far):
    """Only one of the actors may stop far away."""

    ends_at = "a1"


HOLES: dict[str, tuple[Callable[[], TransitionSystem], Never]] = {
    "an action of one alone": (lambda: Far(only_first, ("a1",)), Never()),
    "a condition": (lambda: Far(only_first), Never()),
    "a condition on the own component": (lambda: Far(only_first, of_own=True), Never()),
    "a promise": (lambda: Far(never), Never(looks_at=ACTORS, bad=first_is_far)),
    "a promise on the other": (lambda: Far(never), Never(looks_at=ACTORS, bad=second_is_far)),
    "a promise that reads one": (
        lambda: Far(never), Never(looks_at=("a2",), bad=lambda system, state: system.component(state, "a2") == FAR)
    ),
    "a promise over steps": (lambda: Far(never), Never(kind="step", looks_at=ACTORS, bad=first_is_far)),
}  # fmt: skip


@pytest.mark.parametrize("hole", HOLES)
def test_what_the_whole_search_finds_the_reduced_one_finds(hole: str) -> None:
    system, promise = HOLES[hole]
    whole, reduced = explore(system(), [promise]), explore(system(), [promise], reduce=True)
    assert whole.promises["NEVER"].verdict is Verdict.VIOLATED
    assert reduced.promises["NEVER"].verdict is Verdict.VIOLATED
    assert reduced.promises["NEVER"].steps == whole.promises["NEVER"].steps


@pytest.mark.parametrize("far", [20, 90, 150])
def test_the_sample_does_not_decide(far: int) -> None:
    def system() -> TransitionSystem:
        return Far(lambda me, own, other: me == "a1" and own == far and other == 0, far=far)

    result = explore(system(), [Never()], reduce=True)
    assert (result.promises["NEVER"].verdict, result.promises["NEVER"].steps) == (Verdict.VIOLATED, far + 1)


def test_the_sample_alone_would_not_see_it_and_the_result_says_so(tmp_path: Path) -> None:
    system = Far(only_first)
    assert classes(system, [Never()]) == [["a1", "a2"]]
    result = explore(system, [Never()], reduce=True, checkpoint=tmp_path / "kept")
    assert result.reductions == (
        "searched again without reduction: a1 and a2 cannot be exchanged: the action breaks differs",
    )
    assert result.stands_for is None


def test_an_end_that_only_one_may_reach() -> None:
    for reduce in (False, True):
        assert explore(EndsBadly(never), [Never()], reduce=reduce).deadlock is not None


def test_a_search_that_is_cut_short_proves_nothing() -> None:
    result = explore(Far(only_first), [Never()], reduce=True, max_states=300)
    assert result.promises["NEVER"].verdict is Verdict.UNDETERMINED


def test_actors_that_are_alike_are_still_exchanged() -> None:
    same = explore(Far(lambda me, own, other: own == FAR and other == 0), [Never()], reduce=True)
    assert same.reductions == ("a1 and a2 are exchangeable",)
    assert same.promises["NEVER"].steps == FAR + 1
    checked = HudiV5(Constants(operations=2))
    checked.uniform = False
    hudi = explore(checked, INVARIANTS, reduce=True)
    assert "w1 and w2 are exchangeable, k1 and k2 are exchangeable, v1 and v2 are exchangeable" in hudi.reductions
