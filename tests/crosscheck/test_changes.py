"""Histories play a change by a condition by its own verb and by a merge, and both do what the model says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.lockstep.systems import changes, engine
from nbcc.simulator.trace import load

FOLDER = Path(__file__).parents[2] / "specs" / "traces"


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, bool]]:
    """The verbs that were played, each with whether it was played as a merge."""
    found: set[tuple[str, bool]] = set()

    def change(verb: str, *arguments: Any) -> Any:
        run, given = changes.change(verb, *arguments)
        found.add((verb, run is changes.merge))
        return run, given

    monkeypatch.setattr(engine, "change", change)
    return found


@pytest.mark.parametrize(
    ("name", "as_merge"),
    [("113-row-survives-delete", {("delete", True)}), ("114-update-is-lost", {("update", True), ("update", False)})],
)
def test_a_change_is_played_by_its_verb_and_by_a_merge(
    name: str, as_merge: set[tuple[str, bool]], played: set[tuple[str, bool]]
) -> None:
    [outcome] = replay(load(name, [FOLDER]), ["engine"]).outcomes
    assert outcome.fits
    assert outcome.same, outcome.because
    assert played == as_merge
