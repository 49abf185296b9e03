"""The cost of the checksums in data files: upserts and snapshots with and without them, in turns, without Spark.

Without them, the CRC-32 of everything is 0: the files have the same sizes, and a reader compares the same values.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import pyarrow as pa

from nbcc.engine import checksums
from nbcc.engine.table import Table

from . import progress

SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("v", pa.string())])


class _Nothing:
    @staticmethod
    def crc32(_data: object) -> int:
        return 0


@contextmanager
def _without() -> Iterator[None]:
    before = vars(checksums)["zlib"]
    vars(checksums)["zlib"] = _Nothing
    try:
        yield
    finally:
        vars(checksums)["zlib"] = before


def run(folder: Path, rows: int, rounds: int = 9) -> dict[str, Any]:
    """Milliseconds of processor time of an upsert of `rows` rows, and of a snapshot of a base file and a log of them.
    """
    data = pa.table({"id": [f"key-{n:09}" for n in range(rows)], "ts": range(rows), "v": ["x" * 20] * rows}, SCHEMA)
    pairs: list[dict[str, float]] = []
    with progress.during(f"{rows:,} rows with and without checksums"):
        for number in range(rounds):
            figures = _round(folder / f"with-{number}", data)
            with _without():
                others = _round(folder / f"without-{number}", data)
            pairs.append({**figures, **{f"{name} without": value for name, value in others.items()}})
    return {"rows": rows, **{name: round(median(pair[name] for pair in pairs), 1) for name in pairs[0]}}


def _round(folder: Path, data: pa.Table) -> dict[str, float]:
    table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=1)
    table.upsert(data)
    table.compact()
    begun = time.process_time()
    table.upsert(data)
    written = time.process_time()
    Table.open(None, folder).snapshot()
    read = time.process_time()
    return {"upsert": 1000 * (written - begun), "snapshot": 1000 * (read - written)}


def text(result: dict[str, Any]) -> str:
    """The table of a result."""
    lines = ["| operation | with checksums (ms) | without (ms) |", "|---|---|---|"]
    lines += [f"| {name} | {result[name]} | {result[f'{name} without']} |" for name in ("upsert", "snapshot")]
    return "\n".join(lines)
