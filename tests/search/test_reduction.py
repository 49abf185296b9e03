"""Reductions lose nothing: same verdicts, same lengths, same outcomes, and what they keep stands for every state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, permutations, product
from typing import Any

import pytest

from nbcc.model import Model, Protocol, State, World
from nbcc.model.machine import Guard, Transition, TransitionSystem, become, transition
from nbcc.model.promises import PROMISES
from nbcc.model.promises.conflicts import under_occ
from nbcc.model.promises.writers import CANARY
from nbcc.simulator import specs
from nbcc.simulator.cli.explore import report
from nbcc.simulator.cli.search import FinishedSearch
from nbcc.simulator.lockstep.counterexample import counterexample
from nbcc.simulator.search.explore import Result, Verdict, explore
from nbcc.simulator.search.explore.renaming import renamed_state
from nbcc.simulator.search.explore.search import Bounds, Search
from nbcc.simulator.search.explore.space import Reduced, Space
from nbcc.simulator.search.explore.symmetry import Symmetry
from nbcc.simulator.search.explore.symmetry_detection import Exchange, PropertyCache
from nbcc.simulator.search.explore.watch import Watchers

from .pins import SIZES, pairs

EVERY = list(PROMISES.values())
SMALL = [
    name for name, size in SIZES["worlds"].items()
    if size["distinct"] < 10_000 and not size.get("nightly")
]  # fmt: skip
EVERY_CASE = [(name, "default") for name in SMALL] + [(pin["world"], name) for name, pin in SIZES["protocols"].items()]
BY_DAY = {
    ("demo", "default"), ("log_versions", "default"), ("write_skew", "default"), ("write_skew", "occ-reads-ignored"),
    ("demo", "completion-outside-lock"), ("demo", "tombstones-dropped"), ("occ_two_groups", "occ"),
    ("lost_lock", "fenced-store"),
}  # fmt: skip
CASES = [pytest.param(*each, marks=() if each in BY_DAY else pytest.mark.nightly) for each in EVERY_CASE]
CREWS = {
    "three writers": World(actors={"writer": 3}),
    "a crash": specs.world("demo").replace(crashes=1),
    "two groups": specs.world("demo").replace(buckets=2),
    "shapes that differ": specs.world("demo").replace(buckets=2, writes={("w1", 1): (1, 0)}),
}


def verdicts_of(result: Result) -> dict[str, Any]:
    """Promise -> verdict and length; the names of exchangeable actors do not matter."""
    return {name: (found.verdict, found.steps) for name, found in result.promises.items()}


@cache
def reduced(world: str, protocol: str) -> Result:
    return explore(specs.system(world, protocol), EVERY, canary=CANARY, reduce=True)


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_verdicts_lengths_and_sizes_are_the_same(world: str, protocol: str) -> None:
    model = specs.system(world, protocol)
    whole = explore(model, EVERY, canary=CANARY)
    less = reduced(world, protocol)

    assert verdicts_of(less) == verdicts_of(whole)
    assert (less.stands_for or less.distinct) == whole.distinct
    # FIRST looks at optimistic writers, who may abort, and not each of their worlds has two that are alike.
    if not any(under_occ(model, me) for me in model.actors_of("writer")):
        assert (less.distinct < whole.distinct) == bool(less.reductions)
        assert less.reductions or world in NOTHING_TO_REDUCE or max(model.world.actors.values()) == 1
    assert less.canary is True
    assert (less.deadlock is None) == (whole.deadlock is None)


NOTHING_TO_REDUCE = {"sent_otherwise"}
"""Worlds with two actors of a kind who are not alike, and whose every step is observed."""
BIG = {"two groups", "shapes that differ"}
"""Crews of many states."""
SOME_CREWS = [pytest.param(crew, marks=pytest.mark.nightly if crew in BIG else ()) for crew in CREWS]
PROTOCOLS = {
    "default": Protocol(),
    "plans take any log": Protocol(plan_takes="any_log"),
    "logs name their base": Protocol(slicing="base_instant"),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("crew", SOME_CREWS)
def test_the_same_outcomes_are_reached(crew: str, protocol: str) -> None:
    model = Model(CREWS[crew], PROTOCOLS[protocol])
    reduced = Reduced(model, EVERY)
    kept = reduced.canonical or (lambda state: state)
    less = walked(reduced)

    assert {kept(end) for state in less for end in dead_ends(reduced, state)} == {
        kept(state) for state in walked(Space(model)) if not model.enabled(state)
    }
    assert sum(map(reduced.stands_for, less)) == len(walked(Space(model)))


def walked(space: Space) -> list[State]:
    search = Search(space, Watchers(space.system, []), Bounds())
    assert search.run() is None
    return list(search.states)


def dead_ends(space: Space, state: State) -> list[State]:
    return [] if next(space.successors(state), None) else list(space.ends(state))


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_a_counterexample_of_a_reduced_search_is_a_run(world: str, protocol: str) -> None:
    model = specs.system(world, protocol)
    for name, found in reduced(world, protocol).promises.items():
        if found.trace is not None:
            before = after = model.initial
            for step in found.trace:
                before, after = after, model.apply(after, step)
            assert PROMISES[name].holds(model, before, found.trace[-1], after) == found.because


@pytest.mark.parametrize(
    "crew", [pytest.param(crew, marks=pytest.mark.nightly if crew == "two groups" else ()) for crew in CREWS]
)
def test_exchanging_is_admitted_where_it_commutes_everywhere(crew: str) -> None:
    """What the first states say of a pair, all states say."""
    model = Model(CREWS[crew])
    admitted = {frozenset((a, b)) for each in Symmetry(model, EVERY).classes for a in each for b in each if a != b}
    states = walked(Space(model))[::5]
    cache = PropertyCache(model, [promise for promise in EVERY if not promise.unfit(model)])

    for names in pairs(model):
        exchange = Exchange(cache, names)
        broken = next((why for state in states if (why := exchange.difference(state))), None)
        assert (broken is None) == (frozenset(names) in admitted), broken
    assert bool(admitted) == (crew != "shapes that differ")


STALLED = World(actors={"writer": 2, "rollbacker": 1}, stalls=1, rollbacks=1)
ONE_CHOOSES = {
    "FREE": (World(actors={"writer": 2}, skew=1, settings={"w2": {"lock_wait": "times_out"}}), 8),
    "FIRST": (STALLED.replace(settings={"w1": {"concurrency": "single_writer"}}), 12),
}


@pytest.mark.parametrize("promise", ONE_CHOOSES)
def test_who_chooses_otherwise_is_not_exchanged(promise: str) -> None:
    """However late it shows: in these worlds in no state that is looked at before a search."""
    crew, steps = ONE_CHOOSES[promise]
    found = explore(Model(crew), [PROMISES[promise]], reduce=True)

    assert found.promises[promise].steps == steps
    assert not any("exchangeable" in each for each in found.reductions)


@pytest.mark.parametrize(
    "apart",
    [
        {"settings": {"w2": {"lock_wait": "times_out"}}},
        {"buckets": 2, "writes": {("w2", 2): (1, 0)}},
        {"reads": {("w2", 2): ()}},
        {"resends": 1},
    ],
)
def test_of_whom_a_world_says_something_else(apart: dict[str, Any]) -> None:
    crew = World(actors={"writer": 3}, writes_per_writer=2, **apart)
    other = "w3" if "resends" in apart else "w2"
    three = {"w1", "w2", "w3"}

    for one, two in product(three, three):
        assert crew.alike(one, two) == ((one == other) == (two == other))


NAMES = ("a1", "a2", "a3", "a4")


def parade() -> TransitionSystem:
    """Four actors whose names come to stand in two sets, in a row, and in each other's components."""

    def rows() -> Iterator[Transition]:
        def joined(me: str, club: Any, sick: Any, *, ill: int) -> dict[str, Any]:
            return {"own": "in", "club": club | {me}, "sick": sick | {(me, ill), (ill, me)} if ill else sick}

        def marched(me: str, row: tuple[str, ...]) -> dict[str, Any]:
            return {"own": row[-1] if row else "first", "row": (*row, me)}

        out, inside = Guard("its turn", lambda own: own == "out"), Guard("its turn", lambda own: own == "in")
        for me in NAMES:
            yield transition("joins", me, guards=[out], effect=joined, changes=("own", "club", "sick"),
                             arguments=lambda: [(("ill", badly),) for badly in range(3)])  # fmt: skip
            yield transition("marches", me, guards=[inside], effect=marched, changes=("own", "row"))

    first = {"club": frozenset(), "sick": frozenset(), "row": (), **dict.fromkeys(NAMES, "out")}
    return TransitionSystem(first, rows(), {"actor": NAMES})


def alone() -> TransitionSystem:
    """Two actors, and nothing that could name them."""
    here = Guard("here", lambda own: own == "here")
    rows = (transition("goes", me, guards=[here], effect=become("gone")) for me in NAMES[:2])
    return TransitionSystem(dict.fromkeys(NAMES[:2], "here"), rows, {"actor": NAMES[:2]})


def numbered() -> TransitionSystem:
    """Two actors; a component that is a number first names the last who acted."""

    def rows() -> Iterator[Transition]:
        def acts(me: str) -> dict[str, str]:
            return {"own": "in", "last": me}

        out, was = Guard("out", lambda own: own == "out"), Guard("last", lambda me, last: last == me)
        for me in NAMES[:2]:
            yield transition("acts", me, guards=[out], effect=acts, changes=("own", "last"))
            yield transition("goes", me, guards=[was], effect=become("gone"))

    return TransitionSystem({"last": 0, **dict.fromkeys(NAMES[:2], "out")}, rows(), {"actor": NAMES[:2]})


class Stranding(TransitionSystem):
    """An actor may get stuck in an unobserved step instead of doing its work."""

    def __init__(self) -> None:
        ready = Guard("ready", lambda own: own == "ready")
        works = transition("works", "a1", guards=[ready], changes=("own", "board"),
                           effect=lambda board: {"own": "done", "board": board + 1})  # fmt: skip
        strays = transition("strays", "a1", guards=[ready], effect=become("lost"))
        super().__init__({"board": 0, "a1": "ready"}, (works, strays), {})

    def finished(self, state: State) -> bool:
        return bool(self.component(state, "a1") == "done")


def test_a_deadlock_of_an_unobserved_actor_is_found() -> None:
    for reduced in (False, True):
        result = explore(Stranding(), reduce=reduced)
        assert [step.action for step in result.deadlock or ()] == ["strays"]


@pytest.mark.parametrize(
    ("system", "every"),
    [
        pytest.param(lambda: Model(CREWS["three writers"]), 7, id="three writers"),
        pytest.param(lambda: Model(CREWS["two groups"]), 300, id="two kinds"),
        pytest.param(lambda: specs.system("occ_retry", "occ"), 7, id="who names another"),
        pytest.param(parade, 7, id="sets"),
        pytest.param(alone, 1, id="no other actor"),
        pytest.param(numbered, 1, id="a number first"),
    ],
)
def test_all_of_an_orbit_have_one_kept_state(system: Callable[[], Any], every: int) -> None:
    model = system()
    symmetry = Symmetry(model)
    members = [name for each in symmetry.classes for name in each]
    orders = product(*(permutations(each) for each in symmetry.classes))
    turns = [dict(zip(members, chain(*order), strict=True)) for order in orders]
    assert symmetry.order == len(turns) > 1
    for state in walked(Space(model))[::every]:
        images = {renamed_state(model, state, turn) for turn in turns}
        assert symmetry.canonical(state) in images
        assert {symmetry.canonical(image) for image in images} == {symmetry.canonical(state)}
        assert symmetry.orbit(state) == len(images)
        assert len(symmetry.renamings(state)) == len(turns) // len(images)


def test_what_others_look_at_stays_a_step() -> None:
    seen = {
        protocol: {action for _, action in Reduced(Model(specs.world("readers"), protocol), EVERY).private}
        for protocol in (Protocol(), Protocol(visibility="any"), Protocol(slicing="base_instant"))
    }
    assert list(seen.values()) == [
        {"writer_starts_writing", "writer_writes_log", "compactor_writes_base"},
        {"compactor_writes_base"},
        {"writer_writes_log", "compactor_writes_base"},
    ]


def test_what_is_not_proven_shortest_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    search = "nbcc.simulator.search.explore.search"
    monkeypatch.setattr(f"{search}.MemoryBound.reached", lambda self, table: "no memory left")
    monkeypatch.setattr(f"{search}.CHECK_EVERY", 120)
    model = specs.system("demo", "tombstones-dropped")
    result = explore(model, [PROMISES["SNAP"]], reduce=True)
    found = result.promises["SNAP"]

    assert found.verdict is Verdict.VIOLATED
    assert (found.because or "").endswith("(not proven shortest: no memory left)")
    trace = counterexample(model, found.trace or (), "SNAP")
    text = next(report(FinishedSearch("demo", "tombstones-dropped", model, result), {"SNAP": trace}))
    assert f"{trace.because} (not proven shortest: no memory left) (" in text
