"""Findings about hudi-rs: of the table that the engine has written by the same steps it reads what the page says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.model import Protocol, Query
from nbcc.simulator.crosscheck.history import History
from nbcc.simulator.crosscheck.observables import final_queries
from nbcc.simulator.findings import HUDI_RS, Finding, answers, load, names, words
from nbcc.simulator.replay import play
from nbcc.simulator.systems.registry import factory

pytest.importorskip("hudi")
RUNS = [name for name in names() if HUDI_RS in load(name).seen]


def read(finding: Finding) -> str:
    """What hudi-rs answers to the read of a finding when nbcc's engine has taken its steps."""
    from nbcc.simulator.systems.hudi_rs import HudiRs

    told: list[str] = []

    def ask(history: History) -> None:
        queries = (Query("snapshot"), *final_queries(history.timeline, change_logs=False))
        query = next(each for each in queries if history.described(each) == finding.read)
        with history.system.folder() as folder:
            told.append(words(history, lambda: HudiRs(folder).rows(query)))

    run = replace(finding.trace, protocol=Protocol(), promise="", observed=())
    assert play(run, "engine", factory("engine"), ask).verdict == "AGREED"
    return told[0]


@pytest.mark.parametrize("name", RUNS)
def test_hudi_rs_answers_as_the_page_says(name: str) -> None:
    finding = load(name)
    told = answers(finding)
    assert read(finding) == told.actual != told.expected


def test_each_rule_of_hudi_rs_that_shows_in_a_read_has_a_page() -> None:
    rules = {load(name).rule.split(" = ")[0] for name in RUNS}
    assert rules == {"merge_order", "as_of_axis", "fold", "window_merge", "window_deletes"}
