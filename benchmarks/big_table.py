"""A large nbcc table with correct names and metadata. Its data files are sparse files of the right size.

Writers overlap with each other and with compactions. Every plan takes exactly the logs that
completed before its barrier.
"""

from __future__ import annotations

import heapq
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from nbcc.engine.clock import to_instant
from nbcc.engine.config import TableConfig, to_properties
from nbcc.engine.config.properties import encode_properties
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.file_names import BaseName, LogName, in_partition, partition_metadata
from nbcc.engine.names import bucket_file_id
from nbcc.engine.timeline import (
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Instant,
    WriteStat,
    encode_commit,
    encode_plan,
    own_extra,
)
from nbcc.engine.timeline.timeline import FOLDER

EPOCH: Final = 1_735_689_600_000  # 2025-01-01T00:00:00Z
STEP_MS: Final = 20  # a write is requested so often
MOST_STEPS: Final = 6  # a write takes at most so many steps; a compaction more
LOG_BYTES: Final = 4096
BASE_BYTES: Final = 65536
PARTITIONS: Final = 10
BUCKETS: Final = 100
CONFIG: Final = TableConfig(
    "big",
    pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())]),
    ("id",),
    "ts",
    ("part",),
    BUCKETS,
)


class Open(NamedTuple):
    """An operation under way: by when it completes."""

    completes: int
    requested: int
    compacts: bool
    stats: tuple[WriteStat, ...]


class BigTable:
    """`instants` instants of which one in `every` is a compaction; each write puts a log into `groups` file groups."""

    def __init__(self, folder: Path, instants: int, groups: int, every: int, seed: int = 0) -> None:
        self.folder = folder
        self.instants = instants
        self.groups = groups
        self.every = every
        self.files = 0
        self._draw = random.Random(seed)
        self._extra = own_extra(CONFIG.avro_schema)
        self._waiting: dict[tuple[str, int], list[WriteStat]] = {}
        self._base: dict[tuple[str, int], tuple[int, str]] = {}

    def make(self) -> None:
        """Put it all."""
        self._put(PROPERTIES, encode_properties(to_properties(CONFIG)))
        for partition in self._partitions():
            self._put(*partition_metadata(partition, to_instant(EPOCH)))
        under_way: list[Open] = []
        for number in range(self.instants):
            now = EPOCH + 1 + number * STEP_MS
            while under_way and under_way[0].completes < now:
                self._complete(heapq.heappop(under_way))
            compacting = any(each.compacts for each in under_way)
            begun = self._plan(now) if number % self.every == self.every - 1 and not compacting else self._write(now)
            heapq.heappush(under_way, begun)
        while under_way:
            self._complete(heapq.heappop(under_way))

    def _partitions(self) -> Iterator[str]:
        return (f"part=p{number}" for number in range(PARTITIONS))

    def _write(self, now: int) -> Open:
        self._instant(Instant(to_instant(now), "deltacommit", "requested"))
        self._instant(Instant(to_instant(now), "deltacommit", "inflight"))
        partition = f"part=p{self._draw.randrange(PARTITIONS)}"
        stats = []
        for bucket in self._draw.sample(range(BUCKETS), self.groups):
            name = str(LogName(bucket_file_id(bucket), to_instant(now), 1, "0-1-1"))
            stats.append(self._data(partition, bucket, name, LOG_BYTES))
        return Open(self._completion(now, MOST_STEPS), now, False, tuple(stats))

    def _completion(self, now: int, most: int) -> int:
        """Distinct from every other time: by its remainder, of which there are as many as writes can be under way."""
        remainder = STEP_MS - 1 if most > MOST_STEPS else 1 + (now // STEP_MS) % (STEP_MS - 2)
        return now + self._draw.randrange(most) * STEP_MS + remainder

    def _plan(self, now: int) -> Open:
        operations, stats = [], []
        for (partition, bucket), logs in sorted(self._waiting.items()):
            ordered = tuple(stat.name for stat in logs)
            before = self._base.get((partition, bucket))
            base = None if before is None else before[1]
            instant = to_instant(before[0]) if before else ordered[0].rpartition(".log.")[0].rpartition("_")[2]
            operations.append(
                CompactionOperation(partition, bucket_file_id(bucket), instant, base, ordered, LOG_BYTES * len(ordered))
            )
            name = str(BaseName(bucket_file_id(bucket), "0-1-1", to_instant(now)))
            stats.append(self._data(partition, bucket, name, BASE_BYTES, len(ordered)))
            self._base[partition, bucket] = now, name
        self._waiting.clear()
        requested = Instant(to_instant(now), "compaction", "requested")
        self._instant(requested, encode_plan(CompactionPlan(tuple(operations), self._extra)))
        self._instant(Instant(to_instant(now), "compaction", "inflight"))
        return Open(self._completion(now, 40), now, True, tuple(stats))

    def _complete(self, done: Open) -> None:
        """In the order of completion, so that what waits for the next plan is in merge order."""
        times = to_instant(done.requested), to_instant(done.completes)
        instant = Instant(times[0], "commit" if done.compacts else "deltacommit", "completed", times[1])
        operation = "COMPACT" if done.compacts else "UPSERT"
        self._instant(instant, encode_commit(CommitMetadata(done.stats, operation, done.compacts, self._extra)))
        for stat in () if done.compacts else done.stats:
            self._waiting.setdefault((stat.partition, int(stat.file_id[:8])), []).append(stat)

    def _data(self, partition: str, bucket: int, name: str, size: int, merged: int = 0) -> WriteStat:
        path = in_partition(partition, name)
        with open(self.folder / path, "wb") as file:
            os.truncate(file.fileno(), size)
        self.files += 1
        version = None if merged else 1
        return WriteStat(
            bucket_file_id(bucket), path, partition, size, "null", 1, log_version=version,
            log_files_compacted=merged,
        )  # fmt: skip

    def _instant(self, instant: Instant, data: bytes = b"") -> None:
        self._put(f"{FOLDER}/{instant.file_name}", data)

    def _put(self, path: str, data: bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
