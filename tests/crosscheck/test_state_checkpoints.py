"""Histories with a checkpointer: reads of the engine begin at a state checkpoint, answers of the model use all commits.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.engine.services import state_checkpoints
from nbcc.engine.timeline.checkpointed import CheckpointedCommits
from nbcc.engine.timeline.instant import Instant
from nbcc.engine.timeline.state_checkpoint import StateCheckpoint
from nbcc.model import Model, State, Step, World
from nbcc.model.mechanisms.log_compaction.rules import LogCompaction
from nbcc.model.promises.derived import SAME
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.report import CheckReport
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.lockstep.witness import witness
from nbcc.simulator.search.explore import explore
from nbcc.simulator.trace import Trace


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
    # What a restore has undone is not on the timeline either, so this check would find it as well.
    monkeypatch.setattr(StateCheckpoint, "misfit", lambda self, listed, newest_archived, archived_since: "")
    assert checked("state_checkpoints_restored_small", 60).disagreement is not None


def hidden_inputs(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Reached when a log compaction has completed that was pending at a checkpoint, with inputs hidden by a replace."""
    done = model.component(after, "published")
    at = [checkpoint.time for checkpoint in model.component(after, "state_checkpoints")]
    replaced = [write for write in done if write.actor.startswith("over")]
    compacted = [instant for instant in done if isinstance(instant, LogCompaction)]
    is_reached = any(
        log.requested < write.requested and (write.completed or 0) <= time < log.completed
        for log in compacted for write in replaced for time in at
    )  # fmt: skip
    return "reached" if is_reached else None


@pytest.fixture(scope="module")
def hidden() -> Trace:
    """The shortest run to such a state."""
    model = Model(specs.world("state_checkpoints_log_compaction"))
    reached = explore(model, [replace(SAME, holds=hidden_inputs)], until_all_broken=True)
    steps = reached.promises["SAME"].trace
    assert steps is not None
    return Trace(world=model.world, protocol=model.protocol, steps=steps, batches=witness(model, steps))


def test_the_log_of_a_log_compaction_takes_the_place_of_hidden_inputs(hidden: Trace) -> None:
    outcome = play(hidden, "engine", factory("engine"))
    assert (outcome.fits, outcome.verdict) == (True, "AGREED"), outcome.sentence


def test_a_checkpoint_without_hidden_inputs_is_seen(hidden: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_checkpoints, "planned_inputs", lambda context, timeline: frozenset())
    outcome = play(hidden, "engine", factory("engine"))
    assert (outcome.fits, outcome.verdict) == (True, "DISAGREED"), outcome.sentence


def test_a_world_that_is_not_modelled_is_refused() -> None:
    with pytest.raises(ValueError, match="a cleaner together with a checkpointer is not modelled"):
        Model(World(actors={"writer": 1, "cleaner": 1, "checkpointer": 1}, commits_retained=1))
