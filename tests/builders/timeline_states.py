"""The states of timelines, and archives that a test writes."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

from nbcc.engine.storage import Storage
from tests.builders.files import t

TIMELINE = ".hoodie/timeline"


STATES = [
    f"{t(1)}.deltacommit.requested", f"{t(1)}.deltacommit.inflight", f"{t(1)}_{t(6)}.deltacommit",
    f"{t(2)}.compaction.requested", f"{t(2)}.compaction.inflight", f"{t(2)}_{t(4)}.commit",
    f"{t(3)}.compaction.requested", f"{t(3)}.compaction.inflight",
    f"{t(1)}.savepoint.inflight",
]  # fmt: skip


def archive(storage: Storage, *files: tuple[int, int], version: bytes | None = b"1") -> None:
    """Archived delta commits requested at each even second of the ranges, completing half a minute later."""
    listed = []
    for first, last in files:
        rows = [
            {"instantTime": t(n), "completionTime": t(n + 30), "action": "deltacommit", "metadata": b"m", "plan": None}
            for n in range(first, last + 1, 2)
        ]
        rows.append({**rows[-1], "action": "clean", "completionTime": t(59)})
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        name = f"{t(first)}_{t(last)}_0.parquet"
        storage.put_if_absent(f"{TIMELINE}/history/{name}", sink.getvalue())
        listed.append({"fileName": name, "fileLen": len(sink.getvalue())})
    storage.put(f"{TIMELINE}/history/manifest_1", json.dumps({"files": listed}).encode())
    if version is not None:
        storage.put(f"{TIMELINE}/history/_version_", version)
