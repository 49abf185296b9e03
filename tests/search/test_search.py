"""The search itself: order, counterexamples, bounds, deadlock, canary, verdicts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

from nbcc.model import Model
from nbcc.model.machine.state import Coding, UndeclaredRead
from nbcc.model.promises import PROMISES
from nbcc.model.promises.promise import NotJudged
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore, worst


class Tick(NamedTuple):
    actor: str
    action: str
    args: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Counters:
    """Two counters up to `most`; only enabled and apply, as a stranger's system may have it."""

    most: int
    initial: tuple[int, int] = (0, 0)
    stuck: tuple[int, int] | None = None

    def enabled(self, state: tuple[int, int]) -> list[Tick]:
        if state == self.stuck:
            return []
        return [Tick(f"a{i}", "actor_counts") for i in (0, 1) if state[i] < self.most]

    def apply(self, state: tuple[int, int], step: Tick) -> tuple[int, int]:
        i = int(step.actor[1])
        return (state[0] + (i == 0), state[1] + (i == 1))

    def finished(self, state: tuple[int, int]) -> bool:
        return state == (self.most, self.most)


class Rule(NamedTuple):
    name: str
    kind: str
    holds: Any
    sometimes: Any = lambda system, state: True


BELOW = Rule(
    "BELOW", "state", lambda system, before, step, after: None if sum(after) < 3 else f"the sum is {sum(after)}"
)
SLOW = Rule("SLOW", "step", lambda system, before, step, after: "a1 went first" if after == (0, 1) else None)
FINE = Rule("FINE", "state", lambda system, before, step, after: None)
NEVER = Rule("NEVER", "state", lambda system, before, step, after: None, lambda system, state: False)


def test_sizes_of_a_system_with_enabled_and_apply_alone() -> None:
    result = explore(Counters(2))

    assert (result.distinct, result.generated, result.depth) == (9, 13, 5)
    assert result.deadlock is None
    assert result.ends == 1


def test_several_promises_in_one_search_each_with_a_shortest_counterexample() -> None:
    result = explore(Counters(3), [BELOW, SLOW, FINE])

    assert {name: (found.verdict, found.steps) for name, found in result.promises.items()} == {
        "BELOW": (Verdict.VIOLATED, 3),
        "SLOW": (Verdict.VIOLATED, 1),
        "FINE": (Verdict.HOLDS, None),
    }
    assert result.promises["BELOW"].because == "the sum is 3"
    assert result.promises["SLOW"].trace == (Tick("a1", "actor_counts"),)


@pytest.mark.parametrize(("promises", "most"), [([BELOW, SLOW], 12), ([BELOW, SLOW, FINE], 64)])
def test_a_search_may_stop_when_every_promise_is_violated(promises: list[Rule], most: int) -> None:
    whole, part = explore(Counters(7), promises), explore(Counters(7), promises, until_all_broken=True)

    assert part.promises == whole.promises
    assert part.stopped is None
    assert part.distinct <= most
    assert (part.distinct == whole.distinct) == (FINE in promises)


def test_a_promise_that_was_never_put_to_the_test_is_undetermined() -> None:
    found = explore(Counters(1), [NEVER]).promises["NEVER"]

    assert found.verdict is Verdict.UNDETERMINED
    assert found.because == "no state was reached that tests the promise"


def test_a_step_promise_is_held_to_steps_between_known_states_too() -> None:
    """The step into (1, 1) from (1, 0) is not the one that discovered it."""
    both = Rule(
        "BOTH", "step", lambda system, before, step, after: "late" if (before, after) == ((0, 1), (1, 1)) else None
    )

    assert explore(Counters(1), [both]).promises["BOTH"].steps == 2


def test_a_deadlock_is_reported_with_the_way_to_it() -> None:
    result = explore(Counters(2, stuck=(1, 1)))

    assert result.deadlock is not None
    assert len(result.deadlock) == 2


@pytest.mark.parametrize(
    ("bounds", "because"),
    [({"max_states": 100}, "more than 100 distinct states"), ({"memory": 0.001}, "more than 0.001 GiB of memory")],
)
def test_a_bound_leaves_everything_undetermined_that_was_not_seen_broken(bounds: Any, because: str) -> None:
    result = explore(Counters(200), [BELOW, FINE], **bounds)

    assert result.stopped == because
    assert result.promises["FINE"].verdict is Verdict.UNDETERMINED
    assert result.promises["FINE"].because == because
    assert result.promises["BELOW"].verdict is Verdict.VIOLATED
    assert result.verdict is Verdict.VIOLATED


def test_a_canary_that_lives_makes_every_proof_worthless() -> None:
    dead, alive = explore(Counters(3), [FINE], canary=BELOW), explore(Counters(1), [FINE], canary=BELOW)

    assert (dead.canary, dead.verdict) == (True, Verdict.HOLDS)
    assert (alive.canary, alive.verdict) == (False, Verdict.UNDETERMINED)
    assert alive.promises["FINE"].because == "the canary BELOW was not found violated: this search proves nothing"


def test_progress_is_reported() -> None:
    reports: list[tuple[int, int, int, int]] = []
    explore(Counters(100), progress=lambda *figures: reports.append(figures))

    assert reports
    assert [each[:3] for each in reports] == sorted(each[:3] for each in reports)
    assert reports[-1][3] == 0


@pytest.mark.parametrize(
    ("name", "forgotten", "change"),
    [
        ("MONO", "plans", {}),
        ("QUIET", "plans", {}),
        ("SNAP", "r1", {}),
        ("FREE", "lock", {"holds": lambda model, before, step, after: model.component(after, "lock")}),
        ("CDC", "clock", {"sometimes": lambda model, state: model.component(state, "clock") > 3}),
    ],
)
def test_a_promise_that_looks_at_what_it_does_not_declare_fails(
    name: str, forgotten: str, change: dict[str, Any]
) -> None:
    """It is judged once for all states that agree on what it declares: of another component it would see one value."""
    model = specs.system("readers")
    right = PROMISES[name]
    wrong = replace(
        right, **change, reads=lambda model: tuple(each for each in right.reads(model) if each != forgotten)
    )

    with pytest.raises(UndeclaredRead, match=f"^{forgotten} is masked: a function that reads it must declare it$"):
        explore(model, [wrong])
    assert not change or explore(model, [replace(wrong, reads=lambda model: (*right.reads(model), forgotten))])


def test_what_is_not_asked_for_is_hidden_and_the_rest_is_not() -> None:
    coding = Coding({"one": 0, "other": 0})
    assert coding.value(coding.mask_undeclared(["one"]), coding.place["one"]) == 0
    with pytest.raises(UndeclaredRead):
        coding.read(coding.mask_undeclared(["one"]), coding.place.values())


def test_a_world_without_a_compactor_is_none_that_quiet_speaks_of() -> None:
    result = explore(Model(specs.world("demo").replace(actors={"writer": 2})), list(PROMISES.values()))

    assert result.promises["QUIET"].verdict is Verdict.NOT_APPLICABLE
    assert result.promises["QUIET"].because == "the world has no table service"


V, U, H, N = Verdict.VIOLATED, Verdict.UNDETERMINED, Verdict.HOLDS, Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(("several", "one"), [([H, V, U], V), ([H, U, N], U), ([N, H], H), ([N], N), ([], N)])
def test_the_worst_verdict_speaks_for_all(several: list[Verdict], one: Verdict) -> None:
    assert worst(several) is one


def test_the_json_of_a_search() -> None:
    result = explore(specs.system("demo", "unsettled-read"), list(PROMISES.values()))
    report = json.loads(json.dumps(result.to_json("demo", "unsettled-read")))

    assert {name: report[name] for name in ("format", "world", "protocol", "distinct", "generated", "depth")} == {
        "format": 1, "world": "demo", "protocol": "unsettled-read", "distinct": 415, "generated": 595, "depth": 19,
    }  # fmt: skip
    travel = report["promises"]["TRAVEL"]
    assert (travel["verdict"], travel["steps"], travel["bound"]) == (
        "VIOLATED", 6, "415 states, 595 generated, depth 19",
    )  # fmt: skip
    assert travel["trace"][2] == {
        "actor": "w1", "action": "writer_writes_log", "args": {"group": 0, "version": 1},
    }  # fmt: skip
    assert report["promises"]["SNAP"] == {
        "verdict": "HOLDS", "bound": travel["bound"], "steps": None, "trace": None, "because": None,
    }  # fmt: skip


def test_a_promise_that_cannot_be_judged_ends_the_search() -> None:
    def refuses(system: Any, before: Any, step: Any, after: tuple[int, int]) -> str | None:
        if after == (1, 2):
            raise NotJudged("3 is more than can be judged")
        return None

    found = explore(Counters(most=3), [Rule("BELOW", "state", refuses)])
    assert found.stopped == "3 is more than can be judged"
    assert found.generated >= found.distinct, "the successors before it are counted"
    assert found.promises["BELOW"].verdict is Verdict.UNDETERMINED
