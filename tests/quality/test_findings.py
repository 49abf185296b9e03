"""Pages of findings: each is made of its text and its run, and the run breaks the promise of the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import tools.findings
from nbcc.model import Step
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.lockstep import findings
from nbcc.simulator.lockstep.findings import FOLDER, Finding, evidence, load, names, shown_broken
from nbcc.simulator.search.verdicts import DEPTHS
from nbcc.simulator.search.verdicts import load as accepted_matrix
from tools.findings import answers, ended, page, stale

ROOT = Path(__file__).parents[2]
RUNS = [name for name in names() if not load(name).test]


def test_pages_say_what_words_and_runs_say() -> None:
    assert not stale(), "python -m tools.regenerate findings"


def test_a_page_that_was_changed_by_hand_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(tools.findings, "FOLDER", tmp_path)
    assert not stale()
    (tmp_path / f"{RUNS[0]}.md").write_text("all is well")
    (tmp_path / "gone.md").write_text("# Not a finding\n\n- system: none\n")
    assert stale() == sorted([f"{RUNS[0]}.md", "gone.md"])


@pytest.mark.parametrize("name", RUNS)
def test_the_run_breaks_what_the_page_says(name: str) -> None:
    finding = load(name)
    reads = answers(finding)
    assert reads.expected != reads.actual
    for promise in finding.breaks:
        outcome = ended(finding, lambda history, query: None, promise=promise)
        assert (outcome.fits, outcome.verdict) == (True, "VIOLATED"), promise
    if finding.rule:
        rule, value = finding.rule.split(" = ")
        assert specs.protocol(finding.protocol).to_mapping()[rule] == value


@pytest.mark.parametrize("name", [name for name in RUNS if load(name).rule])
def test_without_its_rule_the_run_shows_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = load(name)
    rule = finding.rule.split(" = ")[0]
    without = {key: value for key, value in finding.trace.protocol.differences().items() if key != rule}
    trace = replace(finding.trace, protocol=type(finding.trace.protocol).from_mapping(without))
    monkeypatch.setattr(Finding, "trace", trace)
    reads = answers(finding)
    assert reads.expected == reads.actual


@pytest.mark.parametrize("name", [name for name in names() if name not in RUNS])
def test_a_finding_without_a_run_names_a_test(name: str) -> None:
    path, _, test = load(name).test.partition("::")
    assert f"def {test}(" in (ROOT / path).read_text("utf-8")
    assert load(name).steps
    assert load(name).expected != load(name).actual


@pytest.mark.parametrize("name", names())
def test_a_page_has_what_a_report_needs(name: str) -> None:
    text = page(load(name))
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == ["Steps", "Expected", "Actual", "Mechanism", "Workaround", "Replay"]
    assert load(name).system in load(name).seen


def test_the_matrix_says_what_findings_show() -> None:
    """Each finding reaches the row of its protocol: what a run shows and what only a test shows."""
    by_run = {promise for promise, shown in shown_broken("hudi-1.2.0").items() if not all(each.test for each in shown)}
    assert by_run == {"SNAP", "TRAVEL", "INCR", "QUIET"}
    for depth in DEPTHS:
        for protocol in findings.SYSTEMS:
            cells = accepted_matrix(depth)["protocols"][protocol]["promises"]
            assert cells.keys() == PROMISES.keys()
            for promise, cell in cells.items():
                shown = promise in shown_broken(protocol)
                words = cell.get("evidence", "")
                assert shown == words.startswith(("confirmed", "broken")), f"{protocol} {promise}: {words}"


def test_a_violation_is_confirmed_by_the_run_it_names() -> None:
    """A finding whose run is another one than the cell's, because the system refuses a step, says its own length."""
    run = load("deletes-forgotten-by-compaction").trace.steps
    refused = (Step("over1", "overwriter_schedules_replace"),)
    assert evidence("hudi-1.2.0", "TRAVEL", run) == "confirmed"
    assert evidence("hudi-1.2.0", "TRAVEL", refused) == f"confirmed in {len(run)} steps"
    assert evidence("hudi-1.2.0", "KEY", None) == "broken by a test"
    assert evidence("hudi-1.2.0", "CDC", run) == "model only"
    assert evidence("default", "SNAP", run) == ""
