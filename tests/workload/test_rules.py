"""The simulation compared on whole small histories: its decisions with the model's, its requests with the engine's."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from nbcc.model.assembly import rules_of
from nbcc.model.kernel.planning import plan
from nbcc.model.kernel.table import GroupPlan, Plan, Table, Write
from nbcc.model.mechanisms.occ.conflicts import UncheckedWrite, conflicting
from nbcc.simulator.workload.costs import Touched, lease_requests, programs, verb_of
from nbcc.simulator.workload.rules import PROTOCOL, conflicts, logs_taken
from tools.accesses.programs import PROGRAMS, Point, lease, linear
from tools.accesses.recorder import Stage


@pytest.mark.parametrize("seed", range(40))
def test_the_newest_write_of_each_group_decides_a_conflict(seed: int) -> None:
    """The simulation shows the model only the newest write of each group; the model sees the whole history here."""
    chance = random.Random(seed)
    history = tuple(
        Write(number + 1, number + 1, "w", 1, tuple((group, 1) for group in chance.sample(range(4), 2)))
        for number in range(6)
    )
    mine, sealed = tuple(chance.sample(range(4), 2)), chance.randrange(7)
    newest = {group: number for number, write in enumerate(history) for group in write.groups}
    later = [(group, newest[group]) for group in mine if newest.get(group, -1) >= sealed]
    whole = conflicting(history, (), UncheckedWrite(mine, (), sealed), PROTOCOL)
    assert (bool(later) and conflicts(later, mine)) == (whole is not None)


def test_both_answers_about_a_conflict_occur() -> None:
    assert conflicts([(1, 5)], (1, 2))
    assert not conflicts([(3, 5)], (1, 2))


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_takes_what_the_model_takes_in_a_table_of_several_groups(seed: int) -> None:
    chance = random.Random(seed)
    counts = [(chance.randrange(4), chance.randrange(3), chance.random() < 0.5, chance.random() < 0.3)
              for _ in range(3)]  # fmt: skip
    barrier, writes, bases, pending = 50, [], [], []
    for group, (completed, late, has_base, is_planned) in enumerate(counts):
        times = [*chance.sample(range(10, 50), completed), *chance.sample(range(51, 90), late)]
        writes += [Write(9, time, "w", number, ((group, 1),)) for number, time in enumerate(times)]
        bases += [GroupPlan(group, None, ())] if has_base else []
        pending += [GroupPlan(group, None, ())] if is_planned else []
    plans = (Plan(1, "c", True, tuple(bases)), Plan(3, "c", True, tuple(pending)))
    table = Table(tuple(sorted(writes, key=lambda write: write.completed or 0)), plans, (2, None))
    parts = {part.group: len(part.logs) for part in plan(rules_of(PROTOCOL), table, 3, barrier)}
    assert parts == {group: taken for group, count in enumerate(counts) if (taken := logs_taken(*count))}


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
