"""Apache Hudi 1.2.0 plays the interleavings of the model under the protocol hudi-1.2.0, compared after each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Model, Query, Record, Step, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.readers import hudi_rs, standard_readers
from nbcc.simulator.lockstep.crosscheck.report import Tally
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.systems.hudi import HudiSystem
from nbcc.simulator.lockstep.systems.hudi_histories import fitted
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.observables import model_rows
from nbcc.simulator.trace import load
from tools.soak import STREAK, soak

HUDI = specs.protocol("hudi-1.2.0")
CHOOSES_EARLY = HUDI.replace(rollback_check="before_lock")
HISTORIES = 240
EARLY, REPEATED = 20, 5  # histories in which rollbacks are chosen before the lock; with one write rolled back twice
NIGHTLY, SITTING = 2_000, 1_800  # histories, and seconds a night
MET = 30
GALLERY = Path(specs.__file__).parents[1] / "specs" / "traces"
INVERTED = Path(__file__).parent / "traces" / "inversion.json"
ACROSS = Path(__file__).parent / "traces" / "incremental-across-compaction.json"
COMPACTED = GALLERY / "08-merge-order.json"
Remember = Callable[[str, object], None]
WRITE = ("requests_instant", "starts_writing", "writes_log")
PUBLISH = ("takes_lock", "takes_completion_time", "publishes_instant")


def test_the_peer_comes_up_with_an_empty_table() -> None:
    system = HudiSystem(World())
    assert (system.timeline(), system.slices()) == ((), ())
    system.close()


def test_random_histories_agree_with_the_model(record_property: Remember, tmp_path: Path) -> None:
    streak = soak(CheckOptions(factory("hudi"), protocol=HUDI, fitted=fitted), tmp_path / "streak.json", HISTORIES)
    record_property("streak", streak.text)
    assert streak.disagreement is None, streak.disagreement and streak.disagreement.because
    assert streak.histories == HISTORIES
    assert streak.crowded >= 0.7 * streak.histories
    every = set(product(("upsert", "delete", "compaction", "rollback"), repeat=2)) - {("compaction", "compaction")}
    assert {pair for pair, count in streak.pairs.items() if count >= MET} == every  # Hudi plans no second compaction


def test_histories_whose_rollbacks_are_chosen_before_the_lock_agree(tmp_path: Path) -> None:
    """Some of them roll one write back twice."""
    repeated = list[bool]()

    def count_repeated(history: PlayedHistory, tally: Tally) -> None:
        undone = _rolled_back(history)
        repeated.append(len(undone) > len(set(undone)))

    readers = (*standard_readers(), count_repeated)
    early = CheckOptions(factory("hudi"), protocol=CHOOSES_EARLY, fitted=fitted, readers=readers)
    streak = soak(early, tmp_path / "streak.json", EARLY)
    assert streak.disagreement is None, streak.disagreement and streak.disagreement.because
    assert streak.pairs["upsert", "rollback"]
    assert sum(repeated) >= REPEATED


def test_a_second_rollback_that_begins_after_the_first_one_finds_no_instant_and_completes() -> None:
    """The plan of roll2 names a write that roll1 has rolled back. It fails only if the runs overlap (finding
    second-rollback-of-one-write).
    """
    world = World(actors={"writer": 1, "rollbacker": 2}, stalls=1, rollbacks=2, granularity="call")
    system = HudiSystem(world)
    batches = {("w1", 1): {(0, 1): {"a0": Record(1, "w1.1", False)}}}
    history = PlayedHistory(Model(world, CHOOSES_EARLY), system, batches)
    _take(history, "w1", *WRITE, "looks_at_heartbeat")
    _take(history, "w1", "expires", kind="heartbeat")
    for action in ("chooses_write", "plans_rollback"):
        for rollbacker in ("roll1", "roll2"):
            _take(history, rollbacker, action, kind="rollbacker")
    _take(history, "roll1", "starts_rollback", "deletes_log", "removes_instant", *PUBLISH, kind="rollbacker")
    assert [entry[:2] for entry in system.timeline()] == [("rollback", "completed"), ("rollback", "requested")]
    _take(history, "roll2", "starts_rollback", "removes_instant", *PUBLISH, kind="rollbacker")
    history.finish()
    assert [entry[:2] for entry in system.timeline()] == [("rollback", "completed"), ("rollback", "completed")]
    assert _rolled_back(history) == [1, 1]
    system.close()


def test_a_rollback_of_a_write_that_was_chosen_before_it_completed_is_planned() -> None:
    """Hudi chooses before it takes the lock, and does not look again under it: `rollback_check = before_lock`."""
    world = World(actors={"writer": 1, "rollbacker": 1}, stalls=1, rollbacks=1, granularity="call")
    system = HudiSystem(world)
    model = Model(world, CHOOSES_EARLY)
    history = PlayedHistory(model, system, {("w1", 1): {(0, 1): {"a0": Record(1, "w1.1", False)}}})
    _take(history, "w1", *WRITE, "looks_at_heartbeat")
    _take(history, "w1", "expires", kind="heartbeat")
    [rollbacker] = model.actors_of("rollbacker")
    _take(history, rollbacker, "chooses_write", kind="rollbacker")
    _take(history, "w1", *PUBLISH)
    _take(history, rollbacker, "plans_rollback", kind="rollbacker")
    assert [entry[:2] for entry in system.timeline()] == [("deltacommit", "completed"), ("rollback", "requested")]
    system.close()


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_two_thousand_histories_in_a_row_agree(record_property: Remember) -> None:
    """Over as many runs as it takes: the state file in specs/soak is committed with the code."""
    streak = soak(CheckOptions(factory("hudi"), protocol=HUDI, fitted=fitted), STREAK, NIGHTLY, seconds=SITTING)
    record_property("streak", streak.text)
    assert streak.disagreement is None, streak.disagreement and streak.disagreement.because


def test_of_equal_updates_the_one_that_completes_later_does_not_win_on_hudi() -> None:
    """The snapshot after both writes shows the row of the later request, not of the later completion."""
    outcome = play(load(INVERTED, []), "hudi", factory("hudi"))
    assert outcome.fits, outcome.sentence
    assert (outcome.verdict, outcome.same) == ("VIOLATED", True), outcome.sentence


def test_a_compaction_changes_the_answer_on_hudi() -> None:
    """The same two writes with a compaction in between: its completion changes the row that the snapshot shows."""
    recorded = replace(load(COMPACTED, []), protocol=HUDI)
    shown: list[tuple[Any, ...]] = []
    outcome = play(recorded, "hudi", factory("hudi"), lambda history: shown.append(history.system.rows(Query())))
    assert outcome.fits, outcome.sentence
    assert (outcome.verdict, outcome.same) == ("VIOLATED", True), outcome.sentence
    assert [row[2] for row in shown[0]] == ["w1.1"]


def test_the_default_setting_is_refuted_by_the_same_history() -> None:
    """The comparison sees the difference: under completion order the model expects the other streak."""
    outcome = play(replace(load(INVERTED, []), protocol=specs.protocol("default")), "hudi", factory("hudi"))
    assert outcome.verdict == "DISAGREED", outcome.sentence


def test_a_pending_write_hides_committed_logs() -> None:
    """The log of w2 is pending in group 1, w3 commits to that group: Hudi hides its row (apache/hudi#19774), and
    hudi-rs shows it.
    """
    shapes = {("w1", 1): (1, 0), ("w2", 1): (0, 1), ("w3", 1): (0, 1)}
    world = World(actors={"writer": 3}, partitions=2, writes=shapes, granularity="call")
    keys = {0: "a0", 1: "b0"}
    batches = {
        write: {(group, 1): {keys[group]: Record(1, f"{write[0]}.1", False)} for group, n in enumerate(shape) if n}
        for write, shape in shapes.items()
    }
    system = HudiSystem(world)
    history = PlayedHistory(Model(world, HUDI), system, batches)
    _take(history, "w1", *WRITE, *PUBLISH)
    _take(history, "w2", *WRITE)
    _take(history, "w3", *WRITE, *PUBLISH)
    assert [row[2] for row in system.rows(Query())] == ["w1.1"]
    tally = Tally()
    hudi_rs(history, tally)
    assert tally.differences["hudi-rs, first_slice = first_completed"]
    _take(history, "w2", *PUBLISH)
    assert [row[2] for row in system.rows(Query())] == ["w1.1", "w3.1"]
    system.close()


def test_an_incremental_read_merges_a_late_log_onto_the_base_file_of_its_window() -> None:
    """A late delete was requested first and has an equal ordering value. The window's two logs alone merge to
    the upsert; Hudi shows nothing, because it merges the delete onto the base file that holds the upsert.
    """
    recorded, answers = load(ACROSS), []

    def read(history: PlayedHistory) -> None:
        query = Query("incremental", after=0, until=max(completed for *_, completed in history.timeline if completed))
        answers.append(history.system.rows(query))

    outcome = play(replace(recorded, protocol=HUDI), "hudi", factory("hudi"), read)
    assert (outcome.fits, outcome.verdict, answers) == (True, "AGREED", [()]), outcome.sentence
    merged = play(replace(recorded, protocol=HUDI.replace(window_merge="logs")), "hudi", factory("hudi"))
    assert merged.verdict == "DISAGREED", merged.sentence


def test_a_plan_takes_the_logs_behind_one_that_a_rollback_has_taken_away() -> None:
    outcome = play(load(Path(__file__).parent / "traces" / "plan-after-rollback.json"), "hudi", factory("hudi"))
    assert (outcome.fits, outcome.verdict) == (True, "AGREED"), outcome.sentence


@pytest.mark.parametrize("merge_mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
def test_every_window_is_as_the_model_says_before_during_and_after_a_compaction(merge_mode: str) -> None:
    """w2 begins before w3 and completes while the compaction is pending: its window shows it only after that."""
    world = World(actors={"writer": 3, "compactor": 1}, keys=3, merge_mode=merge_mode, granularity="call")
    rows = {"w1": ("a0",), "w2": ("a1",), "w3": ("a0", "a2")}
    batches = {(me, 1): {(0, 1): {key: Record(1, f"{me}.1", False) for key in keys}} for me, keys in rows.items()}
    system = HudiSystem(world)
    history = PlayedHistory(Model(world, HUDI), system, batches)
    [compactor] = history.model.actors_of("compactor")
    _take(history, "w1", *WRITE, *PUBLISH)
    _take(history, "w2", *WRITE)
    _take(history, "w3", *WRITE, *PUBLISH)
    _compare_windows(history)
    for actions in (("schedules_plan",), ("starts_plan", "writes_base")):
        _take(history, compactor, *actions, kind="compactor")
        _compare_windows(history)
    _take(history, "w2", *PUBLISH)
    assert _compare_windows(history)[-1] == ()
    _take(history, compactor, *PUBLISH, kind="compactor")
    late = _compare_windows(history)[-3]
    assert [row[2] for row in late] == ["w2.1"]
    system.close()


def _compare_windows(history: PlayedHistory) -> list[tuple[Any, ...]]:
    """Every window between two completion times, on the model and on Hudi; its answers, the last window last."""
    times = sorted(completed for *_, completed in history.timeline if completed)
    answers = []
    for after, until in combinations([0, *times], 2):
        query = Query("incremental", after=after, until=until)
        answers.append(history.system.rows(query))
        expected = model_rows(history.model, history.state, query, history.data)
        history.compare(history.described(query), expected, answers[-1])
    return answers


def _rolled_back(history: PlayedHistory) -> list[int]:
    """Return the requested times of the writes whose rollbacks have completed, once for each rollback."""
    if not history.model.actors_of("rollbacker"):
        return []
    done = {requested for *_, requested, completed in history.timeline if completed}
    return [each.target for each in history.model.component(history.state, "rollbacks") if each.requested in done]


def _take(history: PlayedHistory, actor: str, *actions: str, kind: str = "writer") -> None:
    for action in actions:
        step: Step = next(s for s in history.enabled() if (s.actor, s.action) == (actor, f"{kind}_{action}"))
        history.take(step)
