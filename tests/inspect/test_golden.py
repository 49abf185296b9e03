"""A good table is fine, and each rule has a bad table in the corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.storage import Storage, open_storage
from nbcc.simulator.audit import RULES, validate
from nbcc.simulator.audit.text import render
from tests.builders.files import HUDI_TABLES, hudi_table

from .corpus.kinds import KINDS
from .golden import good_table

UNPLANNED = {"plan-missing"}  # only where the inflight file of a compaction is all that ever was; see `unreadable`


@pytest.fixture
def good(tmp_path: Path) -> Storage:
    return good_table(tmp_path / "t")


def test_a_good_table_is_fine(good: Storage) -> None:
    found = validate(good, opened=True)
    assert found.fine, render(found)
    assert {line.verdict for line in found.promises.values()} == {"OK"}
    assert found.history is not None
    assert found.history.legal[0] == "default"


@pytest.mark.parametrize("name", HUDI_TABLES)
def test_nothing_is_broken_in_a_table_of_hudi(name: str, tmp_path: Path) -> None:
    found = validate(hudi_table(name, tmp_path), opened=True)
    assert not found.diagnostics, render(found)
    assert found.verdict == "OK", render(found)


def test_every_rule_has_a_bad_table() -> None:
    assert {rule.name for rule in RULES} - UNPLANNED == {kind.rule for kind in KINDS.values()} - {""}
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_the_same_on_another_storage(good: Storage) -> None:
    assert validate(open_storage(good.url)).fine
