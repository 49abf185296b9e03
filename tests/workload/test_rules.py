"""Decisions of the simulation compared with the model's own, on whole small histories."""

from __future__ import annotations

import random

import pytest

from nbcc.model.assembly import rules_of
from nbcc.model.kernel.planning import plan
from nbcc.model.kernel.table import GroupPlan, Plan, Table, Write
from nbcc.model.mechanisms.occ.conflicts import UncheckedWrite, conflicting
from nbcc.simulator.workload.rules import PROTOCOL, conflicts, logs_taken


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
