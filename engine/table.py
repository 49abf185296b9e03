"""The public class `Table`, whose methods call the operations of the same names."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from . import html
from .actions import operations
from .actions.maintain import ServiceStep
from .config import TableConfig
from .config.concurrency import concurrency_mode as mode_of
from .config.coordination import is_shared
from .config.maintenance import MaintenancePolicy
from .config.opening import DEFAULTS, OpenOptions, open_options
from .config.summary import headline, summary
from .context import Context
from .definition import load as definition
from .definition.creation import table_config
from .errors import BadInput, Unsupported
from .reads.times import Time
from .schema.accepted import checked_zone
from .services.archiving import RETAINED
from .services.cleaning import PolicyName
from .services.take_over import is_taken_over
from .storage import open_storage
from .stream import StreamSink, sink_of
from .table_reads import READS, TableReads
from .timeline import Instant
from .upkeep import keep_up
from .wiring import context_of, coordinated, taken_over, with_hudi_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .definition.creation import Schema


class Table(TableReads):
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
        partition_by: str | None = None,
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
        partition, which cannot be changed after the table is created. `table_type` is MERGE_ON_READ (non-blocking
        writers by default) or COPY_ON_WRITE (optimistic or SINGLE_WRITER). Key columns must have the type string, int
        or bigint. Writes reject key values that contain both ':' and ','. If the key has several columns, writes reject
        key values with ':' or ',', because Hudi's readers split keys at these characters. `options` is described in
        docs/options.md and docs/locks.md. `storage_options` is described in docs/storage-options.md.
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
        if self._opening.takes_over and operation not in READS and not arguments.get("dry_run"):
            self.take_over()
        answer = known[operation].run(self.context, self.config, **arguments)
        keep_up(self.run, self.context, self.config, operation, answer)
        return answer

    def take_over(self) -> None:
        """If the option nbcc.take.over is set, convert the Hudi table so that nbcc can write to it. The conversion
        removes Hudi's metadata table and records nbcc's properties. Every write calls `take_over` before it begins.
        """
        if self._opening.takes_over and not is_taken_over(definition.load_properties(self.context.storage)):
            self.context, self.config = taken_over(self.context, self.config, self._opening)

    def upsert(
        self, data: Any, *, retries: int = 0, reads: Collection[str] | None = None, based_on: Time | None = None,
        batch_id: str | None = None, replay_difference: str = "refuse", columns: Collection[str] | None = None,
    ) -> Instant:  # fmt: skip
        """Insert or update rows; a row with `_hoodie_is_deleted` true is deleted. An empty batch is also committed.

        An optimistic writer raises `Conflict` if a concurrent write to the same buckets completes first. `retries` is
        the number of further attempts after a `Conflict`, each under a new instant. `based_on` is the time of the table
        state from which the rows were computed. If the rows were computed from only some partitions, `reads` lists
        these partitions. If `based_on` is given, an optimistic writer also raises `Conflict` if another write to a
        partition in `reads` completed after `based_on`. `columns` lists the columns to set in addition to key,
        partition and ordering columns (partial update). `batch_id` identifies the batch: only one batch with a given id
        is committed, even if several writers submit it. If a repeated batch has the same digest as the committed batch,
        `upsert` returns the committed instant. If a repeated batch has a different digest, `upsert` raises `Conflict`,
        or only warns if `replay_difference` is "keep". Set `replay_difference` to "keep" for nondeterministic queries,
        such as queries with `rand`, stream-static joins or sums of floats.
        """
        given = {"retries": retries, "reads": reads, "based_on": based_on, "batch_id": batch_id, "columns": columns}
        return cast("Instant", self.run("upsert", data=data, replay_difference=replay_difference, **given))

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

    def bulk_insert(self, data: Any) -> Instant:
        """Write rows as base files into empty file groups, and as log files into all other file groups.

        Raises `Conflict` and publishes nothing if another write completes first in a file group that was empty when the
        bulk insert began.
        """
        return cast("Instant", self.run("bulk_insert", data=data))

    def insert_overwrite(self, data: Any, *, partitions: Collection[str] | None = None) -> Instant:
        """Replace whole partitions with the rows in `data`: the partitions that occur in `data`, and those whose paths
        are in `partitions`.

        The completed overwrite hides all rows of the replaced partitions that were committed before the overwrite was
        requested. Writes that were pending when the overwrite was requested become visible when they complete. Raises
        `Conflict` while a compaction or another replacing write of one of the partitions is pending.
        """
        return cast("Instant", self.run("insert_overwrite", data=data, partitions=partitions))

    def delete_partition(self, partitions: Collection[str]) -> Instant:
        """Delete all rows of the partitions with the paths `partitions`, like `insert_overwrite` with no rows."""
        return cast("Instant", self.run("delete_partition", partitions=partitions))

    def delete(
        self, keys: Any, *, retries: int = 0, batch_id: str | None = None, replay_difference: str = "refuse"
    ) -> Instant:
        """Delete the rows with the given `keys` (key, partition and ordering columns), except rows with a greater
        ordering value. `retries`, `batch_id` and `replay_difference` have the same meaning as in `upsert`.
        """
        batch = {"batch_id": batch_id, "replay_difference": replay_difference}
        return cast("Instant", self.run("delete", keys=keys, retries=retries, **batch))

    def alter_schema(self, schema: Schema) -> Instant | None:
        """Change the columns of the table to `schema`: add, drop, widen or reorder columns. Returns None if the schema
        of the table already equals `schema`.

        An added column is nullable. Rows in older files are converted to the new schema when they are read. A read with
        `as_of` returns the columns that the table had at the given time. Raises `BadInput` if existing rows do not fit
        the new schema. Another `Table` object that was opened before the call to `alter_schema` continues to use the
        old columns.
        """
        done = cast("Instant | None", self.run("alter_schema", schema=schema))
        self.config = definition.with_current_schema(self.context.storage, self.config)
        return done

    def schedule_compaction(self) -> Instant | None:
        """Plan the compaction of all file groups that have no pending compaction plan. Returns None if there is nothing
        to compact.
        """
        return cast("Instant | None", self.run("schedule_compaction"))

    def run_compaction(self, instant: Time | None = None) -> Instant | None:
        """Run a pending compaction plan, by default the oldest. Returns None if no plan is pending."""
        return cast("Instant | None", self.run("run_compaction", instant=instant))

    def cluster(self, sort_by: Sequence[str]) -> Instant | None:
        """Compact the table into base files sorted by the columns `sort_by`. Returns None if there is nothing to
        compact.
        """
        return cast("Instant | None", self.run("cluster", sort_by=sort_by))

    def compact(self) -> Instant | None:
        """Plan and run a compaction, or run the oldest pending plan. Returns None if there is nothing to compact."""
        return cast("Instant | None", self.run("compact"))

    def schedule_log_compaction(self) -> Instant | None:
        """Plan a log compaction, which merges the logs of each slice into one log. Returns None if no slice has several
        logs.
        """
        return cast("Instant | None", self.run("schedule_log_compaction"))

    def run_log_compaction(self, instant: Time | None = None) -> Instant | None:
        """Run a pending log compaction plan, by default the oldest plan. Returns None if no plan is pending."""
        return cast("Instant | None", self.run("run_log_compaction", instant=instant))

    def log_compact(self) -> Instant | None:
        """Merge the logs of each slice into one log, without rewriting base files. Returns None if no slice has several
        logs.
        """
        return cast("Instant | None", self.run("log_compact"))

    def schedule_rollback(self, instant: Time | None = None) -> Instant | None:
        """Plan the rollback of the oldest failed write, or of the write `instant`. Returns None if no write has failed.
        """
        return cast("Instant | None", self.run("schedule_rollback", instant=instant))

    def run_rollback(self, instant: Time | None = None) -> Instant | None:
        """Run a pending rollback plan, by default the oldest. Returns None if no rollback is pending."""
        return cast("Instant | None", self.run("run_rollback", instant=instant))

    def rollback(self, instant: Time | None = None) -> tuple[Instant, ...]:
        """Undo all writes with expired heartbeats, or only the write `instant`. By default a heartbeat expires two
        minutes after its last renewal.
        """
        return cast("tuple[Instant, ...]", self.run("rollback", instant=instant))

    def clean(self, policy: PolicyName = "KEEP_LATEST_COMMITS", retained: int = 10) -> Instant | None:
        """Delete the files that no read of a retained table state needs. Reads of table states that are no longer
        retained raise `Cleaned`.

        The policy KEEP_LATEST_COMMITS retains the table states after the newest `retained` writes. KEEP_LATEST_BY_HOURS
        retains the table states of the last `retained` hours. KEEP_LATEST_FILE_VERSIONS retains the newest `retained`
        base files of each file group. Returns None if there is nothing to delete.
        """
        return cast("Instant | None", self.run("clean", policy=policy, retained=retained))

    def savepoint(self, instant: Time | None = None, *, comment: str = "", user: str = "") -> Instant:
        """Create a savepoint of a completed instant (default: the newest), so that cleans retain the files of the
        table's state at that instant.
        """
        return cast("Instant", self.run("savepoint", instant=instant, comment=comment, user=user))

    def delete_savepoint(self, instant: Time | None = None) -> Instant:
        """Delete a savepoint, by default the oldest. After the deletion, cleans may delete files that only the deleted
        savepoint retained.
        """
        return cast("Instant", self.run("delete_savepoint", instant=instant))

    def restore(self, instant: Time | None = None) -> Instant | None:
        """Undo all pending instants, and all instants that completed after a savepoint (default: the newest savepoint).
        """
        return cast("Instant | None", self.run("restore", instant=instant))

    def archive(self, retained: int = RETAINED) -> tuple[Instant, ...]:
        """Move the oldest completed instants to the archive, so that listing the active timeline stays fast.

        Archiving changes no query result. The newest `retained` writes, writes with uncompacted logs, and all instants
        since the oldest pending instant or savepoint remain on the active timeline. Returns the archived instants.
        """
        return cast("tuple[Instant, ...]", self.run("archive", retained=retained))

    def maintain(self, policy: MaintenancePolicy | None = None, *, dry_run: bool = False) -> tuple[ServiceStep, ...]:
        """Run all table services that are due: rollback, compaction, clean, archiving and the deletion of leftover
        files.

        Returns a `ServiceStep` for each action, and a final step with the numbers of instants, writes and logs.
        `step.record()` can be written as JSON. Several processes may run `maintain` at the same time. If `dry_run` is
        True, `maintain` changes nothing. The command `nbcc serve TABLE` calls `maintain` repeatedly.
        """
        return cast("tuple[ServiceStep, ...]", self.run("maintain", policy=policy, dry_run=dry_run))

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
