"""Whether runs can return to a state, derived from the effects of transitions: the same answer as from all states."""

from __future__ import annotations

import pytest

from nbcc.model.machine import Guard, Transition, TransitionSystem, preset, transition
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore.acyclicity import may_cycle
from nbcc.simulator.search.explore.search import Bounds, Search
from nbcc.simulator.search.explore.space import Reduced, Space
from nbcc.simulator.search.explore.watch import Watchers

ONLY_ONWARDS = ("demo", "log_compaction", "cleaning", "log_compaction_crash", "cleaning_crash")
"""In the last two a runner takes up a pending plan, and gives way without a trace if the plan is completed."""
GIVE_WAY = ("rivals",)
"""A runner also gives way if the input is cleaned: no single component excludes a cycle."""
EVERY = tuple(PROMISES.values())


def searched(space: Space) -> Search:
    search = Search(space, Watchers(space.system, []), Bounds())
    search.run()
    return search


@pytest.mark.parametrize("reduced", [False, True], ids=["as it is", "reduced"])
@pytest.mark.parametrize("world", ONLY_ONWARDS)
def test_in_a_table_time_goes_on(world: str, reduced: bool) -> None:
    model = specs.system(world)
    search = searched(Reduced(model, EVERY) if reduced else Space(model))

    assert not may_cycle(search.space)
    assert not search.on_cycles


@pytest.mark.parametrize("world", GIVE_WAY)
def test_runners_that_give_way_do_not_come_back(world: str) -> None:
    search = searched(Space(specs.system(world)))

    assert may_cycle(search.space)
    assert not search.on_cycles


def turning(count: int, *, ticks: bool) -> TransitionSystem:
    """An actor that turns round and round among `count` places; each turn may leave a tick behind, up to three."""

    def row(at: int) -> Transition:
        there = Guard("it must be there", lambda own: own == at)
        turns = transition(f"turns from {at}", "hand", guards=[there], effect=lambda: {"own": (at + 1) % count})
        room = Guard("there must be room for a tick", lambda ticks: ticks < 3)
        tick = turns.require(room).extend(lambda ticks: {"ticks": ticks + (at + 1 == count)}, "ticks")
        return tick if ticks else turns

    return TransitionSystem({"hand": 0, "ticks": 0}, map(row, range(count)), {})


@pytest.mark.parametrize("count", [1, 3])
def test_who_goes_round_comes_back(count: int) -> None:
    search = searched(Space(turning(count, ticks=False)))

    assert may_cycle(search.space)
    assert search.on_cycles


def test_who_leaves_something_behind_each_time_does_not() -> None:
    search = searched(Space(turning(3, ticks=True)))

    assert len(search.states) == 10
    assert not may_cycle(search.space)
    assert not search.on_cycles


def test_who_leaves_something_behind_only_as_long_as_there_is_room_comes_back() -> None:
    row = transition("turns", "hand", changes=("own", "ticks"),
                     effect=lambda own, ticks: {"own": (own + 1) % 3, "ticks": min(3, ticks + 1)})  # fmt: skip
    search = searched(Space(TransitionSystem({"hand": 0, "ticks": 0}, [row], {})))

    assert may_cycle(search.space)
    assert search.on_cycles


@pytest.mark.parametrize("resets", [False, True], ids=["a switch set once", "a switch that is reset"])
def test_who_goes_and_returns_under_different_values_of_a_switch_needs_its_changes(resets: bool) -> None:
    def row(action: str, place: int, switch: int, effect: dict[str, int]) -> Transition:
        there = Guard("it must be there", lambda own: own == place)
        allowed = Guard("the switch must allow it", lambda switch, value=switch: switch == value)
        return transition(action, "hand", guards=[there, allowed], effect=preset(lambda to: to, to=effect),
                          changes=tuple(effect))  # fmt: skip

    rows = [row("goes", 0, 0, {"own": 1}), row("returns", 1, 1, {"own": 0}), row("sets", 1, 0, {"switch": 1})]
    rows += [row("resets", 0, 1, {"switch": 0})] if resets else []
    search = searched(Space(TransitionSystem({"hand": 0, "switch": 0}, rows, {})))

    assert may_cycle(search.space) is resets
    assert bool(search.on_cycles) is resets


def test_actors_that_hand_something_round_come_back_by_another_name() -> None:
    """What one gives the other, who gives it back: no state of one alone is a cycle, and of both it is."""
    holds = Guard("it must hold it", lambda me, holder: holder == me)
    rows = [
        transition("gives", me, guards=[holds], effect=preset(lambda to: {"holder": to}, to=to), changes=("holder",))
        for me, to in (("a1", "a2"), ("a2", "a1"))
    ]
    system = TransitionSystem({"a1": "idle", "a2": "idle", "holder": "a1"}, rows, {"actor": ("a1", "a2")})

    assert may_cycle(searched(Space(system)).space)


def test_of_a_system_without_rows_nothing_is_known() -> None:
    class Counter:
        initial = 0

        def successors(self, state: int) -> list[tuple[str, int]]:
            return [("counts", state + 1)] if state < 3 else []

    assert may_cycle(Space(Counter()))
