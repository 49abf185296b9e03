"""Apache Hudi, stopped at each of its storage calls: the calls are those of specs/hudi-calls.json, an operation that
ends at a call leaves a table that readers and Hudi's recovery find right, and two operations interleave at their calls.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nbcc.model import mechanisms
from tools.hudi_calls.crashes import crash
from tools.hudi_calls.interleave import PAIRS, histories
from tools.hudi_calls.labels import action, seen_by_others
from tools.hudi_calls.summary import load
from tools.hudi_calls.tables import OPERATIONS, Tables, kinds

FIGURES = load()["operations"]
STRIDE = 20
"""Every so many calls by day. `python -m tools.hudi_calls` ends operations at all of them."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    made = Tables(tmp_path_factory.mktemp("hudi"))
    yield made
    made.hudi.close()


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_calls_of_an_operation_are_those_of_the_page(name: str, tables: Tables) -> None:
    with tables.copy(name) as path:
        calls = tables.run(path, name)["calls"]
    assert (kinds(calls), list(seen_by_others(calls))) == (FIGURES[name]["calls"], FIGURES[name]["seen"])
    assert {action(name, change) for change in seen_by_others(calls)} <= mechanisms.actions().keys()


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_ends_at_a_call_leaves_a_right_table(name: str, tables: Tables) -> None:
    for number in range(STRIDE // 2, sum(FIGURES[name]["calls"].values()), STRIDE):
        with tables.copy(name) as path:
            seen = crash(tables, path, name, number)
        assert seen["left"] in FIGURES[name]["faults"]["end"]["left"], seen
        assert (seen["validate"], seen["recovery"]) == ("OK", "right"), seen


@pytest.mark.parametrize("pair", PAIRS)
def test_two_operations_interleave_at_their_calls(pair: str, tables: Tables) -> None:
    for seen in histories(tables, pair, seeds=(101,)):
        assert seen["verdict"] == "right", seen
