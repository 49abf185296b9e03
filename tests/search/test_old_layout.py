"""The old layout: the cost of serial scheduling, as docs/old-layout-and-new.md shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.model import Model
from nbcc.simulator import specs
from tests.builders.reachable import reachable

PAGE = Path(__file__).parents[2] / "docs" / "old-layout-and-new.md"
COUNTS = {"base-instant-naming": (420, 18), "old-layout-serial": (144, 0), "default": (300, 18)}
"""Protocol -> states of the demo in which an actor writes, and those of them in which a plan can be made."""


def counts(protocol: str) -> tuple[int, int]:
    model = Model(specs.world("demo"), specs.protocol(protocol))
    writing = [
        state
        for state in reachable(model)
        if any(each.action == "deltacommit" and each.completed is None for each in model.timeline(state))
    ]
    plans = ([step.action for step in model.enabled(state)].count("compactor_schedules_plan") for state in writing)
    return len(writing), sum(map(bool, plans))


@pytest.mark.parametrize("protocol", COUNTS)
def test_when_a_plan_can_be_made(protocol: str) -> None:
    assert counts(protocol) == COUNTS[protocol]


def test_the_page_says_so() -> None:
    text = PAGE.read_text("utf-8")
    writing, planning = zip(*(COUNTS[name] for name in COUNTS), strict=True)
    assert f"| states with a write in flight | {' | '.join(map(str, writing))} |" in text
    assert f"| of these, a plan can be scheduled in | {' | '.join(map(str, planning))} |" in text.replace("*", "")
    assert f"in none of the {COUNTS['old-layout-serial'][0]} states" in text.replace("\n", " ")
