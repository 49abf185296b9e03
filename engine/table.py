"""The public class `Table`, whose methods call the operations of the same names."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import html

from .actions import (  # isort: skip
    alter_schema, archive, bulk_insert, cancel_resize, clean, cluster, compact, convert, delete, delete_partition,
    delete_savepoint, index, insert_overwrite, log_compact, maintain, operations, resize, restore, rollback,
    run_compaction, run_log_compaction, run_rollback, savepoint, schedule_compaction, schedule_log_compaction,
    schedule_rollback, update, upsert,
)
from .clock import WallClock
from .config import TableConfig
from .config.concurrency import concurrency_mode as mode_of
from .config.coordination import is_shared
from .config.maintenance import MaintenancePolicy
from .config.opening import DEFAULTS, OpenOptions, open_options
from .config.summary import headline, summary
from .context import Context
from .copying.copy import copy_opened
from .definition import load as definition
from .definition.creation import table_config
from .errors import BadInput, Unsupported
from .lock.providers import UnresolvedLock
from .methods import perform, writes
from .schema.accepted import checked_zone
from .services.take_over import is_taken_over
from .storage import open_storage
from .stream import StreamSink, sink_of
from .table_dml import TableDml
from .table_reads import TableReads
from .wiring import context_of, coordinated, taken_over, with_hudi_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .definition.creation import Schema


def _read_columns_again(table: Table) -> None:
    table.config = definition.with_current_schema(table.context.storage, table.config)


def _read_features_again(table: Table) -> None:
    features = definition.open_table(table.context.storage).writer_features
    table.config = replace(table.config, writer_features=features)


def _read_index_again(table: Table) -> None:
    agreed = definition.open_table(table.context.storage)
    table.config = replace(table.config, record_index=agreed.record_index, writer_features=agreed.writer_features)


def _coordinate_again(table: Table) -> None:
    agreed = definition.open_table(table.context.storage)
    table.config = replace(table.config, coordination=agreed.coordination, writer_features=agreed.writer_features)
    table.context = coordinated(replace(table.context, lock=UnresolvedLock(), clock=WallClock()), table.config)


class Table(TableDml):
    """A Hudi table. Methods accept and return rows as Spark DataFrames if a Spark session is given, and as pyarrow
    Tables otherwise.

    Methods accept a time as an `Instant` (its completion time), an instant string (17 digits, UTC) or a timezone-aware
    datetime. A failed method publishes nothing and raises an `NbccError`. The error message states what was requested,
    why it failed, and what to do.
    """

    def __init__(self, context: Context, config: TableConfig, opening: OpenOptions = DEFAULTS) -> None:
        self.context = context
        self.config = config
        self._opening = opening

    @classmethod
    def create(
        cls,
        spark: SparkSession | None,
        path: str | os.PathLike[str],
        schema: Schema,
        *,
        record_key: str | Sequence[str],
        ordering_fields: str | Sequence[str] | None = None,
        partition_by: str | Sequence[str] | None = None,
        buckets: int = 4,
        merge_mode: str = "EVENT_TIME_ORDERING",
        table_type: str = "MERGE_ON_READ",
        concurrency_mode: str | None = None,
        options: Mapping[str, str] | None = None,
        storage_options: Mapping[str, Any] | None = None,
        session_time_zone: str | None = None,
    ) -> Table:
        """Create a table in an empty or missing folder.

        `schema` is a pyarrow Schema, a StructType or a DDL string. `buckets` is the number of file groups in each
        partition, which `resize` can change later. `table_type` is MERGE_ON_READ (non-blocking
        writers by default) or COPY_ON_WRITE (optimistic or SINGLE_WRITER). Key columns must have the type string, int
        or bigint. Writes reject key values that contain both ':' and ','. If the key has several columns, writes reject
        key values with ':' or ',', because Hudi's readers split keys at these characters. `options` is described in
        docs/options.md and docs/locks.md, `storage_options` in docs/options.md under "Object stores".
        `session_time_zone` is the time zone of timestamps without a time zone, in `schema` and in Arrow batches written
        through this `Table`. `session_time_zone` applies only to the returned `Table` object, and is not stored in the
        table. If `session_time_zone` is None, timestamps without a time zone are rejected.
        """
        storage = open_storage(path, storage_options)
        name = os.path.basename(os.fspath(path).rstrip("/\\"))
        config = table_config(
            name,
            schema,
            record_key=record_key,
            ordering_fields=ordering_fields,
            partition_by=partition_by,
            buckets=buckets,
            merge_mode=merge_mode,
            table_type=table_type,
            concurrency_mode=concurrency_mode,
            options=options or {},
            session_time_zone=session_time_zone,
        )
        return create_table(context_of(spark, storage), config)

    @classmethod
    def open(
        cls, spark: SparkSession | None, path: str | os.PathLike[str], storage_options: Mapping[str, Any] | None = None,
        concurrency_mode: str | None = None, session_time_zone: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Table:  # fmt: skip
        """Open the Hudi table at `path`, written by nbcc or by another engine. A table that nbcc neither created nor
        took over is read according to Hudi's rules.

        `storage_options` and `session_time_zone` have the same meaning as in `create`. `concurrency_mode` overrides the
        concurrency mode stored in the table. `options` is described in docs/options.md under "Tables of Hudi".
        """
        table = open_table(context_of(spark, open_storage(path, storage_options)), open_options(options))
        mode = table.config.concurrency_mode if concurrency_mode is None else mode_of(concurrency_mode)
        zone = checked_zone(session_time_zone, "open a table")
        table.config = replace(table.config, concurrency_mode=mode, session_time_zone=zone)
        return table

    def run(self, operation: str, /, **arguments: Any) -> Any:
        """Run any operation of `nbcc.engine.actions` by name."""
        known = operations()
        if operation not in known:
            raise BadInput(f"run {operation!r}", f"the operations are {', '.join(known)}", "name one of them")
        if operation in vars(TableReads):
            return getattr(self, operation)(**arguments)
        return perform(self, known[operation], **arguments)

    def copy(
        self, destination: str | os.PathLike[str], *, buckets: int = 4, options: Mapping[str, str] | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Table:  # fmt: skip
        """Copy the newest state of this table, of any index, to a new table with `buckets` file groups in each
        partition, and return it, opened without Spark. The rows are read and written in this process.

        The rows of both tables are counted and their digests compared; `Conflict` is raised if they differ. A repeated
        call continues an interrupted copy. `options` are those of `create`. Tables that cannot be opened, such as those
        of table version 6, are copied by `nbcc.copy_table` with hudi-rs.
        """
        copy_opened(self.context, self.config, open_storage(destination, storage_options), buckets, options or {})
        return Table.open(None, destination, storage_options)

    def take_over(self) -> None:
        """If the option nbcc.take.over is set, convert the Hudi table so that nbcc can write to it. The conversion
        removes Hudi's metadata table and records nbcc's properties. Every write calls `take_over` before it begins.
        """
        if self._opening.takes_over and not is_taken_over(definition.load_properties(self.context.storage)):
            self.context, self.config = taken_over(self.context, self.config, self._opening)

    upsert = writes(upsert)
    bulk_insert = writes(bulk_insert)
    insert_overwrite = writes(insert_overwrite)
    delete_partition = writes(delete_partition)
    delete = writes(delete)
    update = writes(update)
    alter_schema = writes(alter_schema, then=_read_columns_again)
    convert = writes(convert, then=_coordinate_again)
    resize = writes(resize, then=_read_features_again)
    cancel_resize = writes(cancel_resize)
    index = writes(index, then=_read_index_again)

    def sink(
        self, name: str = "", *, query_id: str | None = None, replay_difference: str = "refuse",
        columns: Collection[str] | None = None, maintenance: MaintenancePolicy | None = None,
    ) -> StreamSink:  # fmt: skip
        """Return a function for `foreachBatch` that upserts each batch of a stream exactly once.

        A batch is identified by its number and by the query id in the Spark checkpoint. If `query_id` is
        given, it is used instead; Spark Connect requires `query_id`. `name` identifies the stream in error messages.
        `columns` has the same meaning as in `upsert`. `maintenance` selects the table services that run after each
        batch (see `maintain`; default: none).
        """
        return sink_of(self, name, query_id, replay_difference, columns, maintenance)

    schedule_compaction = writes(schedule_compaction)
    run_compaction = writes(run_compaction)
    compact = writes(compact)
    cluster = writes(cluster)
    schedule_log_compaction = writes(schedule_log_compaction)
    run_log_compaction = writes(run_log_compaction)
    log_compact = writes(log_compact)
    schedule_rollback = writes(schedule_rollback)
    run_rollback = writes(run_rollback)
    rollback = writes(rollback)
    clean = writes(clean)
    savepoint = writes(savepoint)
    delete_savepoint = writes(delete_savepoint)
    restore = writes(restore)
    archive = writes(archive)
    maintain = writes(maintain)

    def __repr__(self) -> str:
        return f"Table({self.config.name!r} at {self.context.storage.url})"

    def __str__(self) -> str:  # such as "table orders: MERGE_ON_READ, EVENT_TIME_ORDERING by ts, partitioned by day"
        return headline(self.config)

    def _repr_html_(self) -> str:
        rows = [*summary(self.config).items(), ("at", self.context.storage.url)]
        return html.table(("table", self.config.name), rows)


def create_table(context: Context, config: TableConfig) -> Table:
    """Create a table in the storage of `context`. Raises `BadInput` unless the storage is empty."""
    config = replace(config, shared_store=is_shared(context.storage.url))
    if config.weakness is not None:
        raise Unsupported(f"create a table at {context.storage.url}", *config.weakness)
    definition.create_table(context.storage, config)
    return Table(coordinated(context, config), config)


def open_table(context: Context, options: OpenOptions = DEFAULTS) -> Table:
    """Open the table in the storage of `context`. A table that nbcc neither created nor took over is read according to
    Hudi's rules.
    """
    config = definition.open_table(context.storage)
    options.check(config)
    config = replace(config, allowed_function=options.function)
    if config.notice is not None and options == DEFAULTS:
        warnings.warn(config.notice, stacklevel=3)
    if config.own:
        return Table(coordinated(context, config), config, options)
    return Table(with_hudi_rules(context, config, options.listing), config, options)
