"""Under which protocols the history of a table is possible. A plain table allows all of them."""

from __future__ import annotations

from pathlib import Path

from nbcc.engine.audit import gather
from nbcc.model.mechanisms.decision_log import DecisionLog
from nbcc.model.mechanisms.lock_wait import LockWait
from nbcc.simulator import specs
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.history import histories
from nbcc.simulator.audit.judge import protocols
from nbcc.simulator.audit.play import play, traced
from nbcc.simulator.audit.segments import SegmentShape, segments
from nbcc.simulator.audit.view import TableView
from tests.builders.repairs import equal_completions
from tools.detection.tables import engine_table

from .golden import good_table

NOW = "20270101000000000"


def test_a_plain_table_can_be_under_every_setting(tmp_path: Path) -> None:
    """Seconds that collide among them: they may collide, they need not."""
    found = validate(good_table(tmp_path / "t")).history
    assert found is not None
    assert {*found.legal} == {*protocols()}
    assert {"colliding-seconds", "test-and-set"} <= {*found.legal}
    assert not found.excluded


def test_equal_times_are_what_seconds_explain_and_nothing_else(tmp_path: Path) -> None:
    table = good_table(tmp_path / "t")
    equal_completions(table, tmp_path / "t")
    found = validate(table).history
    assert found is not None
    assert found.legal == ("colliding-seconds", "test-and-set")
    assert found.refusal is not None
    assert found.refusal.reasons == ("its time must not be that of the event before it",)


def test_what_is_left_out_of_a_setting_leaves_no_trace() -> None:
    """Whole and without those choices it allows the same segments; no actor stops waiting for the lock in a history."""
    shapes: dict[SegmentShape, None] = {}
    for seed in range(3):
        for history in histories(TableView(gather(engine_table(seed)), NOW)).groups:
            shapes |= dict.fromkeys(segment.shape for segment in segments(history, "completion"))
    for name in protocols():
        protocol = specs.protocol(name)
        if protocol[DecisionLog].decision in ("shared", "free"):
            continue  # the model refuses the worlds of segments: it has one compactor there
        if traced(protocol) != protocol and protocol[LockWait].lock_wait == "unbounded":
            for shape in list(shapes)[:4]:
                assert (play(shape, protocol) is None) == (play(shape, traced(protocol)) is None), name
