"""Plans, commits and archives that name files outside the table are refused when they are decoded."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine import Table, open_table
from nbcc.engine.errors import Damaged, NbccError, Unsupported
from nbcc.engine.timeline import Archived, Instant, decode_commit, decode_plan, decode_rollback_plan
from nbcc.engine.timeline.archive_files import decode_manifest, decode_rows, encode_table, rows_table
from nbcc.engine.timeline.archive_reader import HISTORY
from nbcc.engine.timeline.checked import Checked, is_inside
from nbcc.engine.timeline.cleans import decode_clean_plan
from nbcc.engine.timeline.container import encode_record
from nbcc.engine.timeline.metadata import COVERS
from nbcc.engine.timeline.restores import decode_restore_plan
from nbcc.engine.timeline.savepoints import decode_savepoint
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.tables import batch, context, make_table, tick

BASE = "f-0_0-1-1_20260101000000000.parquet"
PATHS = ["..", "../victim", "/etc", "a/../..", "a/./b", "a//b", "a/", ".hoodie", ".hoodie/timeline", "a\0b"]
TIMES = ["../../../precious", "", "2026", "20260101000000000x", "²" * 17, 7, None]


def commit(**changes: Any) -> bytes:
    stat = {"fileId": "f-0", "path": f"p/{BASE}", "fileSizeInBytes": 1} | changes
    stats = {changes.pop("partition", "p"): [{name: stat[name] for name in stat if name != "partition"}]}
    record = {"partitionToWriteStats": stats, "extraMetadata": changes.get("extra") or {}, "operationType": "UPSERT"}
    stats[next(iter(stats))][0].pop("extra", None)
    return encode_record("commit", record)


def plan(**changes: Any) -> bytes:
    operation = {"fileId": "f-0", "partitionPath": "p", "deltaFilePaths": [], "baseInstantTime": tick(1)} | changes
    return encode_record("compaction", {"operations": [operation]})


def clean(partition: str = "p", name: str = BASE) -> bytes:
    files = {partition: [{"filePath": f"file:/t/{name}", "isBootstrapBaseFile": False}]}
    return encode_record("clean_plan", {"policy": "", "filePathsToBeDeletedPerPartition": files})


def rollback(partition: str = "p", name: str = BASE, target: str = tick(1)) -> bytes:
    request = {"partitionPath": partition, "filesToBeDeleted": [f"file:/t/{name}"]}
    target_instant = {"commitTime": target, "action": "deltacommit"}
    return encode_record("rollback plan", {"instantToRollback": target_instant, "RollbackRequests": [request]})


def restore(target: str) -> bytes:
    undone = [{"commitTime": target, "action": "deltacommit"}]
    return encode_record("restore_plan", {"instantsToRollback": undone, "savepointToRestoreTimestamp": tick(1)})


def savepoint(partition: str) -> bytes:
    files = {partition: {"partitionPath": partition, "savepointDataFile": [BASE]}}
    return encode_record(
        "savepoint", {"savepointedBy": "", "savepointedAt": 0, "comments": "", "partitionMetadata": files}
    )


@pytest.mark.parametrize("path", PATHS)
def test_a_partition_leads_below_the_table(path: str) -> None:
    decoders: list[Callable[[], object]] = [
        lambda: decode_commit(commit(partition=path)),
        lambda: decode_commit(commit(path=f"{path}/{BASE}")),
        lambda: decode_commit(commit(extra={COVERS: json.dumps({f"{path}/{BASE}": []})})),
        lambda: decode_commit(
            encode_record("replacecommit", {"partitionToWriteStats": {}, "partitionToReplaceFileIds": {path: ["f"]}})
        ),
        lambda: decode_plan(plan(partitionPath=path)),
        lambda: decode_clean_plan(clean(path)),
        lambda: decode_rollback_plan(rollback(path)),
        lambda: decode_savepoint(savepoint(path)),
    ]
    for decode in decoders:
        with pytest.raises(Damaged, match="path below the table"):
            decode()


@pytest.mark.parametrize("time", TIMES)
def test_an_instant_is_digits(time: Any) -> None:
    with pytest.raises(Damaged, match="an instant time"):
        Checked("a file").instant(time)
    if isinstance(time, str) and time:
        with pytest.raises(Damaged, match="an instant time"):
            decode_rollback_plan(rollback(target=time))
        with pytest.raises(Damaged, match="an instant time"):
            decode_restore_plan(restore(time), tick(2))
        with pytest.raises(Damaged, match="an instant time"):
            decode_plan(plan(baseInstantTime=time))
        for row in (Archived(time, tick(2), "commit", b"", None), Archived(tick(1), time, "commit", b"", None)):
            with pytest.raises(Damaged, match="an instant time"):
                decode_rows(encode_table(rows_table([row])), "a file")


@pytest.mark.parametrize("name", ["precious.txt", "hoodie.properties", "..", ""])
def test_a_rollback_lists_data_files(name: str) -> None:
    with pytest.raises(Damaged, match=r"file name|base file or log file"):
        decode_rollback_plan(rollback(name=name))


def test_a_manifest_lists_names() -> None:
    for name in ("../x.parquet", "a/b.parquet", "..", 7, None):
        with pytest.raises(NbccError):
            decode_manifest(json.dumps({"files": [{"fileName": name, "fileLen": 1}]}).encode(), "manifest_1")
    with pytest.raises(NbccError):
        decode_manifest(b'{"files":' + b"[" * 200_000, "manifest_1")


@pytest.mark.parametrize("content", [b"", b"x", b"9" * 5000, b"-1"])
def test_the_version_file_is_a_number(content: bytes, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    table.context.storage.put(f"{HISTORY}/{tick(1)}_{tick(1)}_0.parquet", b"")
    table.context.storage.put(f"{HISTORY}/_version_", content)
    with pytest.raises(Damaged, match="number of a manifest"):
        open_table(context(tmp_path)).snapshot()


def test_a_record_of_another_kind_is_a_typed_error() -> None:
    record = encode_record("compaction", {"operations": [{"partitionPath": "p"}]})
    with pytest.raises(Damaged, match="a file name"):
        decode_plan(record)
    with pytest.raises(Damaged, match="not of the kind"):
        decode_rollback_plan(record)


def test_genuine_paths_pass() -> None:
    for path in ("p", "part=a..b", "a/b", "..a", "a/...", ".hidden/x", "é ü", "a\\b", ".hoodie_partition_metadata"):
        assert is_inside(path), path


@pytest.fixture
def neighbours(tmp_path: Path) -> tuple[Table, Path]:
    """A table with a savepoint, and a file of another table next to it."""
    victim = tmp_path / "victim" / "part=p"
    victim.mkdir(parents=True)
    (victim / BASE).write_bytes(b"precious")
    table = make_table(tmp_path / "t")
    table.upsert(batch(("a", 1, "x")))
    return table, victim / BASE


def put(table: Table, action: str, data: bytes) -> None:
    requested = table.context.clock.take()
    table.context.storage.put(f"{FOLDER}/{Instant(requested, action, 'requested').file_name}", data)


def test_no_service_deletes_outside_the_table(neighbours: tuple[Table, Path]) -> None:
    """The clean, rollback and restore of a hostile plan deleted other tables' files."""
    table, precious = neighbours
    put(table, "clean", clean("../victim/part=p"))
    with pytest.raises(Damaged, match=r"holds '\.\./victim/part=p'"):
        table.run("run_clean")
    put(table, "rollback", rollback("../victim/part=p"))
    with pytest.raises(Damaged, match=r"holds '\.\./victim/part=p'"):
        table.run("run_rollback")
    put(table, "rollback", rollback(target="../../../victim/part=p/" + BASE))
    with pytest.raises(Damaged):
        table.run("run_rollback")
    assert precious.exists()


def test_a_restore_deletes_nothing_that_is_not_a_data_file(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    table.savepoint()
    undone = table.upsert(batch(("b", 1, "x")))
    (tmp_path / "precious.txt").write_text("mine")
    path = tmp_path / FOLDER / undone.file_name
    path.write_bytes(commit(path="precious.txt"))
    with pytest.raises(Unsupported, match="neither a base file nor a log file"):
        Table(replace(context(tmp_path), clock=table.context.clock), table.config).run("restore")
    put(table, "restore", restore("../../../precious.txt"))
    with pytest.raises(Damaged, match="an instant time"):
        table.snapshot()
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_clean_of_other_files_is_left_to_its_planner(tmp_path: Path) -> None:
    """It was an assertion, "a bug of ours"."""
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    (tmp_path / "notes.txt").write_text("mine")
    put(table, "clean", clean("", "notes.txt"))
    with pytest.raises(Unsupported, match=r"notes\.txt, which is neither a base file nor a log file"):
        table.run("run_clean")


@pytest.mark.parametrize("changes", [{"dataFilePath": "notes.txt"}, {"deltaFilePaths": ["notes.txt"]}])
def test_a_compaction_of_other_files_is_a_typed_error(changes: dict[str, Any], tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    put(table, "compaction", plan(**changes))
    with pytest.raises(NbccError, match=r"notes\.txt"):
        table.run_compaction()
