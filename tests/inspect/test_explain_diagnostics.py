"""Each diagnostic has a page, with a run of a protocol that has the weakness; no line is wider than 80 columns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc.engine.audit import gather
from nbcc.engine.terminal import COLUMNS
from nbcc.simulator.audit import RULES
from nbcc.simulator.audit.diagnostics import diagnostics_of
from nbcc.simulator.audit.explain import CAUSES, explain
from nbcc.simulator.audit.view import TableView
from nbcc.simulator.lockstep.explain import names
from tests.builders.commands import nbcc_of

from .corpus.answers import NOW
from .corpus.kinds import KINDS
from .corpus.tables import TABLES


def test_each_rule_has_a_page_and_a_name_of_its_own() -> None:
    assert {rule.name for rule in RULES} == {*CAUSES}
    assert not {rule.name for rule in RULES} & {*names()}


@pytest.mark.parametrize("name", sorted(name for name, cause in CAUSES.items() if cause.protocol))
def test_the_run_of_a_page_breaks_a_promise(name: str) -> None:
    [page] = explain(name)
    run = page.run()
    assert run is not None
    assert run.verdict == "VIOLATED", run.title


def pattern(remedy: str) -> str:
    """A regular expression for a remedy with names in the place of its placeholders."""
    return re.sub(r"\\{(?!table)\w+\\}", "[^;,]+", re.escape(remedy))


@pytest.mark.parametrize("table", sorted({kind.table for kind in KINDS.values()}))
def test_a_page_has_every_remedy_and_promise_that_is_printed(table: str, tmp_path: Path) -> None:
    rules = {rule.name: rule for rule in RULES}
    for number, kind in enumerate(kind for kind in KINDS.values() if kind.table == table and kind.verdict != "REFUSED"):
        storage = TABLES[table](tmp_path / f"{number}")
        kind.do(storage)
        view = TableView(gather(storage), NOW)
        for found in diagnostics_of(view, RULES):
            stated = rules[found.rule].remedies
            assert any(re.fullmatch(pattern(each), found.remedy) for each in stated), (found.rule, found.remedy, stated)
            assert {*found.promises} <= {*rules[found.rule].promises, *rules[found.rule].also}, found.rule


@pytest.mark.parametrize("name", ["undone-and-completed", "timeline-lost"])
def test_a_page_fits_the_terminal(name: str) -> None:
    page = nbcc_of("explain", name).stdout.partition("A run under the protocol")[0]
    assert "how it may come about: " in page
    assert "what to do: " in page
    assert max(map(len, page.split("\n"))) <= COLUMNS
