"""The answers of several systems next to the model's, in the trace that a page shows."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from nbcc.simulator.lockstep.replay import replay, side_by_side
from nbcc.simulator.trace import Trace, load
from nbcc.simulator.view.trace_content import content_of

GALLERY = Path(str(files("nbcc") / "specs" / "traces"))


def lost_row() -> Trace:
    return load("06-lost-row", [GALLERY])


def test_a_systems_answers_are_shown_next_to_the_models() -> None:
    together = side_by_side(replay(lost_row(), ("model", "engine")).outcomes)
    [engine] = content_of(together).systems

    assert engine.name == "engine"
    assert engine.answers[-1] == (len(together.steps), [("a0", "w1.1")])  # w2.1 is the row that is lost


def test_the_model_alone_has_no_columns() -> None:
    together = side_by_side(replay(lost_row()).outcomes)

    assert content_of(together).systems == []
