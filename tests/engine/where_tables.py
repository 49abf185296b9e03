"""Tables in memory whose store reads ranges and counts the bytes of data files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pyarrow as pa

from nbcc import Table
from nbcc.engine import Context, create_table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.lock import InProcessLock
from nbcc.engine.names import RandomNames
from nbcc.engine.storage import ByteRange
from nbcc.simulator.lockstep.control.storage import MemoryStorage
from tests.builders.tables import TickClock

EVENT_TIME = "EVENT_TIME_ORDERING"
_NUMBERED: Iterator[int] = count()


class RangedMemory(MemoryStorage):
    """A memory store that reads ranges, and adds up the bytes of the data files that are read."""

    data_bytes = 0

    def get(self, path: str) -> bytes:
        data = super().get(path)
        self._count(path, len(data))
        return data

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        data = super().get(path)
        parts = [data[start:end] for start, end in ranges]
        self._count(path, sum(map(len, parts)))
        return parts

    def _count(self, path: str, size: int) -> None:
        if not path.startswith(".hoodie/"):
            self.data_bytes += size

    def bytes_of(self, read: Callable[[], Any]) -> int:
        """The bytes of data files that a read requests."""
        before = self.data_bytes
        read()
        return self.data_bytes - before

    @property
    def total(self) -> int:
        """The bytes of all data files."""
        return sum(len(data) for path, data in self.objects.items() if not path.startswith(".hoodie/"))


def table_in_memory(schema: pa.Schema, **changes: Any) -> tuple[Table, RangedMemory]:
    """A table with the key `id` and the ordering `ts`, and its store. `changes` are arguments of `Table.create`."""
    storage, names = RangedMemory(), RandomNames()
    lock = InProcessLock(f"where-{next(_NUMBERED)}")
    context = Context(storage, lock, TickClock(), names, InProcessJobs(storage, names))
    arguments: dict[str, Any] = {
        "record_key": "id", "ordering_fields": "ts", "partition_by": None, "buckets": 1, "merge_mode": EVENT_TIME,
        "table_type": "MERGE_ON_READ", "concurrency_mode": None, "options": {},
    }  # fmt: skip
    return create_table(context, table_config("t", schema, **{**arguments, **changes})), storage
