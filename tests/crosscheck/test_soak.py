"""Soak test: a run continues the streak of the last one, and starts a new one if something else is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.model import Protocol
from nbcc.model.mechanisms import kinds
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck import check, generators
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions
from nbcc.simulator.lockstep.mapping import MAPPING
from nbcc.simulator.lockstep.mechanism import MappingRow
from nbcc.simulator.lockstep.systems.hudi_histories import fitted
from tools import soak as soak_module
from tools.soak import Streak, fingerprint, main, soak, stand_in

HUDI = specs.protocol("hudi-1.2.0")
SETTING = CheckOptions(stand_in, protocol=HUDI, fitted=fitted, readers=())


def test_a_second_sitting_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "streak.json"
    first = soak(SETTING, path, 3)
    assert (first.histories, Streak.resume(path, fingerprint(SETTING)).histories) == (3, 3)

    again = soak(SETTING, path, 12)
    whole = soak(SETTING, tmp_path / "other.json", 12)
    assert (again.steps, again.pairs, again.crowded) == (whole.steps, whole.pairs, whole.crowded)
    assert again.pairs
    assert "12 consecutive histories agree" in again.text
    assert soak(SETTING, path, 12).histories == 12


def test_a_crowded_row_has_instants_that_overlap_and_rollbacks_among_them(tmp_path: Path) -> None:
    streak = soak(SETTING, tmp_path / "streak.json", 16)
    assert streak.crowded >= 0.7 * streak.histories
    assert {("upsert", "rollback"), ("rollback", "compaction"), ("compaction", "upsert")} <= streak.pairs.keys()


def test_options_never_drawn_for_hudi_change_no_streak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other actors that `check` draws leave the count as it is; another drawing does not."""
    monkeypatch.setattr(soak_module, "_sample", soak_module._sample.__wrapped__)
    before = fingerprint(SETTING)
    known = kinds()
    monkeypatch.setattr(
        generators, "kinds", lambda: {**known, "cleaner": replace(known["cleaner"], in_random_worlds=(0, 0, 0, 1))}
    )
    assert fingerprint(SETTING) == before
    monkeypatch.setattr(generators, "DELETE_ONE_IN", 5)
    assert fingerprint(SETTING) != before


def test_actions_that_no_history_on_hudi_has_change_no_streak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Swarm schedules draw whether to avoid an action, for the actions of the world alone."""
    monkeypatch.setattr(soak_module, "_sample", soak_module._sample.__wrapped__)
    before = fingerprint(SETTING)
    monkeypatch.setattr(check, "MAPPING", [MappingRow("another_action", "upsert"), *MAPPING])
    assert fingerprint(SETTING) == before


def test_another_setting_is_another_row(tmp_path: Path) -> None:
    path = tmp_path / "streak.json"
    soak(SETTING, path, 3)
    assert Streak.resume(path, fingerprint(replace(SETTING, protocol=Protocol()))).histories == 0


def test_a_disagreement_ends_the_row(tmp_path: Path) -> None:
    """Hudi's role is played by the model under its setting, ours by the default."""
    path = tmp_path / "streak.json"
    setting = replace(SETTING, factory=lambda w, p, b: stand_in(w, HUDI, b), protocol=Protocol())
    streak = soak(setting, path, 50)
    assert streak.disagreement is not None
    assert "the model says" in streak.disagreement.because
    assert Streak.resume(path, fingerprint(setting)).histories == 0


def test_another_system_is_another_row(tmp_path: Path) -> None:
    """A row that the model has with itself does not count as the engine's; Hudi's rows keep their name."""
    path = tmp_path / "streak.json"
    model, engine = (replace(SETTING, system=name) for name in ("model", "engine"))
    soak(model, path, 2)
    assert Streak.resume(path, fingerprint(model)).histories == 2
    assert Streak.resume(path, fingerprint(engine)).histories == 0
    assert fingerprint(replace(SETTING, system="hudi")) == fingerprint(SETTING)


@pytest.mark.parametrize("text", ["", "[1]", "null", "{}", '{"format": 1}', '{"name": "a package"}', "\udcff"])
def test_a_file_of_another_kind_is_left_as_it_is(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "package.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    before = path.read_bytes()
    assert main([str(path), "--on", "model", "--histories", "1"]) == 2
    assert "is not the state file of a soak test" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_the_command_counts_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "streak.json"), "--on", "model", "--histories", "4"]) == 0
    assert "4 consecutive histories agree" in capsys.readouterr().out
