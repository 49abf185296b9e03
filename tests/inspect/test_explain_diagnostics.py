"""Each diagnostic has a page, with a run of a protocol that has the weakness; no line is wider than 80 columns."""

from __future__ import annotations

import pytest

from nbcc.engine.terminal import COLUMNS
from nbcc.simulator.audit import RULES
from nbcc.simulator.audit.explain import CAUSES, explain
from nbcc.simulator.lockstep.explain import names
from tests.builders.commands import nbcc_of


def test_each_rule_has_a_page_and_a_name_of_its_own() -> None:
    assert {rule.name for rule in RULES} == {*CAUSES}
    assert not {rule.name for rule in RULES} & {*names()}


@pytest.mark.parametrize("name", sorted(name for name, cause in CAUSES.items() if cause.protocol))
def test_the_run_of_a_page_breaks_a_promise(name: str) -> None:
    [page] = explain(name)
    run = page.run()
    assert run is not None
    assert run.verdict == "VIOLATED", run.title


@pytest.mark.parametrize("name", ["undone-and-completed", "timeline-lost"])
def test_a_page_fits_the_terminal(name: str) -> None:
    page = nbcc_of("explain", name).stdout.partition("A run under the protocol")[0]
    assert "how it may come about: " in page
    assert "what to do: " in page
    assert max(map(len, page.split("\n"))) <= COLUMNS
