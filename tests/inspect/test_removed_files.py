"""Advice deletes nothing on the strength of an absence, and each missing file breaks the promises of the reads that
need it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.errors import Conflict
from nbcc.engine.file_names import marker, split_path
from nbcc.engine.repair.foresight import foresee
from nbcc.engine.storage import Storage, open_storage
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.text import render
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from tests.builders.commands import answer_of, nbcc_of
from tests.builders.commands import objects_of as objects
from tests.builders.files import HUDI_TABLES, hudi_table
from tests.builders.tables import batch, make_table, state, tick

from .corpus.kind import TIMELINE
from .golden import BAD, base, instant, log, rename


def rows(tmp_path: Path) -> set[tuple[object, ...]]:
    return state(Table.open(None, tmp_path / "t").snapshot())


def remove_instant(storage: Storage, number: int) -> dict[str, bytes]:
    paths = [entry.path for entry in storage.list(TIMELINE) if entry.path.startswith(f"{TIMELINE}/{tick(number)}")]
    contents = {path: storage.get(path) for path in paths}
    storage.delete_all(paths)
    return contents


def put_back(storage: Storage, contents: dict[str, bytes]) -> None:
    for path, data in contents.items():
        storage.put(path, data)


def quarantine_of(tmp_path: Path, *arguments: str) -> list[dict[str, object]]:
    parts: list[dict[str, object]] = answer_of(
        nbcc_of("table", str(tmp_path / "t"), "quarantine", *arguments, "--json")
    )["quarantine"]
    return parts


def test_what_orphans_moves_away_comes_back(good: Storage, tmp_path: Path) -> None:
    """The timeline files of a committed write are removed: nothing distinguishes it from a write that failed."""
    before, objects_before, table = rows(tmp_path), objects(good), str(tmp_path / "t")
    removed = remove_instant(good, 10)
    [orphan] = [d for d in validate(good).diagnostics if d.rule == "orphan-file"]
    assert "its write never completed, or its timeline files were removed" in orphan.because
    assert orphan.remedy.startswith("if they were removed, restore its timeline files from a copy; else nbcc table")
    path = orphan.file
    assert nbcc_of("table", table, "orphans", "--quarantine").stdout.startswith(f"quarantined {path}\n1 orphan, ")
    assert path not in objects(good)
    [part] = quarantine_of(tmp_path)
    assert part["files"] == [path]
    assert run(["table", table, "quarantine", "--restore", str(part["name"]), "--dry-run"]) == Exit.AGREES
    assert path not in objects(good), "a dry run moved it"
    assert run(["table", table, "quarantine", "--restore", str(part["name"])]) == Exit.AGREES
    put_back(good, removed)
    assert objects(good) == objects_before
    assert rows(tmp_path) == before


def test_a_file_whose_write_completed_stays(good: Storage, tmp_path: Path) -> None:
    """A plan takes only files of completed writes, so it proves that the instant was there."""
    remove_instant(good, 7)
    [orphan] = [d for d in validate(good).diagnostics if d.rule == "orphan-file"]
    assert (orphan.gravity, orphan.remedy) == ("BROKEN", "restore its timeline files from a copy")
    assert f"the plan {tick(9)} takes its log: it completed, and its timeline files were removed" in orphan.because
    before = objects(good)
    answer = answer_of(nbcc_of("table", str(tmp_path / "t"), "orphans", "--quarantine", "--json"))
    assert answer["quarantined"] == []
    assert answer["orphans"][0]["kept"] == f"the plan {tick(9)} takes its log, so its write completed"
    assert objects(good) == before


def test_a_write_without_its_completed_file_can_be_rolled_back_and_come_back(good: Storage, tmp_path: Path) -> None:
    before, table = rows(tmp_path), str(tmp_path / "t")
    completed = {instant(10, 11): good.get(instant(10, 11))}
    good.delete(instant(10, 11))
    good.put(marker(tick(10), *split_path(log(10)(good))), b"")  # a rollback finds files by their markers
    [gone] = [d for d in validate(good).diagnostics if d.rule == "writer-gone"]
    assert "its writer failed, or its completed file was removed" in gone.because
    assert gone.remedy.startswith("if it had completed, restore its completed file from a copy; else nbcc table")
    assert "quarantined part=p/" in nbcc_of("table", table, "rollback", "--instant", tick(10)).stdout
    [part] = quarantine_of(tmp_path)
    assert run(["table", table, "quarantine", "--restore", str(part["name"])]) == Exit.AGREES
    put_back(good, completed)
    assert rows(tmp_path) == before


def test_only_a_purge_deletes(good: Storage, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(tmp_path / "t")
    assert run(["table", table, "quarantine", "--restore", "20260101000000000"]) == Exit.BAD_INPUT
    assert "the quarantine is empty" in capsys.readouterr().err
    assert nbcc_of("table", table, "plans", "--drop", tick(9)).exception is None
    [part] = quarantine_of(tmp_path)
    name = str(part["name"])
    assert part["files"] == [f"{TIMELINE}/{tick(9)}.compaction.requested"]
    good.put(f"{TIMELINE}/{tick(9)}.compaction.requested", b"another")
    assert run(["table", table, "quarantine", "--restore", name]) == Exit.BAD_INPUT
    assert "exists, with other content" in capsys.readouterr().err
    assert run(["table", table, "quarantine", "--restore", name, "--purge", name]) == Exit.BAD_INPUT
    assert quarantine_of(tmp_path)
    assert run(["table", table, "quarantine", "--purge", name]) == Exit.BAD_INPUT
    assert "it is 0 hours old, and must be 168 hours" in capsys.readouterr().err
    assert quarantine_of(tmp_path, "--purge", name, "--min-age", "0s") == []


def test_a_corrected_time_comes_back(good: Storage, tmp_path: Path) -> None:
    """The undo takes away the file that the repair put, so that no instant is completed twice."""
    rename(good, instant(10, 11), instant(10, 6))
    before, table = objects(good), str(tmp_path / "t")
    assert run(["table", table, "retime", tick(10)]) == Exit.BAD_INPUT  # the order of others would change
    rename(good, instant(10, 6), f"{TIMELINE}/{tick(10)}_29990101000000000.deltacommit")
    before = objects(good)
    assert run(["table", table, "retime", tick(10)]) == Exit.AGREES
    assert validate(good).fine
    [part] = quarantine_of(tmp_path)
    assert run(["table", table, "quarantine", "--restore", str(part["name"])]) == Exit.AGREES
    assert objects(good) == before


def test_a_repair_that_hides_a_file_from_a_reader_is_refused(good: Storage) -> None:
    before = objects(good)
    with pytest.raises(Conflict, match="a snapshot would no longer read"):
        foresee(good, "delete a log", lambda planned: planned.delete(log(10)(good)))
    with pytest.raises(Conflict, match=f"a read as of {tick(2)} would no longer read"):
        foresee(good, "delete a log", lambda planned: planned.delete(log(1)(good)))
    assert objects(good) == before


def test_tables_of_others_are_refused_in_the_words_of_rollback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = hudi_table(HUDI_TABLES[0], tmp_path)
    folder = str(tmp_path / HUDI_TABLES[0])
    data = next(entry.path for entry in storage.list("") if ".log." in entry.path and ".hoodie" not in entry.path)
    head, _, rest = data.rpartition("_0-")
    storage.put(f"{head.rpartition('_')[0]}_29990101000000000.log.1_0-{rest}", storage.get(data))
    before, refusals = objects(storage), []
    for arguments in (["rollback"], ["orphans", "--quarantine"], ["orphans", "--quarantine", "--dry-run"]):
        assert run(["table", folder, *arguments]) in (Exit.BAD_INPUT, Exit.UNDETERMINED)
        refusals.append(capsys.readouterr().err.partition("Asked to")[2])
    assert len({*refusals}) == 1, refusals
    assert "set nbcc.take.over=true in the options of Table.open" in refusals[0]
    assert objects(storage) == before
    [orphan] = [d for d in validate(storage).diagnostics if d.rule == "orphan-file"]
    assert "nbcc table" not in orphan.remedy, "it would be refused"


def broken(storage: Storage) -> set[str]:
    return {name for name, line in validate(storage).promises.items() if line.verdict == "BROKEN"}


def test_a_missing_log_breaks_the_reads_that_take_it(good: Storage) -> None:
    """No read-optimised read takes a log, and no clean ran."""
    good.delete(log(10)(good))
    assert broken(good) == {"SNAP", "TRAVEL", "INCR"}


def test_a_missing_superseded_log_breaks_old_reads_alone(good: Storage) -> None:
    BAD["superseded-log-gone"].do(good)
    assert broken(good) == {"TRAVEL", "INCR"}


def test_a_missing_base_file_breaks_read_optimised_reads_as_well(good: Storage) -> None:
    """A window takes no base file of a compaction."""
    good.delete(base(good))
    assert broken(good) == {"SNAP", "TRAVEL", "RO", "PROGRESS", "CLEAN"}  # and the pending plan cannot run


def test_a_cut_file_breaks_the_same(good: Storage) -> None:
    path = base(good)
    good.put(path, good.get(path)[:-9])
    assert broken(good) == {"SNAP", "TRAVEL", "RO"}


def test_inputs_of_a_log_compaction_are_needed_by_old_reads_alone(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(batch(("k", 1, "a")))
    table.upsert(batch(("k", 2, "b")))
    table.log_compact()
    storage = table.context.storage
    storage.delete(log(1)(storage))
    [missing] = validate(storage).diagnostics
    assert missing.promises == ("TRAVEL", "INCR")
    assert "a read as of a time before" in missing.because


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("part-00000-c000.snappy.parquet", "BROKEN"),
        ("sales_2024.parquet", "BROKEN"),
        ("my_sales.parquet", "AT RISK"),
        ("notes.txt", "OK"),
    ],
)
def test_foreign_files_in_a_table_of_hudi(name: str, verdict: str, tmp_path: Path) -> None:
    """Hudi 1.2.0 fails on the first, and takes the second for a base file of a write at 2024. hudi-rs fails on each."""
    storage = hudi_table(HUDI_TABLES[0], tmp_path)
    folder = min(entry.path for entry in storage.list("") if entry.path.endswith("_metadata")).rpartition("/")[0]
    storage.put(f"{folder}/{name}", b"PAR1")
    found = validate(open_storage(tmp_path / HUDI_TABLES[0]))
    assert found.verdict == ("BROKEN" if verdict == "BROKEN" else "OK"), render(found)
    named = [(d.rule, d.gravity, d.file) for d in found.diagnostics]
    assert named == ([] if verdict == "OK" else [("foreign-file", verdict, f"{folder}/{name}")])
    assert found.strangers == (verdict == "OK")
    assert ("1 other file in its folders" in render(found)) == (verdict == "OK")
