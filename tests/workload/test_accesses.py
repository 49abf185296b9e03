"""The requests that the simulation counts are those of the engine. Each operation is recorded at one more point."""

from __future__ import annotations

from collections import Counter

import pytest

from nbcc.simulator.workload.costs import Touched, lease_requests, programs, verb_of
from tools.accesses.programs import PROGRAMS, Point, lease, linear
from tools.accesses.recorder import Stage

HELD_OUT = Point(3, 4, 2)
"""A point at which no operation was recorded."""
REMEDY = "python -m tools.regenerate accesses; then read the difference"


def by_verb(stage: Stage, is_local: bool) -> Counter[str]:
    return Counter(verb_of(f"{request.verb} {request.kind}", is_local) for request in stage.requests)


@pytest.mark.parametrize("store", [True, False], ids=["object store", "local"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_engine_sends_the_requests_that_the_simulation_counts(name: str, store: bool) -> None:
    operation, points = PROGRAMS[name]
    is_write = not points[0].logs
    point = HELD_OUT._replace(logs=0 if is_write else HELD_OUT.logs)
    counted = programs("object store" if store else "local")[name]
    recorded = operation(store, point)
    touched = Touched(point.groups, point.groups * point.logs, point.commits)
    assert [(stage.locked, stage.takes) for stage in recorded] == [(s.locked, s.takes) for s in counted], REMEDY
    assert [by_verb(s, not store) for s in recorded] == [+Counter(s.count(touched)) for s in counted], REMEDY
    assert [stage.rounds for stage in recorded] == [stage.depth(touched) for stage in counted], REMEDY


def test_the_lease_sends_the_requests_that_the_simulation_counts() -> None:
    assert lease() == lease_requests(), REMEDY


def test_a_count_that_is_not_linear_is_refused() -> None:
    points = [Point(groups, 0, 0) for groups in (1, 2, 3)]
    assert linear([3, 5, 7], points) == [1, 2, 0, 0]
    with pytest.raises(ValueError, match="are not linear"):
        linear([1, 4, 9], points)
