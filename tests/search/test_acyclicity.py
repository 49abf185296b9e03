"""Whether runs can return to a state, derived from the effects of transitions: the same answer as from all states."""

from __future__ import annotations

import pytest

from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.explore.acyclicity import may_cycle
from nbcc.simulator.explore.components import components, numbered
from nbcc.simulator.explore.search import Bounds, Search
from nbcc.simulator.explore.space import Reduced, Space
from nbcc.simulator.explore.transition_system import Guard, Transition, TransitionSystem
from nbcc.simulator.explore.watch import Watchers

ONLY_ONWARDS = ("demo", "log_compaction", "cleaning")
GIVE_WAY = ("log_compaction_crash", "cleaning_crash", "rivals")
"""Worlds in which a runner takes up a plan and gives way without a trace: effects alone do not exclude a cycle."""
EVERY = tuple(PROMISES.values())


def searched(space: Space) -> Search:
    search = Search(space, Watchers(space.system, []), Bounds())
    search.run()
    return search


def goes_round(search: Search) -> bool:
    """Whether several states lead to each other, or one to itself."""
    numbers, states = search.numbers, search.states
    if any(len(each) > 1 for each in components(numbered(search.space, states, numbers), len(states))):
        return True
    kept = search.space.canonical or (lambda state: state)
    return any(kept(after) == state for state in states for _, after in search.space.successors(state))


@pytest.mark.parametrize("reduced", [False, True], ids=["as it is", "reduced"])
@pytest.mark.parametrize("world", ONLY_ONWARDS)
def test_in_a_table_time_goes_on(world: str, reduced: bool) -> None:
    model = specs.system(world)
    search = searched(Reduced(model, EVERY) if reduced else Space(model))

    assert not may_cycle(search.space)
    assert not goes_round(search)


@pytest.mark.parametrize("world", GIVE_WAY)
def test_runners_that_give_way_do_not_come_back(world: str) -> None:
    search = searched(Space(specs.system(world)))

    assert may_cycle(search.space)
    assert not goes_round(search)


def turning(count: int, *, ticks: bool) -> TransitionSystem:
    """Somebody who turns round and round among `count` places; each turn may leave a tick behind, up to three."""

    def row(at: int) -> Transition:
        own = (Guard("it must be there", lambda own: own == at),)
        if not ticks:
            return Transition("turns", f"at {at}", ("hand",), ("hand",), own, lambda own: ((at + 1) % count,))
        room = (Guard("there must be room for a tick", lambda own, seen: seen < 3),)
        both = ("hand", "ticks")
        return Transition("turns", f"at {at}", both, both, own,
                   lambda own, seen: ((at + 1) % count, seen + (at + 1 == count)), room)  # fmt: skip

    return TransitionSystem({"hand": 0, "ticks": 0}, map(row, range(count)), {})


@pytest.mark.parametrize("count", [1, 3])
def test_who_goes_round_comes_back(count: int) -> None:
    search = searched(Space(turning(count, ticks=False)))

    assert may_cycle(search.space)
    assert goes_round(search)


def test_who_leaves_something_behind_each_time_does_not() -> None:
    search = searched(Space(turning(3, ticks=True)))

    assert len(search.states) == 10
    assert not may_cycle(search.space)
    assert not goes_round(search)


def test_who_leaves_something_behind_only_as_long_as_there_is_room_comes_back() -> None:
    both = ("hand", "ticks")
    row = Transition("turns", "somebody", both, both, (), lambda own, seen: ((own + 1) % 3, min(3, seen + 1)))
    search = searched(Space(TransitionSystem({"hand": 0, "ticks": 0}, [row], {})))

    assert may_cycle(search.space)
    assert goes_round(search)


def test_actors_that_hand_something_round_come_back_by_another_name() -> None:
    """What one gives the other, who gives it back: no state of one alone is a cycle, and of both it is."""
    rows = [
        Transition("gives", me, (me, "holder"), ("holder",), (), lambda own, holder, other=other: (other,),
            (Guard("it must hold it", lambda own, holder, me=me: holder == me),))
        for me, other in (("a1", "a2"), ("a2", "a1"))
    ]  # fmt: skip
    system = TransitionSystem({"a1": "idle", "a2": "idle", "holder": "a1"}, rows, {"actor": ("a1", "a2")})

    assert may_cycle(searched(Space(system)).space)


def test_of_a_system_without_rows_nothing_is_known() -> None:
    class Counter:
        initial = 0

        def successors(self, state: int) -> list[tuple[str, int]]:
            return [("counts", state + 1)] if state < 3 else []

    assert may_cycle(Space(Counter()))
