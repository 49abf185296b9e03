"""The first snapshot of a new process at a long history, with and without a state checkpoint.

The history is synthesized: an archived timeline of commits with eight log files each, which are older than a base file
of each group. The base files, and a few later writes, are real, so that a snapshot reads real files.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.clock import to_instant
from nbcc.engine.config.options import SKEW
from nbcc.engine.file_names import LogName
from nbcc.engine.names import bucket_file_id
from nbcc.engine.table import Table
from nbcc.engine.timeline import CommitMetadata, WriteStat, encode_commit, own_extra
from nbcc.engine.timeline.archive_files import Archived, encode_table, rows_table
from nbcc.engine.timeline.archive_reader import HISTORY, VERSION
from nbcc.engine.timeline.state_checkpoint import FOLDER

from . import progress

HISTORIES: Final = (1_000, 10_000, 100_000)
"""Numbers of archived commits."""
BUCKETS: Final = 8
WITH_ALL_COMMITS: Final = 10_000
"""The longest history that is also read without a checkpoint."""
FILE_ROWS: Final = 10_000  # as a merged archive file
BEGIN: Final = 1_500_000_000_000
SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64())])


def run(folder: Path, histories: tuple[int, ...] = HISTORIES) -> dict[str, Any]:
    """Seconds of the first snapshot of a process, by length of the history."""
    rows = []
    for commits in histories:
        path = folder / f"first-{commits}"
        with progress.during(f"{commits:,} archived commits of {BUCKETS} files"):
            _history(path, commits)
            through, count = _seconds(path)
            without = None
            if commits <= WITH_ALL_COMMITS:
                for each in (path / FOLDER).glob("*.parquet"):
                    each.unlink()
                without, same = _seconds(path)
                assert same == count, "the checkpoint changed the answer"
        rows.append({"commits": commits, "through": round(through, 2), "without": without and round(without, 2)})
    return {"files": BUCKETS, "rows": rows}


def text(result: dict[str, Any]) -> str:
    """The table of a result."""
    lines = [
        f"| {row['commits']:,} | {row['through']} s | {row['without'] or '-'} |"
        for row in result["rows"]
    ]
    return "\n".join(["| archived commits | through a checkpoint | all commits (s) |", "|---|---|---|", *lines])


def _seconds(path: Path) -> tuple[float, int]:
    """Seconds until a new `Table` has read a snapshot, and its number of rows."""
    begun = time.perf_counter()
    count = len(Table.open(None, path).snapshot())
    return time.perf_counter() - begun, count


def _history(path: Path, commits: int) -> None:
    table = Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=BUCKETS, options={SKEW: "1"},
        storage_options={"durable": False},
    )  # fmt: skip
    for number in range(4):
        table.upsert(_batch(number))
    table.compact()
    put_archive(table, commits)
    Table.open(None, path).run("checkpoint_state")
    for number in range(4, 12):
        table.upsert(_batch(number))


def _batch(ts: int) -> pa.Table:
    return pa.table({"id": [f"k{number}" for number in range(1_000)], "ts": [ts] * 1_000}, schema=SCHEMA)


def put_archive(table: Table, commits: int) -> None:
    """Put an archived timeline of so many commits: files of one level, their manifest and the version."""
    storage, listed = table.context.storage, []
    for first in range(0, commits, FILE_ROWS):
        rows = [_archived(table, number) for number in range(first, min(commits, first + FILE_ROWS))]
        data, name = encode_table(rows_table(rows)), f"{rows[0].requested}_{rows[-1].requested}_3.parquet"
        storage.put(f"{HISTORY}/{name}", data)
        listed.append({"fileName": name, "fileLen": len(data)})
    storage.put(f"{HISTORY}/manifest_1", json.dumps({"files": listed}).encode())
    storage.put(VERSION, b"1")


def _archived(table: Table, number: int) -> Archived:
    """A commit of a log file in each bucket, years before the real writes."""
    requested, completed = (to_instant(BEGIN + 1_000 * number + ms) for ms in (0, 500))
    buckets = range(table.config.buckets or BUCKETS)
    names = [str(LogName(bucket_file_id(bucket), requested, 1, "0-0-0")) for bucket in buckets]
    stats = (
        WriteStat(bucket_file_id(bucket), name, "", 10_000, requested, writes=100, inserts=100, log_version=1)
        for bucket, name in enumerate(names)
    )
    commit = CommitMetadata(tuple(stats), "UPSERT", extra=own_extra(table.config.avro_schema))
    return Archived(requested, completed, "deltacommit", encode_commit(commit), None)
