"""Statements that are searched in every state of a small world: windows, file groups, another engine's compaction."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.kernel.merge import Fold
from nbcc.model.kernel.reads import base_file
from nbcc.model.kernel.table import GroupPlan, Plan, Write
from nbcc.model.mechanisms.insert_overwrite import replaced
from nbcc.model.promises.valuations import differ, renamed
from nbcc.model.promises.view import View, view_of
from nbcc.simulator import specs
from nbcc.simulator.search.explore import explore
from tests.builders.reachable import reachable


def test_a_window_with_a_replace_is_the_state_after_unless_it_begins_after_the_request() -> None:
    model = Model(specs.world("replaces"), Protocol())
    views = {view_of(model, state) for state in reachable(model)}
    begins: set[bool] = set()
    for view in views:
        for start, end in view.windows:
            inside = view.logs(0, start, end)
            requested = max((log[0] for log in inside if replaced(view.done[log[0]])), default=None)
            if requested is not None:
                begins.add(start <= requested)
                survivors = {*view.logs(0, until=end)} - {*inside}
                kept = {view.done[log[0]].completed or 0 for log in survivors}
                assert all(requested < completed <= start for completed in kept)
                assert not survivors or start > requested
    assert begins == {True, False}


ALIKE = [
    World(actors={"writer": 2, "compactor": 1}, buckets=2),
    World(actors={"writer": 1, "compactor": 2}, buckets=2, crashes=1),
    World(actors={"writer": 2, "rollbacker": 1}, buckets=2, stalls=1, rollbacks=1),
]
TABLE = ("published", "plans", "rollbacks")


def exchanged(value: Any) -> Any:
    """What a table of two file groups shows, with the names of the two exchanged."""
    if isinstance(value, Write):
        assert not value.marks, "no mechanism of these worlds marks a write"
        return value._replace(files=tuple(sorted((1 - group, version) for group, version in value.files)))
    if isinstance(value, Plan):
        return value._replace(groups=tuple(sorted(map(exchanged, value.groups))))
    if isinstance(value, GroupPlan):
        return value._replace(group=1 - value.group)
    return tuple(map(exchanged, value)) if type(value) is tuple else value


def shown(world: World) -> dict[str, tuple[Any, ...]]:
    """Every value that the components of the table take in a world."""
    model = Model(world)
    explore(model)
    return {name: tuple(model.coding.values(model.coding.place[name])) for name in TABLE if name in model.components}


@pytest.mark.parametrize("world", ALIKE, ids=("writers", "compactors", "rollbacker"))
def test_exchanging_file_groups_changes_no_table(world: World) -> None:
    """So it would make one state of no two: there is nothing to save."""
    found = shown(world)
    assert len(found["published"]) > 2
    for values in found.values():
        assert [value for value in values if exchanged(value) != value] == []


def test_where_writes_differ_in_their_groups_the_exchange_is_no_symmetry() -> None:
    world = World(actors={"writer": 2}, buckets=2, writes={("w1", 1): (1, 0), ("w2", 1): (1, 1)})
    published = shown(world)["published"]
    assert [value for value in published if exchanged(value) not in published]


LATE = World(
    actors={"writer": 3, "compactor": 1},
    merge_mode="COMMIT_TIME_ORDERING",
    settings={"c1": {"services": "foreign"}},
)


def views(model: Model) -> Iterator[View]:
    """Every table that can come about, once."""
    tables = set()
    for state in reachable(model):
        view = view_of(model, state)
        if view.table not in tables:
            tables.add(view.table)
            yield view


def as_they_read(view: View) -> Fold | None:
    """The base file that the other engine made, and all logs since its barrier by request; None if it made none."""
    rules = view.model.rules
    barrier, writes = rules.base_and_writes(view.table, 0, inf)
    if not any(plan.requested == barrier for plan in view.table.plans):
        return None
    by_request = sorted(log for write in writes for log in rules.logs_of(write, 0))
    return Fold(base_file(rules, view.table, 0, barrier), tuple(by_request))


def disagreements(protocol: Protocol) -> tuple[int, int]:
    """In how many tables their read of the group and ours can be compared, and in how many they differ."""
    compared = different = 0
    for view in views(Model(LATE, protocol)):
        if (theirs := as_they_read(view)) is not None:
            ours = view.as_of(0)
            names = view.names(0, ours, theirs)
            compared += 1
            one, other = (renamed(shape, names) for shape in (ours, theirs))
            different += differ(one, other, len(names), view.merger, deletes=False) is not None
    return compared, different


@pytest.mark.parametrize("unmarked", ["by_its_engine", "by_the_table"])
def test_who_looks_for_the_mark_reads_what_its_maker_reads(unmarked: str) -> None:
    compared, different = disagreements(Protocol.from_mapping({"unmarked": unmarked}))
    assert compared > 10
    assert (different > 0) == (unmarked == "by_the_table")
