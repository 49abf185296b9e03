"""`nbcc why`: its answer is what the engine reads, for every key of every table; each reason is seen once."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine.audit import Why, inspect, why
from nbcc.engine.audit.why_text import render
from nbcc.engine.errors import BadInput
from nbcc.engine.storage import Storage, StorageWrapper, open_storage
from nbcc.engine.table import Table
from nbcc.simulator.cli.main import run
from nbcc.simulator.view.inventory import page_of
from tests.builders.tables import table_of

TABLES = Path(__file__).parents[1] / "tables"
NAMES = sorted(path.stem for path in TABLES.glob("*.zip"))
SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("v", pa.string())])
WIDE = SCHEMA.append(pa.field("w", pa.string()))


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_what_the_engine_reads(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(TABLES / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    table = Table.open(None, tmp_path / name)
    storage = open_storage(tmp_path / name)
    for time in (None, *[i.completed for i in table.timeline() if i.completed and i.action != "compaction"][1:2]):
        rows = (table.snapshot() if time is None else table.as_of(time)).to_pylist()
        read = {(row["_hoodie_record_key"], row["_hoodie_partition_path"]): row for row in rows}
        for key in sorted({row["id"] for row in rows} | {"k0"})[:4]:
            explained = {(key, g.partition): g.row for g in why(storage, key, as_of=time).groups if g.row is not None}
            assert explained == {place: without_meta(row) for place, row in read.items() if place[0] == key}


def without_meta(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in row.items() if not name.startswith("_hoodie_") or name == "_hoodie_is_deleted"
    }


def deletes(*values: tuple[str, int]) -> pa.Table:
    return table_of(SCHEMA.remove(2), *values)


def create(path: Path, **more: Any) -> tuple[Table, Storage]:
    given: dict[str, Any] = {"record_key": "id", "ordering_fields": "ts", "buckets": 1, **more}
    return Table.create(None, path, SCHEMA, **given), open_storage(path)


def lines_of(found: Why) -> list[tuple[str, str, str]]:
    return [(line.kind, line.status, line.because) for group in found.groups for line in group.lines]


def test_a_superseded_log_its_base_file_and_a_late_update(tmp_path: Path) -> None:
    table, storage = create(tmp_path / "t")
    table.upsert(table_of(SCHEMA, ("k", 5, "a")))
    plan = table.schedule_compaction()
    assert plan is not None
    table.upsert(table_of(SCHEMA, ("k", 3, "late")))
    waiting = why(storage, "k")
    assert lines_of(waiting) == [
        ("log", "answers", "it has the greatest rank"),
        ("log", "outranked", "event time: ts 3 is smaller than 5"),
    ]
    assert [line.slice for line in waiting.groups[0].lines] == [None, plan.requested]
    table.run_compaction()
    compacted = why(storage, "k")
    assert lines_of(compacted) == [
        ("log", "superseded", f"the base file of barrier {plan.requested} supersedes its slice"),
        ("base", "answers", "it has the greatest rank"),
        ("log", "outranked", "event time: ts 3 is smaller than 5"),
    ]
    assert waiting.groups[0].row == compacted.groups[0].row == {"id": "k", "ts": 5, "v": "a"}


def test_a_kept_delete_answers_with_no_row(tmp_path: Path) -> None:
    table, storage = create(tmp_path / "t")
    table.upsert(table_of(SCHEMA, ("k", 5, "a")))
    table.delete(deletes(("k", 7)))
    table.compact()
    table.upsert(table_of(SCHEMA, ("k", 6, "too old")))
    found = why(storage, "k")
    assert [(line.kind, line.record, line.status) for line in found.groups[0].lines] == [
        ("log", "row", "superseded"),
        ("log", "delete", "superseded"),
        ("kept", "delete", "answers"),
        ("log", "row", "outranked"),
    ]
    assert found.groups[0].row is None
    assert found.groups[0].answer.startswith("no row: the delete in .00000000")


def test_ties_go_to_the_later_completion(tmp_path: Path) -> None:
    table, storage = create(tmp_path / "t")
    table.upsert(table_of(SCHEMA, ("k", 5, "a")))
    second = table.upsert(table_of(SCHEMA, ("k", 5, "b")))
    assert lines_of(why(storage, "k"))[0] == (
        "log", "outranked", f"event time: ts is 5 in both, and the answer was completed later, at {second.completed}"
    )  # fmt: skip
    commit_time, there = create(tmp_path / "c", ordering_fields=None, merge_mode="COMMIT_TIME_ORDERING")
    commit_time.upsert(table_of(SCHEMA, ("k", 5, "a")))
    second = commit_time.upsert(table_of(SCHEMA, ("k", 1, "b")))
    assert lines_of(why(there, "k")) == [
        ("log", "outranked", f"commit time: the answer was completed later, at {second.completed}"),
        ("log", "answers", "it has the greatest rank"),
    ]


def test_what_no_read_sees_is_shown_with_the_reason(tmp_path: Path) -> None:
    table, storage = create(tmp_path / "t")
    first = table.upsert(table_of(SCHEMA, ("k", 1, "a")))
    second = table.upsert(table_of(SCHEMA, ("k", 2, "b")))
    [before] = why(storage, "k", as_of=first.completed).groups
    assert before.row == {"id": "k", "ts": 1, "v": "a"}
    assert [(line.status, line.because) for line in before.lines][1] == (
        "hidden", f"its instant {second.requested} completed after the time asked for (at {second.completed})"
    )  # fmt: skip
    log = next(entry.path for entry in storage.list("") if entry.path.startswith(".00000000"))
    dead = log.replace(log.split("_")[1].split(".")[0], "20200101000000000")
    storage.put_if_absent(dead, storage.get(log))
    storage.put_if_absent(dead.replace("log.1", "log.2"), b"torn")
    assert lines_of(why(storage, "k"))[-1] == (
        "log", "hidden", "its instant 20200101000000000 is on no timeline: it failed, or was removed"
    )  # fmt: skip


def test_only_the_bucket_of_the_key_is_opened(tmp_path: Path) -> None:
    table, storage = create(tmp_path / "t", record_key=["id", "ts"], buckets=8)
    table.upsert(table_of(SCHEMA, *((f"k{i}", i, "a") for i in range(50))))

    opened: list[str] = []

    class Watched(StorageWrapper):
        def get(self, path: str) -> bytes:
            if not path.startswith(".hoodie"):
                opened.append(path)
            return super().get(path)

    found = why(Watched(storage), "id:k7,ts:7")
    assert found.groups[0].row == {"id": "k7", "ts": 7, "v": "a"}
    assert len(opened) == 1
    for wrong in ("k7", "id:k7", "id:k7,ts:seven"):
        with pytest.raises(BadInput, match="keys of this table are spelled id:<string>,ts:<int64>"):
            why(storage, wrong)


def test_the_partition_must_exist(tmp_path: Path) -> None:
    table, storage = create(tmp_path / "t", partition_by="v")
    table.upsert(table_of(SCHEMA, ("k", 1, "a"), ("k", 2, "b")))
    assert [group.partition for group in why(storage, "k").groups] == ["v=a", "v=b"]
    assert [group.partition for group in why(storage, "k", "v=b").groups] == ["v=b"]
    with pytest.raises(BadInput, match="the table has v=a, v=b"):
        why(storage, "k", "v=c")


def partly_updated(path: Path) -> Table:
    """A table whose row k has v of one write and w of another."""
    options = {"nbcc.partial.update.mode": "SET_COLUMNS"}
    table = Table.create(None, path, WIDE, record_key="id", ordering_fields="ts", buckets=1, options=options)
    table.upsert(table_of(WIDE.remove(3), ("k", 1, "x")), columns=["v"])
    table.upsert(table_of(WIDE.remove(2), ("k", 2, "y")), columns=["w"])
    return table


def test_each_column_of_a_partial_update_has_its_source(tmp_path: Path) -> None:
    table = partly_updated(tmp_path / "t")
    storage = open_storage(tmp_path / "t")
    row = {"id": "k", "ts": 2, "v": "x", "w": "y"}
    logs = [("log", "answers", f"the answer takes {name} from it") for name in "vw"]
    assert why(storage, "k").groups[0].row == row
    assert lines_of(why(storage, "k")) == logs
    assert why(storage, "k").groups[0].answer == "a row merged from 2 records"
    assert ".log.1_" in render(why(storage, "k"))
    assert "row ts = 1, sets v" in render(why(storage, "k"))
    table.compact()
    table.upsert(table_of(WIDE.remove(3), ("k", 0, "late")), columns=["v"])
    table.delete(table_of(SCHEMA.remove(2), ("m", 0)))
    assert why(storage, "k").groups[0].row == row
    assert lines_of(why(storage, "k"))[2:] == [
        ("base", "outranked", "the compaction also kept the records from which it merged this row"),
        *(("kept", *line[1:]) for line in logs),
        ("log", "outranked", "each column that it sets has a value of greater rank"),
    ]
    table.delete(table_of(SCHEMA.remove(2), ("k", 9)))
    assert why(storage, "k").groups[0].row is None
    assert {line[1:] for line in lines_of(why(storage, "k"))[2:5]} == {("outranked", "a delete of the key outranks it")}


def test_a_missing_or_cut_file_is_named_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table, _ = create(tmp_path / "t")
    table.upsert(table_of(SCHEMA, ("k", 1, "a")))
    log = next(path for path in (tmp_path / "t").iterdir() if ".log." in path.name)
    log.write_bytes(log.read_bytes()[:100])
    assert run(["why", str(tmp_path / "t"), "k"]) == 2
    assert log.name in capfd.readouterr().err
    log.unlink()
    assert run(["why", str(tmp_path / "t"), "k"]) == 2
    assert f"read {log.name}, but a completed commit lists the file, and it is missing" in capfd.readouterr().err
    page = tmp_path / "page.html"
    assert run(["inspect", str(tmp_path / "t"), "--html", str(page)]) == 0
    words = " ".join(capfd.readouterr().out.split())  # where a line is folded depends on the length of the name
    assert (
        "DAMAGED: 1 data file missing or cut that completed commits list; reads fail, or return no row of these files "
        f"(nbcc validate explains): {log.name}: it is missing, and a completed commit lists it"
    ) in words
    assert "<strong>DAMAGED: 1 data file" in page.read_text("utf-8")
    assert run(["inspect", str(tmp_path / "t"), "--json"]) == 0
    assert [fault["path"] for fault in json.loads(capfd.readouterr().out)["missing_or_cut"]] == [log.name]
    assert run(["inspect", str(tmp_path / "t"), "--json", "--redact"]) == 0
    assert json.loads(capfd.readouterr().out)["missing_or_cut"] == [
        {"kind": "data", "path": "(redacted)", "because": "(redacted)"}
    ]


def test_a_table_without_deletes_has_no_tombstones_in_its_pictures(tmp_path: Path) -> None:
    table = partly_updated(tmp_path / "t")
    table.compact()
    page = page_of(inspect(open_storage(tmp_path / "t")))
    assert "kept records" in page
    assert "tombstone" not in page
    assert not any("tombstone" in piece._repr_html_() for piece in table.file_slices())


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table, storage = create(tmp_path / "t")
    table.upsert(table_of(SCHEMA, ("k", 1, "a")))
    assert run(["why", str(tmp_path / "t"), "k"]) == 0
    assert capfd.readouterr().out == render(why(storage, "k")) + "\n"
    assert run(["why", str(tmp_path / "t"), "k", "--json"]) == 0
    answered = json.loads(capfd.readouterr().out)
    assert answered["groups"][0]["row"] == {"id": "k", "ts": 1, "v": "a"}
    assert [line["status"] for line in answered["groups"][0]["files"]] == ["answers"]
    assert run(["why", str(tmp_path / "t"), "absent"]) == 0
    assert "no file holds it" in capfd.readouterr().out
    assert run(["why", str(tmp_path / "nothing"), "k"]) == 2


def test_lines_are_folded_between_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Only a remedy of `validate` is longer, because a reader copies its command, and a word such as a path."""
    table, _ = create(tmp_path / "t")
    for number in range(3):
        table.upsert(table_of(SCHEMA, ("k", number, "a value of ten words that is not short at all, or so")))
    table.compact()
    run(["why", str(tmp_path / "t"), "k"])
    logs = sorted(tmp_path.rglob(".*.log.1_*"))
    logs[0].unlink()
    run(["validate", str(tmp_path / "t")])
    run(["inspect", str(tmp_path / "t")])
    lines = capfd.readouterr().out.splitlines()
    assert any(line.lstrip().startswith("requested") for line in lines)
    for line in lines:
        assert len(line) <= 80 or len(line.split()) == 1 or line.startswith("    do: "), line
