"""Apache Hudi 1.2.0 itself, the same interleavings as the model under the setting hudi-1.2.0, compared at each step."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.model import Model, Query, Record, Step, World
from nbcc.simulator import specs
from nbcc.simulator.crosscheck.check import Setting, run
from nbcc.simulator.crosscheck.disagreement import Disagreement
from nbcc.simulator.crosscheck.history import History
from nbcc.simulator.crosscheck.hudi_rules import HIDDEN, explained
from nbcc.simulator.crosscheck.observables import model_rows
from nbcc.simulator.replay import play
from nbcc.simulator.systems.hudi import HudiSystem, fitted
from nbcc.simulator.systems.registry import factory
from nbcc.simulator.trace import load

HUDI = specs.protocol("hudi-1.2.0")
HISTORIES = 24
GALLERY = Path(specs.__file__).parents[1] / "specs" / "traces"
INVERTED = Path(__file__).parent / "traces" / "inversion.json"
ACROSS = Path(__file__).parent / "traces" / "incremental-across-compaction.json"
COMPACTED = GALLERY / "08-merge-order.json"
WRITE = ("requests_instant", "starts_writing", "writes_log")
PUBLISH = ("takes_lock", "takes_completion_time", "publishes_instant")


def test_the_peer_comes_up_with_an_empty_table() -> None:
    system = HudiSystem(World())
    assert (system.timeline(), system.slices()) == ((), ())
    system.close()


def test_random_histories_agree_with_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    setting = Setting(factory("hudi"), protocol=HUDI, fitted=fitted, explained=explained)
    began = time.monotonic()
    report = run(setting, examples=HISTORIES, seed=1, shrinks=False)
    with capsys.disabled():
        print(f"\n{report.text}\n  {60 * report.histories / (time.monotonic() - began):.1f} histories a minute")
    assert report.found is None, report.text
    assert report.histories >= 20


def test_of_equal_updates_the_one_that_completes_later_does_not_win_on_hudi() -> None:
    """The snapshot after both writes is that of the younger request, not of the later completion."""
    outcome = play(load(INVERTED, []), "hudi", factory("hudi"))
    assert outcome.fits, outcome.sentence
    assert (outcome.verdict, outcome.same) == ("VIOLATED", True), outcome.sentence


def test_a_compaction_changes_the_answer_on_hudi() -> None:
    """The same two writes with a compaction between: until it completes the snapshot shows one row, then the other."""
    recorded = replace(load(COMPACTED, []), protocol=HUDI)
    shown: list[tuple[object, ...]] = []
    outcome = play(recorded, "hudi", factory("hudi"), lambda history: shown.append(history.system.rows(Query())))
    assert outcome.fits, outcome.sentence
    assert (outcome.verdict, outcome.same) == ("VIOLATED", True), outcome.sentence
    assert [row[2] for row in shown[0]] == ["w1.1"]


def test_the_default_setting_is_refuted_by_the_same_history() -> None:
    """The comparison sees the difference: under completion order the model expects the other row."""
    outcome = play(replace(load(INVERTED, []), protocol=specs.protocol("default")), "hudi", factory("hudi"))
    assert outcome.verdict == "DISAGREED", outcome.sentence


def test_a_pending_write_hides_committed_logs() -> None:
    """w2 stands in group 1 with its log, w3 commits to it after: Hudi shows nothing of w3 (apache/hudi#19774)."""
    shapes = {("w1", 1): (1, 0), ("w2", 1): (0, 1), ("w3", 1): (0, 1)}
    world = World(actors={"writer": 3}, partitions=2, writes=shapes)
    keys = {0: "a0", 1: "b0"}
    batches = {
        write: {(group, 1): {keys[group]: Record(1, f"{write[0]}.1", False)} for group, n in enumerate(shape) if n}
        for write, shape in shapes.items()
    }
    system = HudiSystem(world)
    history = History(Model(world, HUDI), system, batches)
    _take(history, "w1", *WRITE, *PUBLISH)
    _take(history, "w2", *WRITE)
    _take(history, "w3", *WRITE, *PUBLISH[:-1])
    with pytest.raises(Disagreement) as found:
        _take(history, "w3", PUBLISH[-1])
    assert explained(history, found.value) == HIDDEN
    system.close()


def test_an_incremental_read_across_a_compaction_is_not_what_the_setting_says() -> None:
    """A delete is late, requested first, and equal in ordering: the model's window merges the two logs and shows the
    upsert; Hudi shows nothing, as if it had merged the delete onto the base file. So it is skipped by name.
    """
    answers: list[tuple[object, object]] = []

    def read(history: History) -> None:
        ended = max(completed for *_, completed in history.timeline if completed)
        query = Query("incremental", after=0, until=ended)
        assert isinstance(history.system, HudiSystem)
        until = next(instant for instant, tick in history.system.ticks.items() if tick == ended)
        theirs = history.system.ask("read", kind="incremental", until=until)
        answers.append((model_rows(history.model, history.state, query, history.data), theirs))

    outcome = play(load(ACROSS), "hudi", factory("hudi"), read)
    assert outcome.fits, outcome.sentence
    assert [([row[2] for row in ours], theirs) for ours, theirs in answers] == [(["w1.1"], [])]


def _take(history: History, actor: str, *actions: str) -> None:
    for action in actions:
        step: Step = next(s for s in history.enabled() if (s.actor, s.action) == (actor, f"writer_{action}"))
        history.take(step)
