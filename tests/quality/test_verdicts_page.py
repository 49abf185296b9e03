"""specs/verdicts.md: the page is made of the accepted matrices, and short."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nbcc.model.promises import PROMISES
from nbcc.simulator.lockstep.findings import SYSTEMS
from nbcc.simulator.search.verdicts import load, load_locks
from tools import locks_section, verdicts_page
from tools.verdicts_page import page, page_path


def test_the_page_is_up_to_date_and_short() -> None:
    text = page()
    assert text == page_path().read_text("utf-8"), "python -m tools.regenerate verdicts"
    assert len(text.splitlines()) < 235
    assert max(map(len, text.splitlines())) <= 200  # the row of a protocol names every promise that does not hold


def test_the_line_of_a_protocol_has_every_promise_that_does_not_hold() -> None:
    lines = {line.split("`")[1]: line for line in page().splitlines() if line.startswith("| `")}
    matrix = load("quick")["protocols"]
    assert lines.keys() == matrix.keys()
    for name, row in matrix.items():
        words = lines[name].rpartition("|")[0].rpartition("|")[2].replace(",", "").replace(";", "").split()
        named = {promise for promise in PROMISES if promise in words}
        doubtful = {p for p, cell in row["promises"].items() if cell["verdict"] in ("VIOLATED", "UNDETERMINED")}
        tested = {p for p, cell in row["promises"].items() if cell.get("evidence") == "broken by a test"}
        assert named == doubtful | tested, name


def test_each_promise_of_a_system_is_in_the_row_of_its_evidence() -> None:
    text = page()
    lines = text[text.index("## Real systems") : text.index("## Undetermined")].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    evidence = {(row[0], promise.split()[0]): row[1] for row in rows for promise in row[2].split(", ")}
    matrix = load("full")["protocols"]
    for system in SYSTEMS:
        for promise, cell in matrix[system]["promises"].items():
            assert evidence.get((system, promise), "") == cell.get("evidence", ""), (system, promise)


def test_each_promise_without_a_verdict_is_listed_with_its_reason() -> None:
    text = page()
    doubts = " ".join(text[text.index("## Undetermined") : text.index("## Isolation")].split())
    for depth in ("quick", "full"):
        for name, row in load(depth)["protocols"].items():
            for promise, cell in row["promises"].items():
                if cell["verdict"] == "UNDETERMINED":
                    [bullet] = [each for each in doubts.split(" - ") if each.endswith(f": {cell['because']}")]
                    [which] = [each for each in bullet.split("; ") if promise in each.replace(",", "").split()]
                    assert f"`{name}`" in which or which.split(" under ")[1].split()[0].isdigit(), (name, promise)


def test_the_page_changes_with_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    right = page()
    for depth, promise, steps in (("quick", "SNAP", 99), ("full", "PART", 98)):

        def changed(of: Any, depth: str = depth, promise: str = promise, steps: int = steps) -> dict[str, Any]:
            data: dict[str, Any] = json.loads(json.dumps(load(of)))
            if of == depth:
                cell = {"verdict": "VIOLATED", "steps": steps, "bound": "1 writer × 1 write", "because": "it breaks"}
                data["protocols"]["default"]["promises"][promise] = cell
            return data

        monkeypatch.setattr(verdicts_page, "load", changed)
        assert f"{promise} {steps}" in page()
        assert page() != right


def test_the_page_has_a_line_for_each_lock_mutant_and_store(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_locks()["rows"]
    text = page()
    for row in rows:
        assert row["name"] in text or row["about"] in text, row["name"]
    changed = json.loads(json.dumps(load_locks()).replace('"steps": 11', '"steps": 97'))
    monkeypatch.setattr(locks_section, "load_locks", lambda: changed)
    assert "| a renewal that is answered 412 ends | holds | 97 |" in page()
