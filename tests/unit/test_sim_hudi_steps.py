"""The table of peer steps, phases of a schedule, and what replay says of a step that a system has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc.model import World
from nbcc.model.actions import mechanisms
from nbcc.simulator import specs
from nbcc.simulator.peers.process import PeerMissing, peer
from nbcc.simulator.replay import play
from nbcc.simulator.systems import Impossible
from nbcc.simulator.systems.hudi import fitted
from nbcc.simulator.systems.hudi_steps import STEPS
from nbcc.simulator.systems.model import ModelSystem
from nbcc.simulator.systems.registry import factory
from nbcc.simulator.trace import load

ONE_WRITE = Path(specs.__file__).parents[1] / "specs" / "traces" / "01-one-write.json"


def test_every_action_of_the_model_has_one_row() -> None:
    actions = sorted(action.name for mechanism in mechanisms() for action in mechanism.actions)
    assert sorted(step.action for step in STEPS) == actions


def test_a_row_without_a_call_says_why() -> None:
    assert all((step.call is None) == bool(step.because) for step in STEPS)


def test_a_world_is_cut_down_to_one_log_file_a_group_and_write() -> None:
    world = fitted(World(buckets=2, log_versions=3, writes={("w1", 1): (2, 0), ("w2", 1): (1, 3)}))
    assert (world.log_versions, dict(world.writes)) == (1, {("w1", 1): (1, 0), ("w2", 1): (1, 1)})
    assert world.grain == "peer"


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
