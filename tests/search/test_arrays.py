"""The walk over arrays is compared with the plain one: the same states in the same order, the same verdicts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.two_phase_commit import TwoPhaseCommit
from nbcc.model.machine.state import WIDTH
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Result, arrays, explore, search
from nbcc.simulator.search.explore.arrays import cycles, kernels
from nbcc.simulator.search.explore.arrays.layout import Layout
from nbcc.simulator.search.explore.arrays.states import Rows
from nbcc.simulator.search.explore.components import on_cycles
from nbcc.simulator.search.explore.result import PromiseResult
from nbcc.simulator.search.explore.search import Bounds, Search
from nbcc.simulator.search.explore.space import Reduced, Space
from nbcc.simulator.search.explore.walk import PlainWalk
from nbcc.simulator.search.explore.watch import Watchers

NEVER = 10**12


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk over arrays from the 64th state on, a few states at a time."""
    monkeypatch.setattr(search, "ARRAYS_FROM", 1)
    monkeypatch.setattr(search, "CHECK_EVERY", 64)


def both(monkeypatch: pytest.MonkeyPatch, world: str, protocol: str, **options: Any) -> Iterator[Result]:
    for first in (NEVER, 1):
        monkeypatch.setattr(search, "ARRAYS_FROM", first)
        monkeypatch.setattr(search, "CHECK_EVERY", 64)
        found = explore(specs.system(world, protocol), tuple(PROMISES.values()), **options)
        yield replace(found, seconds=0.0)


def searched(system: Any, promises: Any = ()) -> Search:
    found = Search(Space(system), Watchers(system, promises), Bounds())
    assert found.run() is None
    return found


def values(found: Search) -> list[list[Any]]:
    """What each state means. Two searches may number values differently."""
    coding = found.space.system.coding
    return [coding.read(state, range(len(coding.names))) for state in found.states]


@pytest.mark.parametrize(
    ("world", "protocol"),
    [
        ("demo", "default"),
        ("demo", "completion-outside-lock"),
        ("readers", "single-listing"),
        ("endless", "occ"),
        ("lost_lock", "default"),
        ("two_groups", "default"),
        ("cleaning_crash", "clean-behind-pending-plan"),
        ("rollback_beside_compaction", "commit-unchecked"),
    ],
)
def test_both_walks_have_one_result(monkeypatch: pytest.MonkeyPatch, world: str, protocol: str) -> None:
    plain, over_arrays = both(monkeypatch, world, protocol, coverage=True)

    assert over_arrays == plain


def test_both_walks_stop_at_the_same_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for bounds in ({"max_states": 700}, {"max_depth": 12}, {"until_all_broken": True}):
        plain, over_arrays = both(monkeypatch, "demo", "completion-outside-lock", **bounds)
        assert over_arrays == plain


@pytest.mark.usefixtures("at_once")
def test_the_states_are_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    found = searched(TwoPhaseCommit(5), TwoPhaseCommit.promises)
    monkeypatch.setattr(search, "ARRAYS_FROM", NEVER)
    plain = searched(TwoPhaseCommit(5), TwoPhaseCommit.promises)

    assert not isinstance(found.walk, PlainWalk)
    assert isinstance(plain.walk, PlainWalk)
    assert values(found) == values(plain)
    assert found.parents.tobytes() == plain.parents.tobytes()
    assert found.states[10:20] == list(found.states)[10:20]
    assert [found.numbers[state] for state in found.states] == list(range(len(plain.states)))
    unknown = sum(1 << WIDTH * place for place in range(7))
    assert found.numbers.get(unknown) is None
    with pytest.raises(KeyError):
        found.numbers[unknown]
    with pytest.raises(IndexError):
        found.states[len(found.states)]


@pytest.mark.parametrize(
    ("world", "protocol", "cycles"),
    [("endless", "occ", True), ("rollback_beside_compaction", "commit-unchecked", False)],
)
def test_both_walks_find_the_same_states_on_cycles(
    monkeypatch: pytest.MonkeyPatch, world: str, protocol: str, cycles: bool
) -> None:
    monkeypatch.setattr(search, "CHECK_EVERY", 64)
    found = []
    for first in (NEVER, 1):
        monkeypatch.setattr(search, "ARRAYS_FROM", first)
        found.append(sorted(searched(specs.system(world, protocol)).on_cycles))

    assert found[0] == found[1]
    assert bool(found[0]) == cycles


@given(st.lists(st.lists(st.integers(0, 7), max_size=2), min_size=8, max_size=8))
def test_what_is_left_of_a_graph_is_what_comes_from_a_cycle_and_leads_to_one(following: list[list[int]]) -> None:
    left = np.ones(8, dtype=np.bool_)
    targets = np.array([each for some in following for each in some], dtype=np.int32)
    cycles.peel(np.cumsum([0, *map(len, following)]), targets, left)

    def on_from(number: int) -> set[int]:
        found: list[int] = list(following[number])
        for each in found:
            found += [after for after in following[each] if after not in found]
        return set(found)

    cyclic = set(on_cycles(lambda number: iter(following[number]), 8))
    assert cyclic == {number for number in range(8) if number in on_from(number)}
    after = cyclic.union(*map(on_from, cyclic))
    assert set(np.flatnonzero(left)) == {number for number in after if number in cyclic or cyclic & on_from(number)}


@pytest.mark.usefixtures("at_once")
def test_fields_are_widened_when_values_have_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    widened: list[int] = []
    widen = Rows.widen

    def counted(self: Rows) -> None:
        widened.append(self.count)
        widen(self)

    monkeypatch.setattr(Layout, "_share_free_bits", lambda self: None)
    monkeypatch.setattr(Rows, "widen", counted)
    found = searched(specs.system("demo"), tuple(PROMISES.values()))
    monkeypatch.setattr(search, "ARRAYS_FROM", NEVER)

    assert widened
    assert values(found) == values(searched(specs.system("demo"), tuple(PROMISES.values())))


def test_a_layout_packs_and_unpacks_each_state() -> None:
    plain = searched(specs.system("demo"))
    layout = Layout(plain.space.system.coding)

    packed = layout.pack(plain.states)
    assert layout.unpack(packed) == plain.states
    assert len({row.tobytes() for row in packed}) == len(plain.states)


def test_a_machine_that_keeps_no_compiled_code_compiles_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.dispatcher.Dispatcher.enable_caching", refused)

    def doubled(number: int) -> int:
        return 2 * number

    assert kernels.kernel(doubled)(21) == 42


@pytest.mark.usefixtures("at_once")
def test_a_reduced_search_a_checkpoint_and_a_machine_without_numba_walk_plainly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    walks: list[Any] = []
    verdicts = Search.verdicts

    def kept(self: Search, *rest: Any) -> dict[str, PromiseResult]:
        walks.append(self.walk)
        return verdicts(self, *rest)

    monkeypatch.setattr(Search, "verdicts", kept)
    explore(specs.system("demo"))
    explore(specs.system("demo"), checkpoint=tmp_path / "search")
    monkeypatch.setitem(sys.modules, f"{arrays.__name__}.walk", None)
    explore(specs.system("demo"))
    monkeypatch.undo()
    model = specs.system("demo")
    reduced = Reduced(model, ())

    assert [isinstance(walk, PlainWalk) for walk in walks] == [False, True, True]
    watchers = Watchers(model, ())
    plain = Search(reduced, watchers, Bounds())
    assert reduced.about
    assert arrays.over_arrays(reduced, watchers, plain.ends, plain.walk) is None
