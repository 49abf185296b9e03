"""The calls by which Spark writes and reads with a data source, without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import datasource as ds

from nbcc.engine.data_source import NbccSource
from nbcc.engine.data_source import write as source_write
from nbcc.engine.schema import to_spark
from nbcc.engine.table import Table

from .tables import table_of

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("v", pa.string())])
CREATE = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.bucket.index.num.buckets": "2",
}
COMMIT_TIME = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}


def deleted(values: Sequence[tuple[str, str, int, str]], flags: Sequence[bool]) -> pa.Table:
    """Rows of SCHEMA with a flag each: true deletes."""
    return table_of(SCHEMA, *values).append_column("_hoodie_is_deleted", pa.array(flags, pa.bool_()))


def save(path: Path | str, tasks: Sequence[pa.Table], **options: str) -> None:
    """Write as Spark does: make a writer, run its tasks in other processes, commit; abort on an error."""
    source = NbccSource({"path": str(path), **options})
    writer = source.writer(to_spark(tasks[0].schema), False)
    messages = []
    with pytest.MonkeyPatch.context() as patch:
        try:
            for number, task in enumerate(tasks):
                context = SimpleNamespace(partitionId=lambda number=number: number)
                patch.setattr(source_write, "TaskContext", SimpleNamespace(get=lambda context=context: context))
                there = pickle.loads(pickle.dumps(writer))
                messages.append(pickle.loads(pickle.dumps(there.write(iter(task.to_batches(max_chunksize=3))))))
            pickle.loads(pickle.dumps(writer)).commit(messages)
        except Exception:
            writer.abort(messages)
            raise


def load(path: Path | str, filters: Sequence[ds.Filter] = (), /, **options: str) -> list[dict[str, Any]]:
    """Read as Spark does: the schema at load, then the partitions and their rows."""
    source = NbccSource({"path": str(path), **options})
    schema = source.schema()
    reader: Any = pickle.loads(pickle.dumps(source)).reader(schema)
    assert list(reader.pushFilters([*filters])) == []
    reader = pickle.loads(pickle.dumps(reader))
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


def files_in(path: Path) -> list[str]:
    """All files of a table except the metadata files of partitions."""
    return sorted(str(file) for file in path.rglob("*") if file.is_file() and "partition_metadata" not in file.name)


def plain(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in ("id", "part", "ts", "v")) for row in records)


def by_table(path: Path, upserts: pa.Table, merge_mode: str) -> Table:
    """A table whose rows are written by `Table.upsert`."""
    table = Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=2, merge_mode=merge_mode
    )
    table.upsert(upserts)
    return table
