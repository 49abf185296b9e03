"""The table of Hudi's steps, the phases of a schedule, and the message of `replay` for a step that a system lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Model, World, mechanisms
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.mapping import STEPS
from nbcc.simulator.lockstep.peers.process import PeerMissing, peer
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.systems import Impossible
from nbcc.simulator.lockstep.systems.hudi_histories import does_otherwise, fitted
from nbcc.simulator.lockstep.systems.model import ModelSystem
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.trace import load

ONE_WRITE = Path(specs.__file__).parents[1] / "specs" / "traces" / "01-one-write.json"


def test_every_action_of_the_model_has_one_row() -> None:
    actions = sorted(mechanisms.actions())
    assert sorted(STEPS) == actions


def test_a_row_without_a_call_says_why() -> None:
    assert all((step.call is None) == bool(step.because) for step in STEPS.values())


def test_a_world_is_cut_down_to_one_log_file_a_group_and_write() -> None:
    world = fitted(World(buckets=2, log_versions=3, writes={("w1", 1): (2, 0), ("w2", 1): (1, 3)}))
    assert (world.log_versions, dict(world.writes)) == (1, {("w1", 1): (1, 0), ("w2", 1): (1, 1)})
    assert world.granularity == "call"


WRITES = ("writer_requests_instant", "writer_starts_writing", "writer_writes_log")
ROLLS_BACK = (
    "rollbacker_starts_rollback", "rollbacker_deletes_log", "rollbacker_removes_instant", "rollbacker_takes_lock",
    "rollbacker_takes_completion_time", "rollbacker_publishes_instant",
)  # fmt: skip


def left_out(*actions: str) -> list[set[str]]:
    """Before each of the actions: the enabled ones that Hudi's client would not do."""
    world = World(actors={"writer": 1, "rollbacker": 1}, stalls=1, rollbacks=1, crashes=1, granularity="call")
    model = Model(world, specs.protocol("hudi-1.2.0"))
    state, found = model.initial, []
    for action in actions:
        enabled = list(model.enabled(state))
        found.append({step.action for step in enabled if does_otherwise(model, state, step)})
        state = model.apply(state, next(step for step in enabled if step.action == action))
    return found


def test_a_live_writer_stalls_once_its_files_are_there_and_is_refused_after_its_rollback() -> None:
    """Hudi's client would commit before that rollback has completed, and would fail at once without files."""
    before_files, early = {"heartbeat_expires"}, {"writer_is_refused"}
    expected = [set(), before_files, set(), set(), early, early, *[set()] * 6]
    found = left_out(*WRITES, "heartbeat_expires", "rollbacker_plans_rollback", *ROLLS_BACK, "writer_is_refused")
    assert found == expected


def test_a_live_writer_that_has_checked_its_heartbeat_commits_until_its_rollback_is_executed() -> None:
    checked = (*WRITES, "writer_looks_at_heartbeat", "heartbeat_expires", "rollbacker_plans_rollback")
    commits = ("writer_takes_lock", "writer_takes_completion_time", "writer_publishes_instant")
    assert left_out(*checked, *commits, "rollbacker_starts_rollback")[-1] == {"rollbacker_starts_rollback"}
    assert left_out(*checked, *ROLLS_BACK, "writer_takes_lock")[-1] == {"writer_takes_lock"}


def test_a_step_that_a_system_has_not_is_no_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(self: Any, actor: str, operation: str, args: Any) -> Any:
        raise Impossible("there is no such step here")

    monkeypatch.setattr(ModelSystem, "start", refuses)
    outcome = play(load(ONE_WRITE), "model", factory("model"))
    assert (outcome.fits, outcome.stopped_at, outcome.reasons) == (False, 1, ("there is no such step here",))
    assert outcome.verdict != "DISAGREED"


def test_a_peer_without_environment_says_how_to_build_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NBCC_HUDI_PYTHON", str(tmp_path / "python"))
    with pytest.raises(PeerMissing, match="`make interop` builds it"):
        peer("hudi")


def test_a_peer_without_its_programs_asks_for_a_checkout() -> None:
    """As in an installed wheel, which has no `tools`."""
    with pytest.raises(PeerMissing, match="the peer elsewhere needs a checkout of nbcc, where `make interop` builds"):
        peer("elsewhere")


def test_a_plan_that_looks_at_logs_does_not_see_those_that_a_rollback_has_taken_away() -> None:
    """The first request with a log in group 0 was rolled back: what completed behind it is compacted."""
    trace = load(Path(__file__).parents[1] / "interop" / "traces" / "plan-after-rollback.json")
    planned: list[int] = []

    def look(history: PlayedHistory) -> None:
        planned.extend(part.group for part in history.model.table(history.state).plans[-1].groups)

    assert play(trace, "model", factory("model"), look).fits
    assert planned == [0, 1]
