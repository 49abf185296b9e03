"""The corpus: each kind of damage is reported by its diagnostic, with the promises that it breaks, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.errors import NbccError
from nbcc.simulator.audit import Report, validate
from nbcc.simulator.audit.text import render
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit

from .corpus.answers import NOW, PAGE, answers_of, page, recorded
from .corpus.kinds import KINDS
from .corpus.tables import TABLES


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
