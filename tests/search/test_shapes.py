"""Promises have one verdict on all states of a shape."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, State
from nbcc.model.kernel.table import Compaction, Plan, Write
from nbcc.model.machine import marks
from nbcc.model.promises import PROMISES
from nbcc.model.promises.shape import completions_of, shape_of, windows_of
from nbcc.simulator import specs
from nbcc.simulator.search.explore.search import Bounds, Search
from nbcc.simulator.search.explore.space import Space
from nbcc.simulator.search.explore.watch import Watchers

SHAPED = [promise for promise in PROMISES.values() if promise.shape]


def reachable(model: Model) -> list[State]:
    search = Search(Space(model), Watchers(model, ()), Bounds())
    search.run()
    return list(search.states)


WITHOUT_SHAPES = {
    "lost_lock": {"MONO"},
    "rollback_beside_compaction": {"MONO"},
    "failed_writer": {"MONO"},
    "cleaning_crash": {"MONO", "PART"},
}
"""Promises that a world asks about values without an abstraction: they judge every state."""


@pytest.mark.parametrize(
    ("world", "protocol", "every"),
    [
        ("readers", "single-listing", 40),
        ("demo", "completion-outside-lock", 1),
        ("two_groups", "default", 40),
        ("loads", "bulk-insert-unchecked", 7),
        ("lost_lock", "default", 3),
        ("rollback_beside_compaction", "default", 40),
        ("rollback_beside_compaction", "commit-unchecked", 100),
        ("failed_writer", "commit-unchecked", 100),
        ("cleaning_crash", "clean-behind-pending-plan", 7),
        ("core_small", "default", 40),
        ("demo", "requested-merge-order", 3),
        ("demo", "requested-time-slicing", 1),
        ("demo", "requested-incremental", 3),
    ],
)
def test_a_shape_says_the_same_of_all_its_states(world: str, protocol: str, every: int) -> None:
    """Judged one by one, promises say of every state what they say of the first of its shape. And each has a shape."""
    model = specs.system(world, protocol)
    verdicts: dict[Any, Any] = {}
    for state in reachable(model)[::every]:
        for promise in SHAPED:
            assert promise.shape is not None
            if promise.unfit(model):
                continue
            if promise.kind == "state":
                broken = promise.holds(model, None, None, state) is not None
                shape = promise.shape(model, state)
                if shape is None:
                    assert promise.name in WITHOUT_SHAPES.get(world, ())
                    continue
                assert verdicts.setdefault((promise.name, shape), broken) == broken
                continue
            for step, after in model.successors(state):
                broken = promise.holds(model, state, step, after) is not None
                shape = promise.shape(model, state, after)
                if shape is None:
                    assert promise.name in WITHOUT_SHAPES.get(world, ())
                    break
                assert verdicts.setdefault((promise.name, step.action, shape), broken) == broken


def test_requested_times_of_writes_matter_only_under_rules_that_compare_them() -> None:
    """Completions and barriers decide what a read merges; slicing by requests is one of the rules that compare more."""
    orders = {}
    for protocol in ("default", "requested-time-slicing"):
        model = specs.system("demo", protocol)
        states = reachable(model)
        orders[protocol] = [len({shape(model, s) for s in states}) for shape in (shape_of, windows_of, completions_of)]

    whole, windows, completions = orders["default"]
    assert completions < windows < whole
    assert len(set(orders["requested-time-slicing"])) == 1


def test_every_field_of_what_is_published_or_planned_is_known_to_shapes() -> None:
    """Otherwise no state has a shape, and every search silently judges every state, which is slower."""
    assert {each: getattr(each, "_fields", ()) for each in marks.SHAPED} == marks.SHAPED
    assert {Write, Plan, Compaction} <= marks.SHAPED.keys()
