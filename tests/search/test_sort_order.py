"""Clustering by sort order across file groups: writers, readers and resizers agree on the new file group of a key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol, State, World
from nbcc.model.kernel.table import GroupPlan
from nbcc.model.machine.marks import mark
from nbcc.model.mechanisms.resizes.sort_order import Sorted, sorts
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict, explore

from .pins import SIZES

PAGE = Path(__file__).parents[2] / "docs" / "resizes.md"

STEPS: dict[str, tuple[str, int]] = {
    "sort-late-insert-by-order": ("KEY", 20),
    "sort-heir-at-read": ("KEY", 20),
    "sort-holder-unread": ("SNAP", 20),
    "sort-late-log-by-hash": ("SNAP", 23),
}
"""Each mutant of a sort order, the promise that it breaks, and the length of a shortest run that shows it."""

JUDGED = ("SNAP", "PART", "KEY", "QUIET", "TRAVEL", "INCR")
DESIGNS = ("cut_over", "by_range")
WRITES = {("w1", 1): (1, 1), ("w2", 1): (0, 1)}
TWICE = World(actors={"writer": 2, "resizer": 1}, buckets=2, sort_order=1, resizes=2, writes=WRITES)
"""Sorted twice: the late logs of one key may be in the file groups of two older generations."""


def holds(world: World, design: str, promises: tuple[str, ...]) -> None:
    found = explore(Model(world, Protocol(resizing=design)), [PROMISES[name] for name in promises]).promises
    assert {each.verdict for each in found.values()} == {Verdict.HOLDS}, found


@pytest.mark.parametrize(("world", "design", "promise"), [
    ("sorted", design, promise) for design in DESIGNS for promise in JUDGED
])  # fmt: skip
def test_a_sorted_table_keeps_its_promises(world: str, design: str, promise: str) -> None:
    holds(specs.world(world), design, (promise,))


@pytest.mark.nightly
@pytest.mark.parametrize("resizing", DESIGNS)
def test_services_of_a_sorted_table_keep_its_promises(resizing: str) -> None:
    holds(specs.world("sorted_cleaned"), resizing, (*JUDGED, "CLEAN"))


@pytest.mark.nightly
@pytest.mark.parametrize("resizing", DESIGNS)
def test_late_logs_of_two_generations_come_into_one_file_group(resizing: str) -> None:
    holds(TWICE, resizing, JUDGED)


@pytest.mark.parametrize("name", STEPS)
def test_a_mutant_breaks_its_promise_in_so_many_steps(name: str) -> None:
    mutant, (promise, steps) = mutants.load(name), STEPS[name]
    with mutants.applied(mutant):
        model = Model(specs.world(mutant.world), Protocol.from_mapping(mutant.protocol))
        assert explore(model, [PROMISES[promise]], until_all_broken=True).promises[promise].steps == steps


def test_the_search_meets_each_kind_of_late_log() -> None:
    """A key that a base file at K holds, one that none holds, and a late log of either, in an old file group."""
    model = Model(specs.world("sorted"), Protocol(resizing="by_range"))
    seen = {kind for state in states(model) for kind in late_logs(model, state)}
    assert seen == {"update", "insert", "update of another key than the heir's"}


def states(model: Model) -> set[State]:
    found, left = {model.initial}, [model.initial]
    while left:
        state = left.pop()
        new = {model.apply(state, step) for step in model.enabled(state)} - found
        found |= new
        left += new
    return found


def late_logs(model: Model, state: State) -> Iterator[str]:
    """Yield what each late log of an old file group does to each of its keys."""
    for plan in model.component(state, "plans"):
        found = mark(plan, Sorted)
        for write in model.component(state, "published"):
            if write.action == "deltacommit" and write.completed > plan.requested and not write.marks:
                for group in write.groups:
                    home = dict(found.holders).get(group)
                    yield "insert" if home is None else "update"
                    if home not in (None, found.heir):
                        yield "update of another key than the heir's"


def test_the_keys_of_each_partition_come_into_adjacent_file_groups() -> None:
    world = World(actors={"writer": 1, "resizer": 1}, buckets=4, partitions=2, sort_order=1, resizes=1)
    held = [GroupPlan(group, None, ((1, 1),) if group in (0, 2, 3, 5) else ()) for group in range(8)]
    assert sorts(tuple(held), 2, world) == Sorted(((0, 0), (2, 0), (3, 1), (5, 0)), heir=0)


def test_a_sort_order_needs_a_resizer_and_no_dual_writes() -> None:
    with pytest.raises(ValueError, match="sort_order is 0 or 1; with 1, the world needs a resizer"):
        World(actors={"writer": 1}, buckets=2, sort_order=1)
    with pytest.raises(ValueError, match="a sort order is not modelled with resizing = dual_write"):
        Model(specs.world("sorted"), Protocol(resizing="dual_write"))


def test_the_page_has_these_figures() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    steps = {name: (promise, int(number)) for name, promise, number in
             re.findall(r"\(`(sort-[a-z-]+)`, ([A-Z]+) (\d+)[;)]", text)}  # fmt: skip
    broken = SIZES["protocols"]["sort-by-value"]["violated"]
    assert steps.pop("sort-by-value") == ("KEY", broken["KEY"])
    assert steps == STEPS
    for world in ("sorted", "sorted_cleaned"):
        assert f"`{world}` ({SIZES['worlds'][world]['distinct']:,} states)" in text
