"""A good table is fine. Each rule has a bad table, which it detects and names with the file and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.storage import Storage, open_storage
from nbcc.simulator.validate import RULES, validate
from nbcc.simulator.validate.text import render
from tests.builders.files import HUDI_TABLES, hudi_table

from .golden import BAD, good_table

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


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_detected_by_its_rule(name: str, good: Storage) -> None:
    bad = BAD[name]
    bad.do(good)
    before = {entry.path: good.get(entry.path) for entry in good.list("")}
    found = validate(good, opened=True)
    told = [c for c in found.diagnostics if c.rule == bad.rule]
    assert told, render(found)
    assert told[0].gravity == bad.gravity
    assert told[0].file
    assert told[0].because
    assert told[0].remedy
    assert not found.fine
    assert {entry.path: good.get(entry.path) for entry in good.list("")} == before, "validate wrote"


def test_every_rule_has_a_bad_table() -> None:
    assert {rule.name for rule in RULES} - UNPLANNED == {bad.rule for bad in BAD.values()}
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_table_before_version_8_is_undetermined(good: Storage) -> None:
    from .golden import set_properties

    set_properties(good, hoodie__table__version="6")
    found = validate(good)
    assert found.verdict == "UNDETERMINED"
    assert "version 6" in found.undetermined
    assert {line.verdict for line in found.promises.values()} == {"UNDETERMINED"}


def test_the_same_on_another_storage(good: Storage) -> None:
    assert validate(open_storage(good.url)).fine
