"""What several systems read, beside the model: the trace that a page shows."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from nbcc.simulator.replay import replay, side_by_side
from nbcc.simulator.trace import Trace, load
from nbcc.simulator.view.frames import document

GALLERY = Path(str(files("nbcc") / "specs" / "traces"))


def lost_row() -> Trace:
    return load("06-lost-row", [GALLERY])


def test_a_systems_answers_stand_beside_the_models() -> None:
    together = side_by_side(replay(lost_row(), ("model", "engine")).outcomes)
    [engine] = document(together)["systems"]

    assert engine["name"] == "engine"
    assert engine["answers"][-1] == [len(together.steps), [["a0", "w1.1"]]]  # w2.1 is the row that is lost


def test_the_model_alone_has_no_columns() -> None:
    together = side_by_side(replay(lost_row()).outcomes)

    assert document(together)["systems"] == []
