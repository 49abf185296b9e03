"""The tables of docs/speed.md and docs/locks.md are those of the recorded runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import requests
from tools import speed_page
from tools.markdown import with_tables
from tools.regenerate import speed, stale

ROW = {
    "model": "core", "rounds": 5, "distinct": 176011, "kept": 40516,
    "seconds": {"nbcc": 2.06, "nbcc_reduced": 1.83, "tlc": 8.63, "tlc_symmetric": 6.73},
    "times_as_fast": 4.2, "times_as_fast_reduced": 4.7, "goal": 4.0, "goal_reduced": 8.0,
}  # fmt: skip


def test_the_page_has_the_figures_of_the_recorded_runs() -> None:
    assert stale(speed()) == [], "python -m tools.regenerate speed"


def test_a_state_checkpoint_spares_the_first_operations_of_a_process_on_a_long_timeline() -> None:
    """As the page says of the recorded run."""
    found = speed_page.recorded("scale")
    assert found is not None
    seconds = {row["instants"]: row["processor_seconds"] for row in found["services"]}[10_000]
    for operation in ("first commit", "first snapshot"):
        assert seconds[f"{operation}, state checkpoint"] < seconds[operation]


def test_the_requests_in_sequence_are_the_same_after_a_short_and_a_long_history() -> None:
    """As docs/locks.md says of the recorded run."""
    found = speed_page.recorded("requests")
    assert not requests.missed(found)
    assert found["rows"][0]["sequence"] > 1
    found["rows"][0]["sequence"] += 1
    assert requests.missed(found)
    assert " to " in requests.page_table(found).splitlines()[2]
    found["rows"][0]["sequence"] -= 1
    for line in requests.page_table(found).splitlines()[2:]:
        assert all(cell.strip().isdecimal() for cell in line.split("|")[2:4]), line


def test_a_resize_of_eight_gigabytes_refused_and_lost_nothing_and_no_commit_waited_a_second() -> None:
    """As the page says of the recorded run."""
    found = speed_page.recorded("resize")
    assert found["base_bytes"] > 8_000_000_000
    assert found["commits"] > 1_000
    assert (found["refused"], found["lost"], found["missed"], found["twice"]) == (0, 0, 0, 0)
    _, longest = found["during"]
    assert longest < 1.0


def test_both_walks_and_the_reduced_search_count_the_same_states() -> None:
    """As the page says of the recorded run."""
    found = speed_page.recorded("search")
    rows = {(row["world"], row["reduced"], row["arrays"]): row for row in found["largest"]}
    objects, arrays = rows["three_writers", False, False], rows["three_writers", False, True]
    for figure in ("distinct", "generated", "depth", "verdict"):
        assert objects[figure] == arrays[figure]
    assert arrays["seconds"] < objects["seconds"]
    assert arrays["mebibytes"] < objects["mebibytes"]
    reduced, whole = rows["four_writers_one_dies", True, False], rows["four_writers_one_dies", False, True]
    assert reduced["stands_for"] == whole["distinct"] > 200_000_000
    assert whole["seconds"] < 3600


def test_a_recorded_run_of_tlc_replaces_the_sentence_that_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_page, "RECORDED", tmp_path)
    assert "No run is recorded. `python -m benchmarks tlc --out" in speed_page.page()
    (tmp_path / "tlc.json").write_text(json.dumps({"tlc": {"models": [ROW]}}), encoding="utf-8")
    shown = "| core | 176,011 (40,516) | 5 | 2.06 | 1.83 | 8.63 | 6.73 | 4.2 of 4 | 4.7 of 8: **missed** |"
    assert shown in speed_page.page().splitlines()


def test_a_page_without_its_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="the page has no table scale"):
        with_tables("# A page\n", {"scale": "| a |"}, "python -m tools.regenerate speed")
