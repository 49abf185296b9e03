"""Advice does no harm: every remedy that `validate` prints is executed on a copy, on right and on damaged tables."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.errors import NbccError
from nbcc.engine.repair.quarantine import put_back, quarantined
from nbcc.engine.storage import open_storage
from nbcc.simulator.cli.main import run
from nbcc.simulator.validate import Report, validate
from nbcc.simulator.validate.text import render
from tests.builders.tables import state

from .histories import damaged, random_table

NIGHTLY = os.environ.get("NBCC_BUDGET") == "nightly"
ONCE_WRONG = (15, 33, 101)  # a plan that a restore undid; rows that an overwrite removed came back
SEEDS = range(400) if NIGHTLY else (*range(10), *ONCE_WRONG)

Rows = set[tuple[object, ...]]


def rows(folder: Path) -> Rows | None:
    """The rows of a snapshot by a new process; None if it fails in words."""
    try:
        return state(Table.open(None, folder).snapshot())
    except NbccError:
        return None


def commands(report: Report) -> Iterator[list[str]]:
    """The commands among the remedies, each once."""
    remedies = (diagnostic.remedy for diagnostic in report.diagnostics)
    found = (match[1] for remedy in remedies for match in re.finditer(r"nbcc (table \{table\}[^,;)]*)", remedy))
    yield from (command.split() for command in dict.fromkeys(found))


def executed(folder: Path, command: list[str]) -> Path:
    """A copy of the table on which the command was run."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    run([word.replace("{table}", str(copy)) for word in command])
    return copy


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_table_is_right_and_its_remedies_change_no_row(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    table, steps = random_table(folder, seed)
    report = validate(table.context.storage, opened=True)
    assert report.verdict != "BROKEN", f"{steps}\n{render(report)}"
    before = rows(folder)
    assert before is not None
    for command in commands(report):
        assert rows(executed(folder, command)) == before, f"{steps}\n{command}\n{render(report)}"


@pytest.mark.parametrize("seed", SEEDS)
def test_no_remedy_for_damage_loses_a_row_or_brings_a_removed_one_back(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    table, steps = random_table(folder, seed)
    right = rows(folder)
    assert right is not None
    removed = damaged(table.context.storage, random.Random(seed))
    report, before = validate(table.context.storage), rows(folder)
    for command in commands(report):
        copy = executed(folder, command)
        told = f"{steps}\nremoved {[*removed]}\n{command}\n{render(report)}"
        after = rows(copy)
        if before is not None:
            assert after is not None, told
            assert after - before <= right, told
            assert before - after <= before - right, told
        storage = open_storage(copy)
        for path, data in removed.items():
            storage.put_if_absent(path, data)
        for part in quarantined(storage):
            put_back(storage, part)
        assert rows(copy) == right, f"after the damage is undone: {told}"
