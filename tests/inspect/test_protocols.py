"""Under which settings a table can be: all that a plain table allows are named; what is not played tells nothing."""

from __future__ import annotations

from pathlib import Path

from nbcc.engine.audit import gather
from nbcc.model.mechanisms.lock_wait import LockWait
from nbcc.simulator import specs
from nbcc.simulator.validate import validate
from nbcc.simulator.validate.history import histories
from nbcc.simulator.validate.judge import protocols
from nbcc.simulator.validate.play import play, traced
from nbcc.simulator.validate.segments import Shape, segments
from nbcc.simulator.validate.view import View

from .golden import good_table
from .tables import engine_table
from .test_repairs import equal_completions

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
    """Whole and without those choices it allows the same segments; nobody gives a wait for the lock up in a history."""
    shapes: dict[Shape, None] = {}
    for seed in range(3):
        for history in histories(View(gather(engine_table(seed)), NOW)).groups:
            shapes |= dict.fromkeys(segment.shape for segment in segments(history, "completion"))
    for name in protocols():
        protocol = specs.protocol(name)
        if traced(protocol) != protocol and protocol[LockWait].lock_wait == "unbounded":
            for shape in list(shapes)[:4]:
                assert (play(shape, protocol) is None) == (play(shape, traced(protocol)) is None), name
