"""Tables that were cleaned and archived: a file deleted by them yields no diagnostic, a file deleted wrongly does."""

from __future__ import annotations

import io
import json

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from nbcc.engine.audit import gather
from nbcc.engine.repair import orphan_files
from nbcc.engine.storage import Storage
from nbcc.engine.timeline.metadata import OWN_FORMAT, OWN_KEY
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.text import render
from tests.builders.tables import tick

from .corpus.kind import TIMELINE
from .golden import instant, log

HISTORY = f"{TIMELINE}/history"
CLEAN = {
    "type": "record",
    "name": "HoodieCleanMetadata",
    "fields": [
        {"name": "totalFilesDeleted", "type": "int"},
        {"name": "earliestCommitToRetain", "type": "string"},
        {"name": "extraMetadata", "type": {"type": "map", "values": "string"}},
        {
            "name": "partitionMetadata",
            "type": {
                "type": "map",
                "values": {
                    "type": "record",
                    "name": "HoodieCleanPartitionMetadata",
                    "fields": [{"name": "successDeleteFiles", "type": {"type": "array", "items": "string"}}],
                },
            },
        },
    ],
}


def cleaned(storage: Storage, retained: str, paths: list[str]) -> None:
    """Delete the files as a clean that retains everything from `retained` on."""
    names = [path.rpartition("/")[2] for path in paths]
    record = {
        "totalFilesDeleted": len(paths),
        "earliestCommitToRetain": retained,
        "extraMetadata": {OWN_KEY: OWN_FORMAT},
        "partitionMetadata": {"part=p": {"successDeleteFiles": names}},
    }
    content = io.BytesIO()
    fastavro.writer(content, CLEAN, [record])
    for path in paths:
        storage.delete(path)
    storage.put(f"{TIMELINE}/{tick(12)}_{tick(13)}.clean", content.getvalue())


def archived(storage: Storage, *instants: tuple[int, int]) -> str:
    """Move completed delta commits into the archive; the path of its file."""
    rows = [
        {
            "instantTime": tick(r),
            "completionTime": tick(c),
            "action": "deltacommit",
            "metadata": storage.get(instant(r, c)),
            "plan": None,
            "version": 1,
        }
        for r, c in instants
    ]
    kinds = [("instantTime", pa.string()), ("completionTime", pa.string()), ("action", pa.string())]
    schema = pa.schema([*kinds, ("metadata", pa.binary()), ("plan", pa.binary()), ("version", pa.int32())])
    content = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), content)
    name = f"{tick(instants[0][0])}_{tick(instants[-1][0])}_0.parquet"
    storage.put(f"{HISTORY}/{name}", content.getvalue())
    manifest = {"files": [{"fileName": name, "fileLen": len(content.getvalue())}]}
    storage.put(f"{HISTORY}/manifest_1", json.dumps(manifest).encode())
    storage.put(f"{HISTORY}/_version_", b"1")
    for r, c in instants:
        for path in (instant(r, c), *(f"{TIMELINE}/{tick(r)}.deltacommit.{s}" for s in ("requested", "inflight"))):
            storage.delete(path)
    return f"{HISTORY}/{name}"


def test_what_a_clean_deletes_behind_the_horizon_is_no_complaint(good: Storage) -> None:
    cleaned(good, tick(7), [log(1)(good), log(3)(good)])
    found = validate(good, opened=True)
    assert found.fine, render(found)


def test_a_clean_that_deletes_files_of_a_snapshot_is_detected(good: Storage) -> None:
    path = log(10)(good)
    cleaned(good, tick(10), [path])
    [diagnostic] = [c for c in validate(good).diagnostics if c.rule == "listed-file-missing"]
    assert (diagnostic.file, diagnostic.promises) == (path, ("SNAP", "TRAVEL", "INCR", "CLEAN"))
    assert f"the clean {tick(12)} deleted it" in diagnostic.because


def test_archived_instants_are_part_of_the_history(good: Storage) -> None:
    archived(good, (1, 2), (3, 4))
    found = validate(good, opened=True)
    assert found.fine, render(found)
    assert found.history is not None
    assert found.history.notes == ("the history includes 2 archived instants",)


def test_an_archive_that_forgot_what_was_written_is_undetermined_and_keeps_orphans(good: Storage) -> None:
    path = archived(good, (1, 2), (3, 4))
    good.put(path, good.get(path)[:-20])
    found = validate(good)
    assert found.verdict == "BROKEN"
    assert [c.file for c in found.diagnostics if c.rule == "unreadable"] == [path, path]
    assert found.promises["TRAVEL"].verdict == "UNDETERMINED"
    kept = orphan_files(gather(good))
    assert len(kept) == 2
    assert all(orphan.kept for orphan in kept), "files whose commits an unreadable archive may hold were given up"


def test_a_zombie_older_than_the_active_timeline_is_at_risk_and_can_be_deleted(good: Storage) -> None:
    archived(good, (1, 2))
    good.put(log(3)(good).replace(tick(3), tick(2)), b"#HUDI#")
    [diagnostic] = [c for c in validate(good).diagnostics if c.rule == "orphan-file"]
    assert "Hudi's readers show its rows" in diagnostic.because
    assert [orphan.kept for orphan in orphan_files(gather(good))] == [""]
