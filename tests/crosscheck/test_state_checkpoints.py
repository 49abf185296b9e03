"""Histories with a checkpointer: reads of the engine begin at a state checkpoint, answers of the model use all commits.
"""

from __future__ import annotations

import pytest

from nbcc.engine.services import state_checkpoints
from nbcc.engine.timeline.checkpointed import CheckpointedCommits
from nbcc.engine.timeline.instant import Instant
from nbcc.engine.timeline.state_checkpoint import StateCheckpoint
from nbcc.model import Model, World
from nbcc.simulator import specs
from nbcc.simulator.crosscheck.check import CheckOptions, run
from nbcc.simulator.crosscheck.report import CheckReport
from nbcc.simulator.systems.registry import factory


def checked(world: str, examples: int) -> CheckReport:
    return run(CheckOptions(factory("engine"), world=specs.world(world)), examples=examples, seed=0)


@pytest.mark.parametrize(
    "world", ["state_checkpoints", "state_checkpoints_restored_small", "state_checkpoints_log_compaction"]
)
def test_they_agree(world: str) -> None:
    report = checked(world, 8)
    assert report.disagreement is None, report.text


@pytest.mark.nightly
def test_a_tail_that_begins_at_the_request_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_covered(self: CheckpointedCommits, instant: Instant) -> bool:
        return instant.completed is not None and instant.requested <= self.checkpoint.time

    monkeypatch.setattr(CheckpointedCommits, "_is_covered", is_covered)
    assert checked("state_checkpoints", 60).disagreement is not None


@pytest.mark.nightly
def test_a_checkpoint_that_survives_a_restore_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StateCheckpoint, "holds_in", lambda self, timeline: True)
    assert checked("state_checkpoints_restored_small", 60).disagreement is not None


@pytest.mark.nightly
def test_a_checkpoint_without_the_inputs_of_a_pending_log_compaction_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_checkpoints, "planned_inputs", lambda context, timeline: frozenset())
    assert checked("state_checkpoints_log_compaction", 200).disagreement is not None


def test_a_world_that_is_not_modelled_is_refused() -> None:
    with pytest.raises(ValueError, match="a cleaner together with a checkpointer is not modelled"):
        Model(World(actors={"writer": 1, "cleaner": 1, "checkpointer": 1}, commits_retained=1))
