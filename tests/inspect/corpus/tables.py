"""The healthy tables that the corpus breaks: ours, and tables that Apache Hudi 1.0.2, 1.1.1 and 1.2.0 wrote."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from nbcc.engine.config.concurrency import OPTIMISTIC
from nbcc.engine.storage import Storage, open_storage
from tests.builders.files import FOLDER
from tests.builders.tables import batch, keys, make_table

from ..golden import good_table


def own_copy_on_write(folder: Path) -> Storage:
    """Four writes, of which the last deletes a row."""
    table = make_table(folder, table_type="COPY_ON_WRITE", concurrency_mode=OPTIMISTIC)
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "a"), ("k3", 1, "a")))
    table.upsert(batch(("k1", 2, "b")))
    table.upsert(batch(("k4", 2, "b")))
    table.delete(keys(("k2", 5)))
    return table.context.storage


def own_replaced(folder: Path) -> Storage:
    """An overwrite of a partition with four rows in two buckets, of which one bucket gets a new row."""
    table = make_table(folder, buckets=2)
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "a"), ("k3", 1, "a"), ("k4", 1, "a")))
    table.insert_overwrite(batch(("k1", 2, "b")))
    return table.context.storage


def own_log_compacted(folder: Path) -> Storage:
    """A compaction of a log that a log compaction made of two."""
    table = make_table(folder)
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "a")))
    table.upsert(batch(("k1", 2, "b")))
    table.log_compact()
    table.compact()
    return table.context.storage


def unpacked(packed: str, folder: Path) -> Storage:
    """Unpack a table of Apache Hudi as `folder`."""
    path = FOLDER / f"{packed}.zip"
    with zipfile.ZipFile(path) as files:
        files.extractall(folder.parent)
    (folder.parent / path.stem).rename(folder)
    return open_storage(folder, {"durable": "false"})


TABLES: Final[Mapping[str, Callable[[Path], Storage]]] = {
    "ours MOR": good_table,
    "ours COW": own_copy_on_write,
    "ours MOR replaced": own_replaced,
    "ours MOR log-compacted": own_log_compacted,
    "1.2.0 MOR": partial(unpacked, "hudi120_00_mor_event_b4_avro"),
    "1.2.0 MOR commit time": partial(unpacked, "hudi120_14_mor_commit_b1_avro"),
    "1.2.0 COW": partial(unpacked, "hudi120_05_cow_event_b2_parquet"),
    "1.2.0 COW archived": partial(unpacked, "defaults/cow_buckets_cleaned"),
    "1.2.0 COW record index": partial(unpacked, "more/cow_record_index"),
    "1.2.0 COW clustered": partial(unpacked, "more/cow_clustered"),
    "1.2.0 MOR clustered": partial(unpacked, "more/mor_clustered"),
    "1.1.1 MOR": partial(unpacked, "more/hudi111_mor"),
    "1.1.1 COW": partial(unpacked, "more/hudi111_cow"),
    "1.0.2 MOR": partial(unpacked, "more/hudi102_mor"),
    "1.0.2 COW": partial(unpacked, "more/hudi102_cow"),
    "version 6 MOR": partial(unpacked, "more/mor_v6"),
    "version 6 COW": partial(unpacked, "more/cow_v6"),
    "1.2.0 MOR metadata": partial(unpacked, "defaults/mor_buckets"),
}
