"""A second run of `nbcc validate --state` judges what has changed, and says what a run over everything says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.actions import operations
from nbcc.engine.audit import CountingStorage, gather
from nbcc.engine.timeline import Instant, parse_instant
from nbcc.engine.timeline.archive_reader import HISTORY
from nbcc.simulator.audit import changed, validate
from nbcc.simulator.audit.changed import data_file, unsettled
from nbcc.simulator.audit.seen import ListingChange, TableListing
from nbcc.simulator.cli.outcome import Exit
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
    part = unsettled(storage, now.sizes, *ListingChange.between(frozenset(before.lines), now.lines))
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


def cost_after_a_write(folder: Path, writes: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The requests, commits and parsed names of the second run on a table with a history of so many writes."""
    table = make_table(folder)
    for number in range(writes):
        table.upsert(batch(("k1", number, "a")))
        if number % 4 == 3:
            table.compact()
            table.archive(2)
    table.upsert(batch(("k1", writes, "a")))
    storage = CountingStorage(table.context.storage)
    before = frozenset(TableListing.of(storage).lines)
    upsert(table)
    table.archive(2)
    parsed: list[str] = []

    def parse(name: str) -> Instant | None:
        parsed.append(name)
        return parse_instant(name)

    def noted(path: str) -> object:
        parsed.append(path)
        return data_file(path)

    monkeypatch.setattr(changed, "parse_instant", parse)
    monkeypatch.setattr(changed, "data_file", noted)
    storage.reads = storage.listings = 0
    now = TableListing.of(storage)
    part = unsettled(storage, now.sizes, *ListingChange.between(before, now.lines))
    assert part is not None
    audit = gather(part)
    return {
        "listings": storage.listings, "reads": storage.reads, "parsed": len(parsed), "commits": len(audit.commits),
    }  # fmt: skip


def test_a_second_run_costs_as_much_after_a_long_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = (cost_after_a_write(tmp_path / str(count), count, monkeypatch) for count in (8, 40))
    assert short == long
    assert short["listings"] == short["commits"] == 1


@pytest.mark.parametrize("lost", ["*.parquet", "manifest_*", "[_m]*"])
def test_a_file_that_the_archive_has_lost_is_reported_after_a_write(lost: str, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    for number in range(4):
        table.upsert(batch(("k1", number, "a")))
    table.compact()
    table.archive(1)
    second = "validate", str(tmp_path / "t"), "--state", str(tmp_path / "state.json")
    assert nbcc_of(*second).return_value == Exit.AGREES
    upsert(table)
    for file in (tmp_path / "t" / HISTORY).glob(lost):
        file.unlink()
    assert nbcc_of(*second).return_value != Exit.AGREES


def test_the_state_is_of_all_faults_if_older_ones_are_left_out(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    for number in range(3):
        table.upsert(batch(("k1", number, "a")))
    state = "validate", str(tmp_path / "t"), "--state", str(tmp_path / "state.json")
    since = (*state, "--since", "29990101000000000")
    assert nbcc_of(*since).return_value == Exit.AGREES
    upsert(table)
    assert "judged what has changed" in nbcc_of(*since).stdout
    min((tmp_path / "t").glob("*/.*.log.*")).unlink()
    assert nbcc_of(*since).return_value == Exit.AGREES
    assert nbcc_of(*state).return_value == Exit.VIOLATED
    assert nbcc_of(*since).return_value == Exit.AGREES
