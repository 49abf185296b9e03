"""The corpus: a good table is fine, and each kind of damage is reported by its diagnostic, with the promises broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.errors import NbccError
from nbcc.engine.storage import Storage, open_storage
from nbcc.simulator.audit import RULES, Report, validate
from nbcc.simulator.audit.text import render
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from tests.builders.files import HUDI_TABLES, hudi_table

from .corpus.answers import NOW, PAGE, answers_of, page, recorded
from .corpus.kinds import KINDS
from .corpus.tables import TABLES
from .golden import rolled_back_and_completed


def broken(report: Report) -> set[str]:
    return {name for name, line in report.promises.items() if line.verdict == "BROKEN"}


@pytest.mark.parametrize("table", TABLES)
def test_a_healthy_table_is_right(table: str, tmp_path: Path) -> None:
    TABLES[table](tmp_path / "t")
    assert run(["validate", str(tmp_path / "t"), "--deep"]) == Exit.AGREES


@pytest.mark.parametrize("name", KINDS)
def test_damage_is_reported_by_its_cause(name: str, tmp_path: Path) -> None:
    kind, folder = KINDS[name], tmp_path / "t"
    storage = TABLES[kind.table](folder)
    kind.do(storage)
    before = {entry.path: entry.size for entry in storage.list("")}
    assert answers_of(name, folder) == recorded()[name], "python -m tests.inspect.corpus records it again"
    if kind.verdict == "REFUSED":
        with pytest.raises(NbccError):
            validate(storage, now=NOW)
        return
    report = validate(storage, opened=kind.deep, now=NOW)
    text = render(report)
    assert report.verdict == kind.expected_verdict, text
    assert {d.rule for d in report.diagnostics} == {kind.rule, *kind.also.split()} - {""}, text
    assert broken(report) == set(kind.promises.split()), text
    assert {d.gravity for d in report.diagnostics if d.rule == kind.rule} <= {kind.gravity}, text
    assert {entry.path: entry.size for entry in storage.list("")} == before, "validate wrote"


def test_the_corpus_is_large_and_its_page_is_generated() -> None:
    assert len(KINDS) >= 60
    assert {*recorded()} == {*KINDS}
    assert page() == PAGE.read_text("utf-8"), "python -m tests.inspect.corpus writes it"


UNPLANNED = {"plan-missing"}  # only where the inflight file of a compaction is all that ever was; see `unreadable`


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


def test_a_rollback_of_a_write_that_had_completed_is_named(good: Storage) -> None:
    """Hudi's clean chooses a write before it has the lock, and plans the rollback after the write has completed."""
    rolled_back_and_completed(good, at=12)
    assert "undone-and-completed" in {each.rule for each in validate(good).diagnostics}
