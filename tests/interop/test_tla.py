"""The TLA+ twin in specs/tla: TLC finds the same sizes, depths and verdicts, also for weaker protocols and mutants."""

from __future__ import annotations

from typing import Any

import pytest

from examples.two_phase_commit import TwoPhaseCommit
from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.search.explore.search import Bounds, Search
from nbcc.simulator.search.explore.space import Reduced
from nbcc.simulator.search.explore.watch import Watchers
from tools.tlc import FAULTS, configuration, tlc
from tools.tlc.settings import INVARIANTS, SAME

DEMO, CRASH = specs.world("demo"), specs.world("crash_resume")
RIVALS = World(actors={"writer": 1, "compactor": 2})
WORLDS: dict[str, tuple[World, Protocol]] = {
    "demo": (DEMO, Protocol()),
    "two writes each": (specs.world("core_small"), Protocol()),
    "a crash": (CRASH, Protocol()),
    "two compactors of one plan": (RIVALS.replace(buckets=2), Protocol()),
    "plans checked before the lock": (CRASH, Protocol(plan_check="before_lock")),
    "two groups": (DEMO.replace(buckets=2), Protocol()),
    "three writers": (World(actors={"writer": 3, "compactor": 1}), Protocol()),
    "sliced by requested time": (DEMO, Protocol(slicing="requested")),
    "time outside the lock": (DEMO, Protocol(completion_time="outside_lock")),
    "plans of any log": (DEMO.replace(crashes=1), Protocol(plan_takes="any_log")),
    "serial plans": (DEMO, Protocol(scheduling="serial")),
    "locks that never expire": (CRASH, Protocol(lock_expiry="never")),
}
SHOWN_IN = {
    "plan-completed-twice": RIVALS,
    "completion-not-found-by-planner": World(actors={"writer": 3, "compactor": 1}),
}
BY_ROWS = {"completion-time-not-new": {"SNAP"}}
"""What ours sees and files do not show: at equal completion times files do not show which row is the later one."""


def ours(model: Model) -> dict[str, int]:
    """The promises that both state, with the length of a shortest counterexample of those that are broken."""
    found = explore(model, [PROMISES[name] for name in INVARIANTS], reduce=True).promises
    return {name: each.steps or 0 for name, each in found.items() if each.verdict is Verdict.VIOLATED}


@pytest.mark.parametrize("name", WORLDS)
def test_the_twin_has_the_same_size(name: str) -> None:
    world, protocol = WORLDS[name]
    here, there = explore(Model(world, protocol)), tlc(configuration(world, protocol, invariants=()))

    assert (there.distinct, there.generated, there.depth) == (here.distinct, here.generated, here.depth)


@pytest.mark.parametrize("name", WORLDS)
def test_the_twin_gives_the_same_verdicts(name: str) -> None:
    world, protocol = WORLDS[name]

    assert verdicts(world, protocol) == ours(Model(world, protocol))


@pytest.mark.parametrize("name", FAULTS)
def test_a_mutant_of_both_is_the_same_mutant(name: str) -> None:
    mutant = mutants.load(name)
    world = specs.world(mutant.world) if mutant.world else DEMO
    world = SHOWN_IN.get(name, world)
    with mutants.applied(mutant):
        model = Model(world, Protocol())
        here, found = explore(model), ours(model)
    there = tlc(configuration(world, Protocol(), FAULTS[name], invariants=()))

    assert found
    assert (there.distinct, there.generated, there.depth) == (here.distinct, here.generated, here.depth)
    seen = {promise: steps for promise, steps in found.items() if promise not in BY_ROWS.get(name, ())}
    assert verdicts(world, Protocol(), FAULTS[name]) == seen


def verdicts(world: World, protocol: Protocol, fault: str = "none") -> dict[str, int]:
    """TLC stops at the first invariant that breaks: what it has found is left out of the next run."""
    found: dict[str, int] = {}
    while left := tuple(name for name in INVARIANTS if name not in found):
        ran: Any = tlc(configuration(world, protocol, fault, left), workers=1)
        if ran.violated is None:
            break
        found[ran.violated] = ran.steps
    return found


def test_two_phase_commit_has_the_same_size() -> None:
    managers = "{m1, m2, m3}"
    values = "\n".join(f"{name} = {name}" for name in ("m1", "m2", "m3"))
    given = f"CONSTANTS\n{values}\nManagers = {managers}\nINIT Init\nNEXT Next\nINVARIANT Consistent\n"
    here, there = explore(TwoPhaseCommit(3)), tlc(given, "TwoPhaseCommit")

    assert (there.distinct, there.generated, there.depth) == (here.distinct, here.generated, here.depth)
    assert tlc(f"{given}SYMMETRY Same\n", "TwoPhaseCommit").distinct < there.distinct


def test_with_symmetry_tlc_keeps_what_the_search_keeps() -> None:
    """One state for all that differ in the names of writers alone: as many as the search keeps, unfused."""
    kept = explore(Model(DEMO), [PROMISES["MONO"]], reduce=True)
    there = tlc(configuration(DEMO, Protocol(), invariants=(), symmetric=True), more=SAME)
    symmetry = Reduced(Model(DEMO), [PROMISES["MONO"]], fuse=False)
    search = Search(symmetry, Watchers(Model(DEMO), []), Bounds())
    search.run()

    assert there.distinct == len(search.states)
    assert kept.stands_for == search.walk.stands_for == explore(Model(DEMO)).distinct


def test_what_the_twin_has_no_words_for_is_refused() -> None:
    with pytest.raises(ValueError, match="the twin does not have the option merge_order"):
        configuration(DEMO, Protocol(merge_order="requested"))
