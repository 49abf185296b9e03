"""Bytes and seconds of reads with conditions, in one process without Spark: what skipping saves on a local disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.storage import ByteRange, LocalStorage
from nbcc.engine.table import Table

DAYS: Final = [date(2026, 1, 1) + timedelta(number) for number in range(365)]
SCHEMA: Final = pa.schema(
    [("id", pa.int64()), ("ts", pa.int64()), ("price", pa.float64()), ("amount", pa.int32()), ("note", pa.string())]
)
AMOUNTS: Final = 10_000
LIMITS: Final = {"one of 365 partitions": 0.01, "a hundredth of a clustered column": 0.1}
"""The largest part of the bytes that a read may request."""


class CountedStorage(LocalStorage):
    """A local storage that adds up the bytes of the data files that are read."""

    data_bytes = 0

    def get(self, path: str) -> bytes:
        data = super().get(path)
        self._count(path, data)
        return data

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        parts = super().get_ranges(path, ranges)
        self._count(path, *parts)
        return parts

    def _count(self, path: str, *parts: bytes) -> None:
        if not path.startswith(".hoodie/"):
            self.data_bytes += sum(map(len, parts))


def run(folder: Path, rows: int) -> dict[str, Any]:
    """Each read with its bytes, its part of the bytes of the whole table, and its seconds."""
    return {"rows": rows, "figures": [*_partitioned(folder / "days", rows), *_clustered(folder / "clustered", rows)]}


def _partitioned(folder: Path, rows: int) -> list[dict[str, Any]]:
    schema = pa.schema([*SCHEMA, ("day", pa.date32())])
    table = _table(folder, schema, partition_by="day", buckets=1)
    days = pa.array(np.arange(rows) % len(DAYS)).cast(pa.int32())
    table.bulk_insert(_rows(rows).append_column("day", pa.array(DAYS, pa.date32()).take(days)))
    whole = _measured(table, "all partitions", table.snapshot)
    day = DAYS[100]
    reads = {
        "one of 365 partitions": lambda: table.snapshot(where=[("day", "=", day)]),
        "a week of 365 partitions": lambda: table.snapshot(where=[("day", ">=", day), ("day", "<", DAYS[107])]),
    }
    return [whole, *(_measured(table, name, read, whole) for name, read in reads.items())]


def _clustered(folder: Path, rows: int) -> list[dict[str, Any]]:
    table = _table(folder, SCHEMA, buckets=4)
    table.upsert(_rows(rows))
    table.cluster(["amount"])
    whole = _measured(table, "the clustered table", table.snapshot)
    where = [("amount", ">=", AMOUNTS // 2), ("amount", "<", AMOUNTS // 2 + AMOUNTS // 100)]
    figures = [whole]
    for logs in (0, 1):
        after = f", {logs} log of other rows" if logs else ""
        reads = {
            f"a hundredth of a clustered column{after}": lambda: table.snapshot(where=where),
            f"the same, one column{after}": lambda: table.snapshot(["price"], where=where),
        }
        figures += [_measured(table, name, read, whole) for name, read in reads.items()]
        table.upsert(_rows(rows // 100, ordering=2, amount=1))
    return figures


def _table(folder: Path, schema: pa.Schema, **changes: Any) -> Table:
    made = Table.create(None, folder, schema, record_key="id", ordering_fields="ts", **changes)
    storage = CountedStorage(made.context.storage.url, {"durable": False})
    jobs = InProcessJobs(storage, made.context.names)
    return Table(replace(made.context, storage=storage, jobs=jobs), made.config)


def _rows(count: int, ordering: int = 1, amount: int | None = None) -> pa.Table:
    numbers = np.arange(count)
    shuffled = np.random.default_rng(7).permutation(count)
    amounts = shuffled % AMOUNTS if amount is None else np.full(count, amount)
    columns = [numbers, np.full(count, ordering), shuffled * 0.37, pa.array(amounts, pa.int32())]
    return pa.table([*columns, pa.array(shuffled).cast(pa.string())], schema=SCHEMA)


def _measured(
    table: Table, name: str, read: Callable[[], pa.Table], whole: dict[str, Any] | None = None
) -> dict[str, Any]:
    storage = table.context.storage
    assert isinstance(storage, CountedStorage)
    read()  # later reads find the commits in the cache
    before, began = storage.data_bytes, time.perf_counter()
    rows = len(read())
    seconds, size = time.perf_counter() - began, storage.data_bytes - before
    part = size / (whole["bytes"] if whole else size)
    return {"read": name, "rows": rows, "bytes": size, "part": part, "seconds": seconds}


def text(result: dict[str, Any]) -> str:
    """The table: rows, bytes of data files, and seconds of each read."""
    lines = [f"{result['rows']:,} rows; bytes of data files", f"{'':52}{'rows':>10}{'bytes':>13}{'part':>8}{'s':>8}"]
    for row in result["figures"]:
        missed = "   MISSED" if row["part"] > LIMITS.get(row["read"], 1) else ""
        cells = f"{row['rows']:>10,}{row['bytes']:>13,}{row['part']:>8.2%}{row['seconds']:>8.3f}"
        lines.append(f"{row['read']:52}{cells}{missed}")
    return "\n".join(lines)


def missed(result: dict[str, Any]) -> bool:
    """Whether a read requests more than its limit; only for the number of rows for which the limits were set."""
    return result["rows"] == 1_000_000 and any(
        row["part"] > LIMITS.get(row["read"], 1) for row in result["figures"]
    )
