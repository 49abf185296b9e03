"""The features of the mechanisms: every name exists, everything that exists has a feature, the page shows them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.simulator.cli.main import run
from nbcc.simulator.lockstep.mechanism import Feature
from nbcc.simulator.lockstep.mechanisms import features
from tools import mechanisms
from tools.mechanisms import homeless, missing, page

ALL = list(features().values())
UPSERT = features()["upsert"]
PAGE = Path(__file__).parents[2] / "docs" / "mechanisms.md"


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
def test_what_a_mechanism_names_is_there(mechanism: Feature) -> None:
    assert list(missing(mechanism)) == []


def test_every_action_operation_and_choice_has_a_mechanism() -> None:
    assert list(homeless(ALL)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"model": ("writer_requests_instants",)},
        {"options": ("slicings",)},
        {"options": ("world.crash",)},
        {"engine": ("upserts",)},
        {"engine": ("files.slices:no_such_function",)},
        {"engine": ("no.such.module:run",)},
        {"hudi": ("levitate",)},
        {"mutants": ("no-mutant",)},
        {"verdicts": ("default",)},
        {"promises": ("PEACE",)},
        {"trace": "00-none"},
        {"boundary": "words that do not stand there"},
        {"hudi": ("start",), "hudi_impossible": "because"},
    ],
    ids=str,
)
def test_what_is_not_there_is_reported(change: dict[str, object]) -> None:
    [sentence] = missing(replace(UPSERT, **change))  # type: ignore[arg-type]  # one field at a time
    assert sentence.startswith("upsert: ")


def test_what_no_mechanism_names_is_reported() -> None:
    lone = [each for each in ALL if each.name not in ("incremental", "upsert")]
    assert "model: no mechanism names 'writer_takes_lock'" in (complaints := list(homeless(lone)))
    assert "engine: no mechanism names 'upsert'" in complaints
    assert "options: no mechanism names 'incremental_axis'" in complaints


def test_the_page_is_what_the_files_say() -> None:
    """NBCC_SNAPSHOTS=write writes it again."""
    if os.environ.get("NBCC_SNAPSHOTS") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text("utf-8") == page()
    assert all(f"| [{each.name}] | " in page() for each in ALL)
    assert max(map(len, page().splitlines())) < 200


def test_an_empty_column_is_shown_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = replace(UPSERT, trace="", mutants=(), model=())
    monkeypatch.setattr(mechanisms, "features", lambda: {"upsert": bare})
    assert page().count(f"| {mechanisms.NOT_YET} ") == 2  # breaks, run
    assert "- upsert has no answer for: mapping, mutants, gallery" in page()


def test_the_command_lists_and_explains_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "mechanisms"]) == 0
    assert "compaction  " in capsys.readouterr().out
    assert run(["explain", "compaction"]) == 0
    text = capsys.readouterr().out
    assert "compaction  (mechanism)" in text
    assert "on Apache Hudi: plan, compact, commit_compaction" in text
