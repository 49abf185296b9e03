"""specs/mechanisms: what a file names is there, what there is has a mechanism, the page tells what the files say."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.simulator.cli.main import run
from nbcc.simulator.mechanisms import Mechanism, from_mapping, load, names
from tools import mechanisms
from tools.mechanisms import homeless, missing, page

ALL = [load(name) for name in names()]
PAGE = Path(__file__).parents[2] / "docs" / "mechanisms.md"


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
def test_what_a_mechanism_names_is_there(mechanism: Mechanism) -> None:
    assert list(missing(mechanism)) == []


def test_every_action_operation_and_choice_has_a_mechanism() -> None:
    assert list(homeless(ALL)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"model": ("writer_requests_instants",)},
        {"settings": ("slicings",)},
        {"settings": ("world.crash",)},
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
def test_what_is_not_there_is_said(change: dict[str, object]) -> None:
    [sentence] = missing(replace(load("upsert"), **change))  # type: ignore[arg-type]  # one field at a time
    assert sentence.startswith("upsert: ")


def test_what_no_mechanism_names_is_said() -> None:
    lone = [each for each in ALL if each.name not in ("incremental", "upsert")]
    assert "model: no mechanism names 'writer_takes_lock'" in (said := list(homeless(lone)))
    assert "engine: no mechanism names 'upsert'" in said
    assert "settings: no mechanism names 'incremental_axis'" in said


def test_a_file_that_is_wrong_says_why() -> None:
    with pytest.raises(ValueError, match="unknown field 'modell'; did you mean 'model'"):
        from_mapping("x", {"modell": []})
    with pytest.raises(ValueError, match="'source' is missing"):
        from_mapping("x", {"format": 1, "title": "t", "about": "a", "issue": 1})
    with pytest.raises(ValueError, match="no mechanism is called 'compactions'; did you mean 'compaction'"):
        load("compactions")


def test_the_page_is_what_the_files_say() -> None:
    """NBCC_SNAPSHOTS=write makes it anew."""
    if os.environ.get("NBCC_SNAPSHOTS") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text("utf-8") == page()
    assert all(f"| **{each.title}** " in page() for each in ALL)


def test_an_empty_column_is_shown_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = replace(load("upsert"), trace="", mutants=(), model=())
    monkeypatch.setattr(mechanisms, "names", lambda: ("upsert",))
    monkeypatch.setattr(mechanisms, "load", lambda name: bare)
    assert page().count(f"| {mechanisms.NOT_YET} ") == 3  # mapping, mutants, gallery
    assert "0 of 1 have every column" in page()


def test_the_command_lists_and_explains_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "mechanisms"]) == 0
    assert "compaction  " in capsys.readouterr().out
    assert run(["explain", "compaction"]) == 0
    text = capsys.readouterr().out
    assert "compaction  (mechanism)" in text
    assert "on Apache Hudi: plan, compact, commit_compaction" in text
