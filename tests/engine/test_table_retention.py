"""Reads that may need what cleaning or archiving took away are refused by name; all others answer."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbcc import BadInput, Cleaned, Table, Unsupported
from nbcc.engine import Context, open_table
from nbcc.engine.rules import HUDI
from tests.builders.tables import batch, make_table, state, tick

from .hooked import during

TIMELINE = ".hoodie/timeline"


def clean(table: Table, retained: str, deleted: int) -> None:
    """A completed clean as another engine leaves it, as far as a reader looks at it."""
    names = {"earliestCommitToRetain": "string", "totalFilesDeleted": "int"}
    schema = {
        "type": "record",
        "name": "HoodieCleanMetadata",
        "fields": [{"name": n, "type": k} for n, k in names.items()],
    }
    content = io.BytesIO()
    fastavro.writer(content, schema, [{"earliestCommitToRetain": retained, "totalFilesDeleted": deleted}])
    clock = table.context.clock
    table.context.storage.put_if_absent(f"{TIMELINE}/{clock.take()}_{clock.take()}.clean", content.getvalue())


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Writes 1→2 and, concurrently, 3→6 (late) and 4→5; a compaction 7→8; a write 9→10."""
    made = make_table(tmp_path)
    made.upsert(batch(("k1", 1, "a")))
    during(made, ".log.", lambda: made.upsert(batch(("k2", 1, "b")))).upsert(batch(("k3", 1, "c")))
    made.compact()
    made.upsert(batch(("k4", 1, "d")))
    return made


def test_the_horizon_is_where_the_retained_slice_is_the_one_that_is_read(table: Table) -> None:
    clean(table, tick(9), deleted=3)
    assert state(table.as_of(tick(9 + 1))) == {(f"k{n}", 1, a) for n, a in enumerate("abcd", 1)}
    for operation in reads_at(table, tick(8)):
        with pytest.raises(Cleaned, match=f"cleaning has removed files from before {tick(9)}: use {tick(9)} or later"):
            operation()
    assert table.incremental(tick(9)).num_rows == 1
    assert table.snapshot().num_rows == 4


def test_the_horizon_waits_for_what_was_requested_before_it(table: Table) -> None:
    clean(table, tick(4), deleted=1)
    with pytest.raises(Cleaned, match=f"before {tick(6)}"):
        table.as_of(tick(5))
    assert table.as_of(tick(6)).num_rows == 3


def test_a_clean_that_keeps_newest_slices_only_is_a_horizon_itself(table: Table) -> None:
    clean(table, "", deleted=1)
    with pytest.raises(Cleaned):
        table.as_of(tick(10))
    assert table.as_of(tick(11)).num_rows == 4


def test_a_clean_that_deleted_nothing_takes_nothing_away(table: Table) -> None:
    clean(table, tick(9), deleted=0)
    assert table.as_of(tick(2)).num_rows == 1


def reads_at(table: Table, time: str) -> list[Callable[[], Any]]:
    return [
        lambda: table.as_of(time),
        lambda: table.file_slices(time),
        lambda: table.incremental(time),
        lambda: table.changes(time),
    ]


def archive(table: Table, *requests: str) -> None:
    """Move the instants requested then to the archived timeline."""
    storage = table.context.storage
    rows = []
    for entry in storage.list(TIMELINE):
        name = entry.path.rpartition("/")[2]
        if name[:17] in requests:
            if "_" in name:
                requested, completed = name.partition(".")[0].split("_")
                rows.append({"instantTime": requested, "completionTime": completed, "action": name.partition(".")[2]})
            storage.delete(entry.path)
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    file = f"{min(requests)}_{max(requests)}_0.parquet"
    storage.put_if_absent(f"{TIMELINE}/history/{file}", sink.getvalue())
    manifest = f'{{"files":[{{"fileName":"{file}","fileLen":{len(sink.getvalue())}}}]}}'
    storage.put_if_absent(f"{TIMELINE}/history/manifest_1", manifest.encode())
    storage.put_if_absent(f"{TIMELINE}/history/_version_", b"1")


def test_archived_commits_without_metadata_are_refused_not_misread(table: Table) -> None:
    archive(table, tick(1), tick(3))
    reopened = Table(replace(table.context), table.config)
    for operation in ("snapshot", "read_optimized", "incremental", "compact"):
        with pytest.raises(Unsupported, match="another engine archived it without the content of its commit"):
            reopened.run(operation, **({"after": tick(1)} if operation == "incremental" else {}))


def test_a_table_of_others_is_read_with_its_archive(table: Table) -> None:
    archive(table, tick(1), tick(3))
    foreign = by_hudis_rules(table)
    assert state(foreign.snapshot()) == {(f"k{n}", 1, a) for n, a in enumerate("abcd", 1)}
    assert state(foreign.as_of(tick(2))) == {("k1", 1, "a")}
    with pytest.raises(BadInput, match=f"the first commit completed at {tick(2)}"):
        foreign.as_of("20251231000000000")
    with pytest.raises(Unsupported, match=f"writes that completed until {tick(6)} are archived"):
        foreign.incremental(tick(5))
    assert foreign.incremental(tick(6)).num_rows == 1


def by_hudis_rules(table: Table) -> Table:
    """The same files as if another engine had made the table."""
    root = Path(table.context.storage.url.removeprefix("file://"))
    properties = root / ".hoodie" / "hoodie.properties"
    kept = [line for line in properties.read_text().splitlines() if not line.startswith("nbcc.")]
    properties.write_text("\n".join(kept) + "\n")
    given = table.context
    opened = open_table(Context(given.storage, given.lock, given.clock, given.names, given.jobs))
    assert opened.context.rules == HUDI
    return opened
