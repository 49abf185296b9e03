"""For each option of the protocol hudi-1.2.0: a history that Hudi plays as the option says, not as the default says."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.model import Protocol, Step, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.systems.hudi_histories import fitted
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.trace import load
from tools.soak import of_seed, stand_in

HUDI = specs.protocol("hudi-1.2.0")
RULES = sorted(HUDI.differences())
LOADS = World(actors={"writer": 2, "bulk_inserter": 1}, name="loads_beside_writers")
INSTEAD = {
    "bulk_insert": ("bulk_inserter_takes_completion_time", "bulk_inserter_publishes_instant"),
    "commit_check": ("writer_takes_lock", "writer_is_refused"),
}
"""The actions that the default allows in place of the last ones of a history, if it does not allow these."""
ABSENT = {"commit_check": "writer_looks_at_heartbeat"}
"""The action of a history that the default does not have."""
CUT = {"commit_check": 3}
"""How many of the last actions are replaced, if not as many as `INSTEAD` has."""
TRACES = Path(__file__).parent / "traces"
MOST = 200


def without(rule: str) -> Protocol:
    """The protocol with one option back at its default."""
    return Protocol.from_mapping({name: value for name, value in HUDI.differences().items() if name != rule})


@pytest.mark.parametrize("rule", RULES)
def test_hudi_falsifies_the_setting_without_a_rule(rule: str) -> None:
    recorded = replace(load(TRACES / f"rule-{rule.replace('_', '-')}.json", []), protocol=HUDI)
    fitting = play(recorded, "hudi", factory("hudi"))
    assert (fitting.fits, fitting.verdict) == (True, "AGREED"), fitting.sentence
    instead = tuple(Step(recorded.steps[-1].actor, action) for action in INSTEAD.get(rule, ()))
    same = [step for step in recorded.steps if step.action != ABSENT.get(rule)]
    steps = (*same[: len(same) - CUT.get(rule, len(instead))], *instead)
    reverted = play(replace(recorded, protocol=without(rule), steps=steps), "hudi", factory("hudi"))
    assert reverted.verdict == "DISAGREED", reverted.sentence


@pytest.mark.parametrize("rule", RULES)
def test_without_a_rule_the_histories_that_are_drawn_disagree_soon(rule: str) -> None:
    """The model under the protocol stands in for Hudi, with which it agrees on these seeds. None has a bulk insert."""
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
