"""A file group that another engine has compacted is read as that engine reads it, in every state of a small world."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.kernel.merge import Fold
from nbcc.model.kernel.reads import base_file
from nbcc.model.promises.valuations import differ, renamed
from nbcc.model.promises.view import View, view_of

LATE = World(
    actors={"writer": 3, "compactor": 1},
    merge_mode="COMMIT_TIME_ORDERING",
    settings={"c1": {"services": "foreign"}},
)


def views(model: Model) -> Iterator[View]:
    """Every table that can come about, once."""
    seen, left = {model.initial}, [model.initial]
    tables = set()
    while left:
        state = left.pop()
        view = view_of(model, state)
        if view.table not in tables:
            tables.add(view.table)
            yield view
        for _, after in model.successors(state):
            if after not in seen:
                seen.add(after)
                left.append(after)


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
