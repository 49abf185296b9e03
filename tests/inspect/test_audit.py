"""The audit of a table and the slices that follow from it are what the engine's own readers see."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.engine.audit import gather, inspect, why
from nbcc.engine.audit.inventory_text import render
from nbcc.engine.audit.table_snapshot import table_snapshot
from nbcc.engine.errors import BadInput, Damaged
from nbcc.engine.files.slices import load_slices
from nbcc.engine.reads.travel import settled
from nbcc.engine.storage import Storage, open_storage
from nbcc.engine.timeline.commits import Commits
from nbcc.engine.timeline.timeline import FOLDER
from nbcc.simulator.view.inventory import page_of
from tests.builders.tables import batch, context_of, make_table
from tools.detection.tables import engine_table

TABLES = Path(__file__).parents[1] / "tables"
NAMES = sorted(path.stem for path in TABLES.glob("*.zip"))


def compare(storage: Storage) -> int:
    """Compare the slices now and as of each completion; the number of times that were compared."""
    audit, commits = gather(storage), Commits(storage)
    assert audit.faults == ()
    timeline = settled(replace(context_of(storage), rules=audit.rules, own_commits=commits))
    compared = 0
    for time in (None, *(i.completed for i in timeline.completed if i.writes)):
        expected = load_slices(storage, timeline, commits, audit.rules, time)
        try:
            snapshot = table_snapshot(audit, time, "read as of")
        except BadInput:  # another write has requested that very time
            continue
        assert snapshot.slices == expected, time
        compared += 1
    assert snapshot.timeline.instants == timeline.instants
    return compared


@pytest.mark.parametrize("name", NAMES)
def test_slices_of_hudi_tables_are_those_of_the_reader(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(TABLES / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    assert compare(open_storage(tmp_path / name)) > 2


@pytest.mark.parametrize("seed", range(40))
def test_slices_of_random_histories_are_those_of_the_reader(seed: int) -> None:
    """They have writes, pending writes, rollbacks, compactions, log compactions and cleans."""
    assert compare(engine_table(seed))


def test_slices_are_those_of_the_reader_after_every_service(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    storage = table.context.storage

    def upserts(count: int) -> None:
        for number in range(count):
            table.upsert(batch((f"k{number}", number, "a")))

    def restore() -> None:
        table.run("savepoint", instant=None)
        table.upsert(batch(("k9", 1, "undone")))
        table.run("restore", instant=None)

    services: list[Callable[[], object]] = [
        table.compact, table.log_compact, lambda: table.clean(retained=1), lambda: table.archive(1), table.compact,
        lambda: table.insert_overwrite(batch(("k1", 1, "new"))), table.schedule_compaction, restore,
        lambda: table.clean(retained=1), lambda: table.archive(1),
    ]  # fmt: skip
    for service in services:
        upserts(3)
        assert service() or service is restore
        assert compare(storage)
    audit = gather(storage)
    assert audit.archive
    assert audit.restores
    assert any(commit.replaced for commit in audit.commits.values()) or any(p.replaces for p in audit.plans.values())


@pytest.mark.parametrize("name", ["deltacommit", "compaction.requested"])
def test_a_damaged_instant_is_reported_and_never_explained_away(name: str, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k", 1, "a")))
    table.schedule_compaction()
    path = next(path for path in (tmp_path / FOLDER).iterdir() if path.name.endswith(f".{name}"))
    path.write_bytes(path.read_bytes()[:-5])
    found = inspect(table.context.storage)
    unread = {"deltacommit": [f"the commit of its instant {path.name.partition('_')[0]} cannot be read"]}
    assert [file.because for file in found.left_out] == unread.get(name, [])
    assert [fault.path for fault in found.faults] == [f"{FOLDER}/{path.name}"]
    assert f"<td>{FOLDER}/{path.name}</td>" in page_of(found)
    assert f"Damaged files: 1; what they record is missing above (nbcc validate explains)\n  {FOLDER}" in render(found)
    with pytest.raises(Damaged, match=path.name):
        why(table.context.storage, "k")
