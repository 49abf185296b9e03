"""Histories in a row: a sitting goes on where the last one ended, and begins anew when something else is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.model import Protocol
from nbcc.model.mechanisms import kinds
from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.crosscheck import campaign, generators
from nbcc.simulator.crosscheck.campaign import Row, counted, go_on, stand_in
from nbcc.simulator.crosscheck.check import CheckOptions
from nbcc.simulator.systems.hudi_histories import fitted

HUDI = specs.protocol("hudi-1.2.0")
SETTING = CheckOptions(stand_in, protocol=HUDI, fitted=fitted, readers=())


def test_a_second_sitting_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "row.json"
    first = go_on(SETTING, path, 3)
    assert (first.histories, Row.read(path, counted(SETTING)).histories) == (3, 3)

    again = go_on(SETTING, path, 12)
    whole = go_on(SETTING, tmp_path / "other.json", 12)
    assert (again.steps, again.pairs, again.crowded) == (whole.steps, whole.pairs, whole.crowded)
    assert again.pairs
    assert "12 histories in a row agree" in again.text
    assert go_on(SETTING, path, 12).histories == 12


def test_a_crowded_row_has_instants_that_overlap_and_rollbacks_among_them(tmp_path: Path) -> None:
    row = go_on(SETTING, tmp_path / "row.json", 16)
    assert row.crowded >= 0.7 * row.histories
    assert {("upsert", "rollback"), ("rollback", "compaction"), ("compaction", "upsert")} <= row.pairs.keys()


def test_what_nobody_draws_for_hudi_changes_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other actors that `check` draws leave the count as it is; another drawing does not."""
    monkeypatch.setattr(campaign, "_sample", campaign._sample.__wrapped__)
    before = counted(SETTING)
    known = kinds()
    cleaner = replace(known["cleaner"], in_random_worlds=(0, 0, 0, 1))
    monkeypatch.setattr(generators, "kinds", lambda: {**known, "cleaner": cleaner})
    assert counted(SETTING) == before
    monkeypatch.setattr(generators, "DELETE_ONE_IN", 5)
    assert counted(SETTING) != before


def test_another_setting_is_another_row(tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    go_on(SETTING, path, 3)
    assert Row.read(path, counted(replace(SETTING, protocol=Protocol()))).histories == 0


def test_a_disagreement_ends_the_row(tmp_path: Path) -> None:
    """Hudi's role is played by the model under its setting, ours by the default."""
    path = tmp_path / "row.json"
    setting = replace(SETTING, factory=lambda w, p, b: stand_in(w, HUDI, b), protocol=Protocol())
    row = go_on(setting, path, 50)
    assert row.found is not None
    assert "the model says" in row.found.because
    assert Row.read(path, counted(setting)).histories == 0


def test_another_system_is_another_row(tmp_path: Path) -> None:
    """A row that the model has with itself is none of the engine's; Hudi's rows keep their name."""
    path = tmp_path / "row.json"
    model, engine = (replace(SETTING, system=name) for name in ("model", "engine"))
    go_on(model, path, 2)
    assert Row.read(path, counted(model)).histories == 2
    assert Row.read(path, counted(engine)).histories == 0
    assert counted(replace(SETTING, system="hudi")) == counted(SETTING)


@pytest.mark.parametrize("text", ["", "[1]", "null", "{}", '{"format": 1}', '{"name": "a package"}', "\udcff"])
def test_a_file_of_another_kind_is_left_as_it_is(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "package.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    before = path.read_bytes()
    assert run(["check", "--on", "model", "--resume", str(path), "--examples", "1"]) == 2
    assert "counts no histories in a row" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "more",
    ["demo", "--seed 4", "--seeds 2", "--workers 2", "--across spark", "--tour", "--share 0.5", "--json",
     "--summary s", "--on engine"],
)  # fmt: skip
def test_a_row_refuses_what_it_does_not_heed(more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", "--on", "model", "--resume", str(tmp_path / "row.json"), "--examples", "1", *more.split()]
    assert run(asked) == 2
    assert "--resume counts" in capsys.readouterr().err
    assert not (tmp_path / "row.json").exists()


def test_the_command_counts_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", "--on", "model", "--resume", str(tmp_path / "row.json"), "--examples", "4"]
    assert run(asked) == 0
    assert "4 histories in a row agree" in capsys.readouterr().out
