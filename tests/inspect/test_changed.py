"""A second run of `nbcc validate --state` judges what has changed, and says what a run over everything says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.actions import operations
from nbcc.engine.audit import gather
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.changed import unsettled
from nbcc.simulator.audit.seen import TableListing
from tests.builders.commands import nbcc_of
from tests.builders.tables import batch, make_table

from .corpus.answers import NOW
from .corpus.kinds import KINDS
from .corpus.tables import TABLES


def upsert(table: Table) -> None:
    table.upsert(batch(("k1", 9, "b"), ("k3", 9, "b")))


def plan(table: Table) -> None:
    operations()["schedule_compaction"].run(table.context, table.config)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.verdict != "REFUSED"])
def test_no_damage_is_taken_for_a_harmless_change(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    storage = TABLES[kind.table](tmp_path / "t")
    before = TableListing.of(storage)
    kind.do(storage)
    now, whole = TableListing.of(storage), validate(storage, now=NOW)
    if whole.fine or before.properties != now.properties:
        return
    part = unsettled(storage, before.sizes, now.sizes)
    assert part is None or not validate(part, now=NOW).fine


def test_writes_and_compactions_are_judged_without_the_rest(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", buckets=2)
    for number in range(6):
        table.upsert(batch(*((f"k{key}", number, "a") for key in range(6))))
    table.compact()

    def second() -> str:
        return nbcc_of("validate", str(tmp_path / "t"), "--state", str(tmp_path / "state.json")).stdout

    second()
    happens: list[tuple[Callable[[Table], object], int]] = [
        (upsert, 1), (upsert, 1), (Table.compact, 4), (upsert, 1), (plan, 3), (upsert, 4), (Table.compact, 4),
    ]  # fmt: skip
    for do, count in happens:
        do(table)
        amount = f"{count} instant" if count == 1 else f"{count} instants"
        assert second().endswith(f": {amount}\n"), do
    nbcc_of("table", str(tmp_path / "t"), "clean", "--retain", "1")
    assert "History: " in second()


def test_what_is_settled_is_not_read(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    for number in range(9):
        table.upsert(batch(("k1", number, "a")))
    before = TableListing.of(table.context.storage)
    upsert(table)
    part = unsettled(table.context.storage, before.sizes, TableListing.of(table.context.storage).sizes)
    assert part is not None
    assert len(gather(part).commits) == 1
