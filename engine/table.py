"""The public class of a table: each method calls the operation of the same name."""

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
    """A Hudi table, whose rows are Spark DataFrames with a Spark session, and pyarrow Tables without a session.

    A time is an `Instant` (its completion time), an instant string (17 digits, UTC) or an aware datetime. A failed
    method publishes nothing and raises an `NbccError`, which states the request, the present state and the remedy.
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

        `schema` is a pyarrow Schema, a StructType or DDL. `buckets`, the number of file groups in each partition,
        cannot change later. `table_type` is MERGE_ON_READ (non-blocking writers by default) or COPY_ON_WRITE
        (optimistic or SINGLE_WRITER). Key columns are string, int or bigint. A write refuses key values with both ':'
        and ','. If the key has several columns, a write refuses key values with ':' or ',', at which Hudi's readers
        split keys. docs/options.md and docs/locks.md describe `options`. docs/storage-options.md describes
        `storage_options`. `session_time_zone` applies to timestamps without a time zone in the schema and in Arrow
        batches of this Table. `session_time_zone` acts like spark.sql.session.timeZone, and is not stored. If
        `session_time_zone` is None, timestamps without a zone are refused.
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
        """Open the Hudi table of any engine at `path`. Hudi's rules apply to a table without nbcc's properties.

        `storage_options` and `session_time_zone` are as in `create`. `concurrency_mode` overrides the stored mode.
        docs/options.md, "Tables of Hudi", describes `options`.
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
        """Make the table writable if the option nbcc.take.over is set: remove its metadata table, and record nbcc's
        properties. Every write calls this method first.
        """
        if self._opening.takes_over and not is_taken_over(definition.load_properties(self.context.storage)):
            self.context, self.config = taken_over(self.context, self.config, self._opening)

    def upsert(
        self, data: Any, *, retries: int = 0, reads: Collection[str] | None = None, based_on: Time | None = None,
        batch_id: str | None = None, replay_difference: str = "refuse", columns: Collection[str] | None = None,
    ) -> Instant:  # fmt: skip
        """Insert or update rows; a row with `_hoodie_is_deleted` true is deleted. An empty batch commits too.

        An optimistic writer raises `Conflict` if a write to the same buckets has completed since the writer began.
        `retries` is the number of further attempts after a `Conflict`, each under a new instant. `based_on` is the time
        of the read from which the rows were computed. `reads` contains the partitions from which the rows were computed
        (default: all). A write to one of the partitions in `reads` that completes after `based_on` is a conflict, too.
        `columns` contains the only columns, besides key, partition and ordering, that the rows set (partial update).
        `batch_id` is the id of the batch. Only one batch with this id commits, even if several writers send the batch.
        If a repeated batch has the digest of the committed batch, the method returns the committed instant. If the
        digests differ, the method raises `Conflict`, or issues a warning with `replay_difference="keep"` (for queries
        with `rand`, stream-static joins or sums of floats).
        """
        given = {"retries": retries, "reads": reads, "based_on": based_on, "batch_id": batch_id, "columns": columns}
        return cast("Instant", self.run("upsert", data=data, replay_difference=replay_difference, **given))

    def sink(
        self, name: str = "", *, query_id: str | None = None, replay_difference: str = "refuse",
        columns: Collection[str] | None = None, maintenance: MaintenancePolicy | None = None,
    ) -> StreamSink:  # fmt: skip
        """Return a function for `foreachBatch` of a stream, which upserts each batch once.

        A batch is identified by its number and by the query id in the Spark checkpoint. `query_id` replaces the id in
        the checkpoint; Spark Connect requires `query_id`. `name` is a label for messages. `columns` is as in `upsert`.
        `maintenance` states the services that run after each batch (see `maintain`), by default none.
        """
        return sink_of(self, name, query_id, replay_difference, columns, maintenance)

    def bulk_insert(self, data: Any) -> Instant:
        """Write rows as base files into file groups without files, and as log files into all other file groups.

        Raises `Conflict`, and publishes nothing, if another writer meanwhile fills a file group that was empty.
        """
        return cast("Instant", self.run("bulk_insert", data=data))

    def insert_overwrite(self, data: Any, *, partitions: Collection[str] | None = None) -> Instant:
        """Replace all rows of the partitions in `data`, and of the `partitions` named by path, with `data`.

        Writes that completed in the partitions before the replace are hidden. Pending writes that complete after the
        replace remain visible. Raises `Conflict` while a compaction or another replace of a partition is pending.
        """
        return cast("Instant", self.run("insert_overwrite", data=data, partitions=partitions))

    def delete_partition(self, partitions: Collection[str]) -> Instant:
        """Delete all rows of the partitions with these paths, like `insert_overwrite` with no rows."""
        return cast("Instant", self.run("delete_partition", partitions=partitions))

    def delete(
        self, keys: Any, *, retries: int = 0, batch_id: str | None = None, replay_difference: str = "refuse"
    ) -> Instant:
        """Delete the rows with the given `keys` (key, partition and ordering columns), except rows that outrank the
        delete. The other arguments are as in `upsert`.
        """
        batch = {"batch_id": batch_id, "replay_difference": replay_difference}
        return cast("Instant", self.run("delete", keys=keys, retries=retries, **batch))

    def alter_schema(self, schema: Schema) -> Instant | None:
        """Add, drop, widen or reorder columns. Returns None if the table already has these columns.

        An added column is nullable. Older files are read under the new columns; `as_of` returns the columns of its
        time. Raises `BadInput` if existing rows do not fit the new columns. A Table opened before the change uses the
        old columns.
        """
        done = cast("Instant | None", self.run("alter_schema", schema=schema))
        self.config = definition.with_current_schema(self.context.storage, self.config)
        return done

    def schedule_compaction(self) -> Instant | None:
        """Plan the compaction of file groups without a pending plan. Returns None if there is nothing to compact."""
        return cast("Instant | None", self.run("schedule_compaction"))

    def run_compaction(self, instant: Time | None = None) -> Instant | None:
        """Run a pending compaction plan, by default the oldest. Returns None if no plan is pending."""
        return cast("Instant | None", self.run("run_compaction", instant=instant))

    def cluster(self, sort_by: Sequence[str]) -> Instant | None:
        """Compact into base files sorted by the given columns. Returns None if there is nothing to compact."""
        return cast("Instant | None", self.run("cluster", sort_by=sort_by))

    def compact(self) -> Instant | None:
        """Plan and run a compaction, or run the oldest pending plan. Returns None if there is nothing to compact."""
        return cast("Instant | None", self.run("compact"))

    def schedule_log_compaction(self) -> Instant | None:
        """Plan to merge the logs of each slice into one log. Returns None if no slice has several logs."""
        return cast("Instant | None", self.run("schedule_log_compaction"))

    def run_log_compaction(self, instant: Time | None = None) -> Instant | None:
        """Run a pending plan of a log compaction, by default the oldest plan. Returns None if no plan is pending."""
        return cast("Instant | None", self.run("run_log_compaction", instant=instant))

    def log_compact(self) -> Instant | None:
        """Merge the logs of each slice into one log without base files. Returns None if no slice has several logs."""
        return cast("Instant | None", self.run("log_compact"))

    def schedule_rollback(self, instant: Time | None = None) -> Instant | None:
        """Plan the rollback of the oldest failed write, or of the named write. Returns None if no write has failed."""
        return cast("Instant | None", self.run("schedule_rollback", instant=instant))

    def run_rollback(self, instant: Time | None = None) -> Instant | None:
        """Run a planned rollback, by default the oldest. Returns None if no rollback is planned."""
        return cast("Instant | None", self.run("run_rollback", instant=instant))

    def rollback(self, instant: Time | None = None) -> tuple[Instant, ...]:
        """Undo the writes whose writers have renewed no heartbeat for two minutes, or only the named write."""
        return cast("tuple[Instant, ...]", self.run("rollback", instant=instant))

    def clean(self, policy: PolicyName = "KEEP_LATEST_COMMITS", retained: int = 10) -> Instant | None:
        """Delete the files that no read of the retained states needs. Reads of deleted states raise `Cleaned`.

        `policy` is KEEP_LATEST_COMMITS (retains the newest writes), KEEP_LATEST_BY_HOURS (the states of the last hours)
        or KEEP_LATEST_FILE_VERSIONS (the newest base files of each group). Returns None if there is nothing to delete.
        """
        return cast("Instant | None", self.run("clean", policy=policy, retained=retained))

    def savepoint(self, instant: Time | None = None, *, comment: str = "", user: str = "") -> Instant:
        """Pin the state after a completed instant (default: the newest): cleans retain its files."""
        return cast("Instant", self.run("savepoint", instant=instant, comment=comment, user=user))

    def delete_savepoint(self, instant: Time | None = None) -> Instant:
        """Delete a savepoint, by default the oldest. A clean may then delete the files that only this savepoint pinned.
        """
        return cast("Instant", self.run("delete_savepoint", instant=instant))

    def restore(self, instant: Time | None = None) -> Instant | None:
        """Undo all pending instants, and the instants completed after a savepoint (default: the newest)."""
        return cast("Instant | None", self.run("restore", instant=instant))

    def archive(self, retained: int = RETAINED) -> tuple[Instant, ...]:
        """Move the oldest completed instants to the archive, so that listing the active timeline stays cheap.

        No read changes its result. The newest `retained` writes stay active. Writes with uncompacted logs, and all
        instants since the oldest pending instant or savepoint, stay active too. Returns the archived instants.
        """
        return cast("tuple[Instant, ...]", self.run("archive", retained=retained))

    def maintain(self, policy: MaintenancePolicy | None = None, *, dry_run: bool = False) -> tuple[ServiceStep, ...]:
        """Run the services that are due: one pass over rollback, compaction, clean, archive and leftovers.

        Returns a step for each action, and a measurement; `step.record()` can be written as JSON. Several processes may
        run `maintain` at the same time. With `dry_run` nothing changes. `nbcc serve TABLE` repeats this method.
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
    """Create a table in the storage of `context`; raises `BadInput` unless the storage is empty."""
    config = replace(config, shared_store=is_shared(context.storage.url))
    if config.weakness is not None:
        raise Unsupported(f"create a table at {context.storage.url}", *config.weakness)
    definition.create_table(context.storage, config)
    return Table(coordinated(context, config), config)


def open_table(context: Context, options: OpenOptions = DEFAULTS) -> Table:
    """Open the table in the storage of `context`. A table of another engine is always read by Hudi's rules."""
    config = definition.open_table(context.storage)
    options.check(config)
    if config.notice is not None and options == DEFAULTS:
        warnings.warn(config.notice, stacklevel=3)
    if config.own:
        return Table(coordinated(context, config), config, options)
    return Table(with_hudi_rules(context, config, options.listing), config, options)
