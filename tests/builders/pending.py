"""A table of nbcc whose writes can stay pending, and a replacing write (docs/contract.md, SNAP) in single steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nbcc.engine import Table
from nbcc.engine.clock import WallClock
from nbcc.engine.data.put_files import put_base_file
from nbcc.engine.data.shape import table_shape
from nbcc.engine.data.tasks import WriteTask
from nbcc.engine.file_names import BaseName, partition_metadata
from nbcc.engine.lock import held
from nbcc.engine.names import bucket_file_id
from nbcc.engine.timeline import (
    CompactionOperation,
    CompactionPlan,
    Instant,
    encode_plan,
    load,
    own_extra,
    put_inflight,
    put_requested,
)
from nbcc.engine.writes.batch import as_upserts
from nbcc.engine.writes.claims import new_time
from nbcc.engine.writes.commit_protocol import complete, request
from nbcc.engine.writes.commits import compaction_commit, write_commit
from nbcc.engine.writes.data_write import write_task
from nbcc.simulator.lockstep.systems.rows import SCHEMA

from . import tables

Row = tuple[str, str, int, str | None]  # partition, key, ordering, value; no value deletes
Group = tuple[str, str]  # partition, file id


def make_versioned_table(folder: Path, version: str, **changes: Any) -> Table:
    """A new table in `folder` of version 8 or 9, with two buckets, partitions `part` and the machine's clock."""
    options = {
        "hoodie.write.table.version": version,
        "hoodie.datasource.write.hive_style_partitioning": "false",
        **changes.pop("options", {}),
    }
    defaults = {"buckets": 2, "schema": SCHEMA, "concurrency_mode": None}
    return tables.make_table(folder, clock=WallClock(), **{**defaults, **changes, "options": options})


def batch_of(values: Iterable[Row]) -> pa.Table:
    """Upserts and deletes for the engine."""
    return tables.with_deletes(tables.table_of(SCHEMA, *((key, part, *rest) for part, key, *rest in values)), "value")


def snapshot_of(table: Table) -> set[tuple[Any, ...]]:
    """(id, ts, value) of each row of a snapshot."""
    return tables.state(table.snapshot(), "value")


def groups_of(table: Table, *partitions: str) -> list[Group]:
    return [(part, bucket_file_id(number)) for part in partitions for number in range(table.config.buckets or 1)]


def replace(table: Table, *partitions: str) -> Replacement:
    """Begin to replace all rows of partitions.

    A group without a completed file first gets a base file without rows, in the same way: else Hudi, which finds
    no slice before the pending one, shows the rows of the base file that is not committed yet.
    """
    groups = groups_of(table, *partitions)
    known = {(piece.partition, piece.file_id) for piece in table.file_slices() if piece.base or piece.logs}
    if new := [group for group in groups if group not in known]:
        opening = Replacement(table, new)
        opening.write()
        opening.commit()
    return Replacement(table, groups)


class Write:
    """A write whose files are on storage and whose commit is not published."""

    def __init__(self, table: Table, *rows: Row) -> None:
        self._table, context = table, table.context
        self.requested, at_request = request(context, "deltacommit")
        put_inflight(context.storage, self.requested, "deltacommit")
        task = write_task(context, table.config, self.requested, at_request)
        self._files = context.jobs.write(as_upserts(batch_of(rows), table.config), task)

    def commit(self) -> Instant:
        """Take the completion time, and publish."""
        commit = write_commit(self._table.config, self.requested, "UPSERT", self._files)
        return complete(self._table.context, self.requested, "deltacommit", files=self._files, commit=commit)


class Replacement:
    """A replace of all rows of file groups: a plan at the barrier K that takes no file of them."""

    def __init__(self, table: Table, groups: Sequence[Group]) -> None:
        self._table, self._groups, context = table, groups, table.context
        with held(context.lock):
            self.barrier = new_time(context, load(context.storage), claimed=False)
            operations = tuple(CompactionOperation(part, file, self.barrier, None, ()) for part, file in self._groups)
            self._plan = CompactionPlan(operations, own_extra(table.config.avro_schema))
            put_requested(context.storage, self.barrier, "compaction", encode_plan(self._plan))

    def write(self, *rows: Row) -> None:
        """Put a base file into each group of the plan, with its rows or empty."""
        context, config = self._table.context, self._table.config
        put_inflight(context.storage, self.barrier, "compaction")
        shape = table_shape(config, context.rules)
        self._files = context.jobs.write(
            as_upserts(batch_of(rows), config), WriteTask(shape, self.barrier, bulk=True, filled=frozenset())
        )
        filled = {(file.partition, file.file_id) for file in self._files}
        for part, file in self._groups:
            if (part, file) not in filled:
                context.storage.put_if_absent(*partition_metadata(part, self.barrier))
                name = BaseName(file, context.names.write_token(), self.barrier)
                self._files.append(put_base_file(context.storage, part, name, shape.stored_schema.empty_table()))

    def commit(self) -> Instant:
        """Publish it as the commit of a compaction, as Hudi reads it."""
        commit = compaction_commit(self._table.config, self.barrier, self._plan, self._files)
        context = self._table.context
        return complete(context, self.barrier, "compaction", files=self._files, commit=commit, has_heartbeat=False)
