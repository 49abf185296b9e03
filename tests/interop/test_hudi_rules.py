"""Each rule of the setting hudi-1.2.0 has a history that Hudi plays as the setting says, not as without the rule."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.model import Protocol, Step, World
from nbcc.simulator import specs
from nbcc.simulator.crosscheck.check import Check, CheckOptions
from nbcc.simulator.crosscheck.disagreement import Disagreement
from nbcc.simulator.replay import play
from nbcc.simulator.systems.hudi_histories import fitted
from nbcc.simulator.systems.registry import factory
from nbcc.simulator.trace import load
from tools.soak import of_seed, stand_in

HUDI = specs.protocol("hudi-1.2.0")
RULES = sorted(HUDI.differences())
LOADS = World(actors={"writer": 2, "bulk_inserter": 1}, name="loads_beside_writers")
INSTEAD = {"bulk_insert": ("bulk_inserter_takes_completion_time", "bulk_inserter_publishes_instant")}
"""Where without a rule other steps follow, what takes the place of as many at the end of its history."""
TRACES = Path(__file__).parent / "traces"
MOST = 200


def without(rule: str) -> Protocol:
    """The setting with one rule back at its default."""
    return Protocol.from_mapping({name: value for name, value in HUDI.differences().items() if name != rule})


@pytest.mark.parametrize("rule", RULES)
def test_hudi_falsifies_the_setting_without_a_rule(rule: str) -> None:
    recorded = replace(load(TRACES / f"rule-{rule.replace('_', '-')}.json", []), protocol=HUDI)
    fitting = play(recorded, "hudi", factory("hudi"))
    assert (fitting.fits, fitting.verdict) == (True, "AGREED"), fitting.sentence
    instead = tuple(Step(recorded.steps[-1].actor, action) for action in INSTEAD.get(rule, ()))
    steps = (*recorded.steps[: len(recorded.steps) - len(instead)], *instead)
    reverted = play(replace(recorded, protocol=without(rule), steps=steps), "hudi", factory("hudi"))
    assert reverted.verdict == "DISAGREED", reverted.sentence


@pytest.mark.parametrize("rule", RULES)
def test_without_a_rule_the_histories_that_are_drawn_disagree_soon(rule: str) -> None:
    """The setting stands in for Hudi, with which it agrees on these seeds (`tools.soak`). Those have no bulk insert."""
    world = LOADS if rule == "bulk_insert" else None

    def disagrees(seed: int) -> bool:
        setting = CheckOptions(
            lambda world, protocol, batches: stand_in(world, HUDI, batches),
            protocol=without(rule),
            world=world,
            fitted=fitted,
            readers=(),
        )
        try:
            Check(setting if world else of_seed(seed, setting)).play(random.Random(seed).randrange)
        except Disagreement:
            return True
        return False

    assert any(disagrees(seed) for seed in range(MOST))


def test_every_kept_history_is_of_a_rule() -> None:
    kept = {json.loads(path.read_text("utf-8"))["title"] for path in TRACES.glob("rule-*.json")}
    assert len(kept) == len(RULES)
