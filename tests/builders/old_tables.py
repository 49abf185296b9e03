"""Tables of table version 6, as Apache Hudi 0.x lays them out: a flat timeline, base files, no completion times."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nbcc.engine.config.properties import table_checksum
from nbcc.engine.schema import avro_json

PROPERTIES = """hoodie.table.name=old
hoodie.table.type=COPY_ON_WRITE
hoodie.table.version=6
hoodie.timeline.layout.version=1
hoodie.table.recordkey.fields=id
hoodie.table.precombine.field=ts
hoodie.table.partition.fields=part
hoodie.table.base.file.format=PARQUET
hoodie.populate.meta.fields=true
hoodie.datasource.write.hive_style_partitioning=false
"""


def table_of_version_6(path: Path, rows: pa.Table) -> None:
    """One commit with one base file in each partition of the column `part`."""
    instant, stats = "20230101000000000", {}
    (path / ".hoodie").mkdir(parents=True)
    (path / ".hoodie/hoodie.properties").write_text(f"{PROPERTIES}hoodie.table.checksum={table_checksum('old')}\n")
    for part in sorted(set(rows["part"].to_pylist())):
        own = rows.filter(pa.compute.equal(rows["part"], part))
        file_id = f"{part * 8:.8}-0000-0000-0000-000000000000-0"
        name = f"{file_id}_0-1-1_{instant}.parquet"
        keys = own["id"].cast(pa.string())
        meta = {
            "_hoodie_commit_time": pa.repeat(instant, len(own)),
            "_hoodie_commit_seqno": pa.array([f"{instant}_0_{n}" for n in range(len(own))]),
            "_hoodie_record_key": keys,
            "_hoodie_partition_path": pa.repeat(part, len(own)),
            "_hoodie_file_name": pa.repeat(name, len(own)),
        }
        (path / part).mkdir()
        (path / part / ".hoodie_partition_metadata").write_text(f"commitTime={instant}\npartitionDepth=1\n")
        pq.write_table(pa.table(meta | {column: own[column] for column in own.column_names}), path / part / name)
        stats[part] = [{"fileId": file_id, "path": f"{part}/{name}", "prevCommit": "null", "numWrites": len(own),
                        "partitionPath": part, "fileSizeInBytes": (path / part / name).stat().st_size}]  # fmt: skip
    commit = {
        "partitionToWriteStats": stats, "compacted": False, "operationType": "UPSERT",
        "extraMetadata": {"schema": avro_json(rows.schema, "old")},
    }  # fmt: skip
    for state in (f"{instant}.commit.requested", f"{instant}.inflight"):
        (path / ".hoodie" / state).write_text("")
    (path / ".hoodie" / f"{instant}.commit").write_text(json.dumps(commit))
