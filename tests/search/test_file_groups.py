"""Why the search exchanges no file groups: where every write writes to all, the table looks the same in each."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, World
from nbcc.model.kernel.table import GroupPlan, Plan, Write
from nbcc.simulator.search.explore import explore

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
