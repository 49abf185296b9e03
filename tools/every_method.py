"""Calls every method of `Table` with all of its arguments by name.

The methods are derived from their operations, so a renamed argument renames that of the method. mypy rejects the rename
here. A test calls `every_method`, and rejects an argument that these calls leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from nbcc.engine import Table
from nbcc.engine.config.maintenance import MaintenancePolicy
from nbcc.engine.reads.times import BEGINNING


def every_method(table: Table, rows: pa.Table, keys: pa.Table, partition: str, wider: pa.Schema) -> Iterator[Any]:
    """Yield the answers of all methods. `rows` and `keys` are of one partition; `wider` is the table's next schema."""
    column = table.config.record_key[0]
    yield table.bulk_insert(data=rows)
    yield table.upsert(
        data=rows, retries=1, reads=[partition], based_on=table.settled(), batch_id="b1", replay_difference="keep",
        columns=None,
    )  # fmt: skip
    yield table.delete(keys=keys, retries=1, batch_id="b2", replay_difference="refuse")
    yield table.delete(where=[(column, "=", "")])
    yield table.update(set={}, where=[(column, "=", "")], partitions=[partition])
    now = str(table.settled())
    yield from reads(table, now, column, partition)
    yield table.schedule_log_compaction(), table.run_log_compaction(instant=None), table.log_compact()
    yield table.schedule_compaction(), table.run_compaction(instant=None), table.compact()
    yield table.upsert(rows)
    yield table.cluster(sort_by=[column])
    yield table.savepoint(instant=None, comment="", user="")
    yield table.insert_overwrite(data=rows, partitions=[partition])
    yield table.restore(instant=None)
    yield table.delete_savepoint(instant=None)
    yield table.delete_partition(partitions=[partition])
    yield table.schedule_rollback(instant=None), table.run_rollback(instant=None), table.rollback(instant=None)
    yield table.alter_schema(schema=wider)
    yield table.clean(policy="KEEP_LATEST_COMMITS", retained=1)
    yield table.archive(retained=1)
    yield table.maintain(policy=MaintenancePolicy(), dry_run=True)
    yield table.resize(buckets=3), table.cancel_resize()
    yield table.convert(decision="shared"), table.convert(decision="lock", publication="ascending")
    yield table.index(type="RECORD_LEVEL_INDEX", inserts="updates_only")


def reads(table: Table, now: str, column: str, partition: str) -> Iterator[Any]:
    """Yield the answers of all reads at the completion time `now`."""
    columns, where, partitions = [column], [(column, "!=", "")], [partition]
    yield table.settled(), table.timeline(), table.consumers()
    yield table.snapshot(columns=columns, where=where, partitions=partitions)
    yield table.read_optimized(columns=columns, where=where, partitions=partitions)
    yield table.as_of(time=now, columns=columns, where=where, partitions=partitions)
    yield table.incremental(after=BEGINNING, until=now, columns=columns, where=where, partitions=partitions)
    yield table.changes(after=BEGINNING, until=now, columns=columns, where=where, partitions=partitions)
    yield table.replaced(after=BEGINNING, until=now)
    yield table.file_slices(as_of=now)
