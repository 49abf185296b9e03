"""The table of peer steps, phases of a schedule, and what replay says of a step that a system has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Step, World
from nbcc.model.actions import mechanisms
from nbcc.simulator import specs
from nbcc.simulator.peers.process import PeerMissing, peer
from nbcc.simulator.replay import play
from nbcc.simulator.schedule import Phases, Random, no_choice
from nbcc.simulator.systems import Impossible
from nbcc.simulator.systems.hudi import fitted
from nbcc.simulator.systems.hudi_steps import PHASES, STEPS
from nbcc.simulator.systems.model import ModelSystem
from nbcc.simulator.systems.registry import factory
from nbcc.simulator.trace import load

ONE_WRITE = Path(specs.__file__).parents[1] / "specs" / "traces" / "01-one-write.json"


def test_every_action_of_the_model_has_one_row() -> None:
    actions = sorted(action.name for mechanism in mechanisms() for action in mechanism.actions)
    assert sorted(step.action for step in STEPS) == actions


def test_a_row_without_a_call_says_why() -> None:
    assert all((step.call is None) == bool(step.because) for step in STEPS)
    assert {action for phase in PHASES for action in phase} <= {step.action for step in STEPS}


def test_who_has_begun_a_phase_finishes_it() -> None:
    schedule = Phases(Random(), PHASES)
    schedule.begin(lambda n: 0, ["w1", "w2"], [])
    begun, other, rest = Step("w1", "writer_starts_writing"), Step("w2", "writer_starts_writing"), _log("w1")
    assert schedule.next(lambda n: 0, [begun, other]) == begun
    assert schedule.next(no_choice, [other, rest]) == rest
    assert schedule.next(lambda n: 0, [other]) == other
    assert schedule.next(no_choice, [Step("w1", "actor_crashes"), _log("w2")]) == _log("w2")


def test_a_world_is_cut_down_to_one_log_file_a_group_and_write() -> None:
    world = fitted(World(buckets=2, log_versions=3, writes={("w1", 1): (2, 0), ("w2", 1): (1, 3)}))
    assert (world.log_versions, dict(world.writes)) == (1, {("w1", 1): (1, 0), ("w2", 1): (1, 1)})


def test_a_step_that_a_system_has_not_is_no_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(self: Any, actor: str, operation: str, args: Any) -> Any:
        raise Impossible("there is no such step here")

    monkeypatch.setattr(ModelSystem, "start", refuses)
    outcome = play(load(ONE_WRITE), "model", factory("model"))
    assert (outcome.fits, outcome.stopped_at, outcome.reasons) == (False, 1, ("there is no such step here",))
    assert outcome.verdict != "DISAGREED"


def test_a_peer_without_environment_says_how_to_build_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NBCC_ELSEWHERE_PYTHON", str(tmp_path / "python"))
    with pytest.raises(PeerMissing, match="`make interop` builds it"):
        peer("elsewhere")


def _log(actor: str) -> Step:
    return Step(actor, "writer_writes_log", (("group", 0), ("version", 1)))
