"""Advice does no harm: every remedy that `validate` prints is executed on a copy, on right and on damaged tables."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from nbcc.engine import Table
from nbcc.engine.errors import NbccError
from nbcc.engine.repair.quarantine import put_back, quarantined
from nbcc.engine.storage import open_storage
from nbcc.simulator.audit import Report, validate
from nbcc.simulator.audit.text import render
from nbcc.simulator.cli.main import run
from tests.builders.by_day import NIGHTLY
from tests.builders.tables import state

from .corpus.answers import recorded, right_rows
from .corpus.kinds import KINDS
from .corpus.readers import Reader, ReaderFailed, by_hudi_rs, by_nbcc
from .corpus.readers import Rows as Answered
from .corpus.tables import TABLES
from .histories import damaged, random_table

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
        details = f"{steps}\nremoved {[*removed]}\n{command}\n{render(report)}"
        after = rows(copy)
        if before is not None:
            assert after is not None, details
            assert after - before <= right, details
            assert before - after <= before - right, details
        storage = open_storage(copy)
        for path, data in removed.items():
            storage.put_if_absent(path, data)
        for part in quarantined(storage):
            put_back(storage, part)
        assert rows(copy) == right, f"after the damage is undone: {details}"


ADVISED = [name for name, answers in recorded().items() if "nbcc table" in answers["advice"]]


ORDERS: Final = 20 if NIGHTLY else 3
"""The sequences of commands of each kind: sorted, sorted backwards, and random ones, with repetitions."""


@pytest.mark.parametrize("name", ADVISED)
def test_no_sequence_of_advised_commands_loses_a_row_that_a_reader_returned(name: str, tmp_path: Path) -> None:
    kind, folder = KINDS[name], tmp_path / "t"
    kind.do(TABLES[kind.table](folder))
    readers, right = (by_nbcc, by_hudi_rs), right_rows(kind.table)
    before = [returned(reader, folder) & right for reader in readers]
    for number in range(ORDERS):
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        taken = [*sequence(copy, number)]
        after = [returned(reader, copy) for reader in readers]
        assert taken, "nothing is advised"
        assert all(rows_before <= rows_after for rows_before, rows_after in zip(before, after, strict=True)), taken


def sequence(folder: Path, number: int) -> Iterator[list[str]]:
    """Run commands that are advised about a table, in two rounds: each is what is advised after the round before."""
    draw = random.Random(number)
    for _ in range(2):
        advised = sorted(commands(validate(open_storage(folder), opened=True)), reverse=number == 1)
        if number > 1 and advised:
            advised = draw.choices(advised, k=draw.randint(1, 2 * len(advised)))
        for command in advised:
            run([word.replace("{table}", str(folder)) for word in command])
            yield command


def returned(reader: Reader, folder: Path) -> Answered:
    try:
        return reader(folder)
    except ReaderFailed:
        return frozenset()
