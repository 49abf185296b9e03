"""Files of tables: tables that Apache Hudi wrote, and a writer of single instants, logs and base files."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from nbcc.engine.config import TableConfig
from nbcc.engine.definition.load import create_table
from nbcc.engine.file_names import BaseName, LogName, in_partition
from nbcc.engine.files.data_block import DataFormat, encode_data
from nbcc.engine.files.delete_block import encode_deletes
from nbcc.engine.names import bucket_file_id
from nbcc.engine.parquet import encode_parquet
from nbcc.engine.schema import META_COLUMNS, with_meta
from nbcc.engine.storage import Storage, open_storage
from nbcc.engine.timeline import (
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    WriteStat,
    encode_commit,
    encode_plan,
    own_extra,
    put_completed,
    put_inflight,
    put_requested,
)

FOLDER = Path(__file__).parent.parent / "tables"
HUDI_TABLES = sorted(path.stem for path in FOLDER.glob("*.zip"))

SCHEMA = pa.schema([("id", pa.string()), ("val", pa.string()), ("ts", pa.int64())])


def t(second: int) -> str:
    """The instant at a second of 2026-01-01T00:00Z."""
    return f"202601010000{second:02d}000"


@cache
def hudi_facts(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return facts


def hudi_table(name: str, folder: Path) -> Storage:
    """One of the tables that Apache Hudi wrote, unpacked into `folder`."""
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as packed:
        packed.extractall(folder)
    return open_storage(folder / name)


@dataclass
class Writer:
    """Writes instants of one table through the format layer alone: no operations, no merge."""

    storage: Storage
    config: TableConfig

    def rows(self, instant: str, values: Iterable[tuple[str, str, int]], partition: str, file_name: str) -> pa.Table:
        """Stored rows of (id, val, ts)."""
        names = (*META_COLUMNS, "id", "val", "ts")
        named = [
            dict(zip(names, (instant, f"{instant}_0_{n}", row[0], partition, file_name, *row), strict=True))
            for n, row in enumerate(values)
        ]
        return pa.Table.from_pylist(named, schema=with_meta(self.config.schema))

    def log(
        self,
        instant: str,
        rows: Iterable[tuple[str, str, int]] = (),
        deletes: Iterable[tuple[str, int]] = (),
        *,
        version: int = 1,
        partition: str = "",
        bucket: int = 0,
        kind: DataFormat = "parquet",
    ) -> WriteStat:
        file_id = bucket_file_id(bucket)
        rows, deletes = list(rows), list(deletes)
        data = b""
        if rows:
            stored = self.rows(instant, rows, partition, file_id)
            data += encode_data(stored, kind, instant, self.config.log_schema)
        if deletes:
            keys, orderings = zip(*deletes, strict=True)
            arrays = pa.array(keys, pa.string()), pa.array(orderings, pa.int64())
            data += encode_deletes(arrays[0], partition, arrays[1], instant, self.config.log_schema)
        path = in_partition(partition, str(LogName(file_id, instant, version, "0-0-0")))
        assert self.storage.put_if_absent(path, data)
        return WriteStat(file_id, path, partition, len(data), instant, len(rows), len(deletes), len(rows),
                         log_version=version)  # fmt: skip

    def base(
        self, instant: str, rows: Iterable[tuple[str, str, int]], partition: str = "", bucket: int = 0
    ) -> WriteStat:
        file_id = bucket_file_id(bucket)
        name = str(BaseName(file_id, "0-0-0", instant))
        stored = self.rows(instant, rows, partition, name)
        data = encode_parquet(stored)
        path = in_partition(partition, name)
        assert self.storage.put_if_absent(path, data)
        return WriteStat(file_id, path, partition, len(data), "null", len(stored), inserts=len(stored))

    def begin(self, requested: str) -> None:
        put_requested(self.storage, requested, "deltacommit")
        put_inflight(self.storage, requested, "deltacommit")

    def complete(self, requested: str, completed: str, *stats: WriteStat, action: str = "deltacommit") -> None:
        compacted = action == "compaction"
        extra = own_extra(self.config.avro_schema)
        commit = CommitMetadata(stats, "COMPACT" if compacted else "UPSERT", compacted, extra)
        put_completed(self.storage, requested, completed, action, encode_commit(commit))

    def plan(self, requested: str, base: str | None, *logs: WriteStat) -> None:
        """A pending plan for bucket 0 of the root partition."""
        names = tuple(log.name for log in logs)
        first = names[0].split("_")[1].split(".")[0] if names else requested
        operation = CompactionOperation("", bucket_file_id(0), first, base, names, sum(log.size for log in logs))
        put_requested(self.storage, requested, "compaction", encode_plan(CompactionPlan((operation,))))


def own_table(folder: Path, **changes: Any) -> Writer:
    """A new table of nbcc in `folder`."""
    config = TableConfig(
        **{"name": "t", "schema": SCHEMA, "record_key": ("id",), "ordering": "ts", "buckets": 1, **changes}
    )
    storage = open_storage(folder)
    create_table(storage, config)
    return Writer(storage, config)
