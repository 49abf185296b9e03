"""Processes that are killed at random on one table: nothing acknowledged is lost, nothing is half visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nbcc.engine.errors import StorageError
from nbcc.engine.storage import object_storage, open_storage, under_lease
from nbcc.engine.table import Table
from nbcc.engine.timeline import decode_commit, encode_commit
from nbcc.simulator.lockstep.s3.faults import Fault, Kind
from nbcc.simulator.lockstep.s3.server import Bucket
from tools.processes import MODES, Plan, Report, play
from tools.processes.notes import LATE, Notes, interrupted, lines, unanswered, writes_of
from tools.processes.play import Workers
from tools.processes.workers import SCHEMA, Place, rows_of, work


def assert_survived(report: Report, kills: int) -> None:
    print(report.text)
    assert report.kept, report.text
    assert sum(report.kills.values()) == kills
    assert report.kills.get("write"), "a process died during a write"
    assert report.acknowledged > 0
    assert report.reads >= 2


@pytest.mark.timeout(180)
def test_a_table_survives_kills(tmp_path: Path) -> None:
    assert_survived(play(Plan(kills=8, seed=2), tmp_path), kills=8)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_table_survives_two_hundred_kills(tmp_path: Path) -> None:
    report = play(Plan(kills=200, seed=7), tmp_path)
    assert_survived(report, kills=200)
    assert report.compactions > 0
    assert report.resumed > 0, "a plan of a compactor that was killed was carried out by another"
    assert report.rolled_back > 0, "a write of a writer that was killed was rolled back by another"
    assert report.resent > 0, "a batch of a writer that was killed was sent again"


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("options", MODES, ids=lambda options: "-".join(options.values()))
def test_a_table_in_an_object_store_survives_kills_with_clocks_apart(options: dict[str, str], tmp_path: Path) -> None:
    assert_survived(play(Plan(kills=100, seed=11, store=True, options=options), tmp_path), kills=100)


def test_a_write_that_lost_a_file_is_seen(tmp_path: Path) -> None:
    """The judge seen red."""
    with half_of_a_write(tmp_path):
        report = play(Plan(kills=2, writers=1, seed=3), tmp_path)
    assert not report.kept
    assert report.text.startswith("BROKEN")
    assert {name for name, found in report.breaches.items() if found} & {"ATOM", "TRAVEL", "ACK"}


@contextmanager
def half_of_a_write(folder: Path) -> Iterator[None]:
    """At the end the newest commit lists one file less than its writer put."""
    ended = Workers.end

    def end(self: Workers) -> None:
        ended(self)
        table = Table.open(None, folder / "table")
        table.upsert(rows_of("lost.1", 6, 1))
        newest = table.timeline()[-1].requested
        commit = next((folder / "table").rglob(f"{newest}_*.deltacommit"))
        listed = decode_commit(commit.read_bytes())
        commit.write_bytes(encode_commit(replace(listed, stats=listed.stats[1:])))

    with patch.object(Workers, "end", end):
        yield


def test_a_line_that_was_cut_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "writer-1.jsonl"
    note = Notes(path)
    note.add("begins", what="write", batch="b", size=2, ordering=1)
    with path.open("a") as cut:
        cut.write('{"kind": "wro')
    assert len(lines(path)) == 1
    assert interrupted(path) == "write"
    assert [write.acked for write in writes_of(path)] == [None]


@pytest.fixture
def failed(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Callable[[Kind], StorageError]:
    """Return the error of a request under a lease that meets a fault each time."""
    monkeypatch.setattr(object_storage, "PAUSES", (0.0,))

    def failed(kind: Kind) -> StorageError:
        bucket.faults[:] = [Fault(kind, "", "GET", times=1_000)]
        with under_lease(lambda: 0.9), pytest.raises(StorageError) as error:
            open_storage("s3://lake/t", bucket.options).get("x")
        return error.value

    return failed


def test_a_process_goes_on_after_a_request_that_ended_at_its_limit(
    failed: Callable[[Kind], StorageError], tmp_path: Path
) -> None:
    """The outcome of its write is not known: it sends the batch again, and writes others. A broken connection is not
    excused by the lease, also if it breaks under one.
    """
    stalled, broken = failed("stall"), failed("drop")
    assert "HTTP error" in str(stalled)
    assert "HTTP error" in str(broken)
    Table.create(None, tmp_path / "table", SCHEMA, record_key="id", ordering_fields="ts", buckets=1)
    ended, notes, upsert = iter([stalled, None, None, broken]), tmp_path / "writer-1.jsonl", Table.upsert

    def late(self: Table, *given: Any, **options: Any) -> Any:
        written = upsert(self, *given, **options)
        if error := next(ended):
            raise error
        return written

    with patch.object(Table, "upsert", late):
        work("writer", "writer-1", Place(str(tmp_path / "table")), notes, None)
    assert [line["kind"] for line in lines(notes)] == [
        "begins", LATE, "resent", "begins", "wrote", "begins", "wrote", "begins", "failed",
    ]  # fmt: skip
    assert "StorageError" in lines(notes)[-1]["error"]
    assert [write.acked is not None for write in writes_of(notes)] == [True, True, False]
    assert interrupted(notes) == ""
    assert unanswered(notes) is None
