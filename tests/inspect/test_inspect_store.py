"""A table in an object store is inspected as one on a disk, by the same requests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from nbcc.engine.audit import CountingStorage, inspect, why
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table
from nbcc.simulator.lockstep.s3.server import s3_server

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())])


def test_a_table_in_an_object_store_reads_as_on_a_disk(tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "own", SCHEMA, record_key="id", ordering_fields="ts", partition_by="part")
    table.upsert(pa.table({"id": ["k1", "k2"], "part": ["a", "b"], "ts": [1, 2]}, schema=SCHEMA))
    table.compact()
    table.upsert(pa.table({"id": ["k1"], "part": ["a"], "ts": [3]}, schema=SCHEMA))
    with s3_server() as bucket:
        for path in filter(Path.is_file, tmp_path.rglob("*")):
            bucket.put(path.relative_to(tmp_path).as_posix(), path.read_bytes())
        there = CountingStorage(open_storage("s3://lake/own", bucket.options))
        here = CountingStorage(open_storage(tmp_path / "own"))
        found = inspect(there)
        assert replace(found, url="") == replace(inspect(here), url="")
        assert (there.listings, there.objects_listed, there.reads) == (here.listings, here.objects_listed, here.reads)
        assert there.listings + there.reads == len(bucket.requests)
        assert found.url == "s3://lake/own"
        assert len(found.slices) == 4
        assert why(there, "k1").groups[0].row == {"id": "k1", "part": "a", "ts": 3}
