"""The public class of a table: each method calls the operation of the same name."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from . import html
from .actions import operations
from .config import TableConfig
from .config.archive_policy import ArchivePolicy
from .config.concurrency import concurrency_mode as mode_of
from .config.coordination import is_shared
from .config.summary import headline, summary
from .context import Context
from .definition import load as definition
from .definition.creation import table_config
from .errors import BadInput, NbccError, Unsupported
from .files.slices import FileSlice
from .reads.times import Time
from .reads.windows import Replaced
from .schema.accepted import checked_zone
from .services.archiving import RETAINED
from .services.cleaning import PolicyName
from .services.consumers import progress_of_consumers
from .storage import TRANSIENT, open_storage
from .stream import StreamSink, sink_of
from .timeline import Instant, load
from .wiring import context_of, coordinated, with_hudi_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .definition.creation import Schema


class Table:
    """A Hudi table. With a session, rows are Spark DataFrames; without one (None), pyarrow Tables.

    A time is an `Instant` (its completion time), an instant string (17 digits, UTC) or an aware datetime. Every method
    raises an `NbccError` with what was asked, what exists and what to do. A failed operation publishes nothing.
    """

    def __init__(self, context: Context, config: TableConfig) -> None:
        self.context = context
        self.config = config

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
        """A new table in an empty or missing folder.

        `schema` is a pyarrow Schema, a StructType or DDL. `buckets`, the number of file groups in each partition,
        cannot change later. `table_type`: MERGE_ON_READ (non-blocking writers by default) or COPY_ON_WRITE (optimistic
        or SINGLE_WRITER). Key columns are string, int or bigint. A write refuses key values with both ':' and ','. In a
        composite key a write refuses values with either character, because Hudi's readers would split such keys
        differently. `options`: docs/options.md and docs/locks.md. `storage_options`: docs/storage-options.md.
        `session_time_zone`: the time zone of timestamps without one, in the schema and in Arrow batches of this Table.
        The time zone acts like spark.sql.session.timeZone, and is not stored. None refuses such timestamps.
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
        cls,
        spark: SparkSession | None,
        path: str | os.PathLike[str],
        storage_options: Mapping[str, Any] | None = None,
        concurrency_mode: str | None = None,
        session_time_zone: str | None = None,
    ) -> Table:
        """Open the Hudi table at `path`, of any engine. Hudi's rules apply to a table without nbcc's properties.

        `storage_options` and `session_time_zone` are as in `create`. `concurrency_mode` overrides the table's.
        """
        table = open_table(context_of(spark, open_storage(path, storage_options)))
        mode = table.config.concurrency_mode if concurrency_mode is None else mode_of(concurrency_mode)
        zone = checked_zone(session_time_zone, "open a table")
        table.config = replace(table.config, concurrency_mode=mode, session_time_zone=zone)
        return table

    def run(self, operation: str, /, **arguments: Any) -> Any:
        """Run any operation of `nbcc.engine.actions` by name."""
        known = operations()
        if operation not in known:
            raise BadInput(f"run {operation!r}", f"the operations are {', '.join(known)}", "name one of them")
        answer = known[operation].run(self.context, self.config, **arguments)
        if self.config.archive_policy and isinstance(answer, Instant) and answer.writes and answer.completed:
            self._archive_beyond(self.config.archive_policy)
        return answer

    def _archive_beyond(self, policy: ArchivePolicy) -> None:
        try:  # the write stands if this fails
            if sum(instant.writes for instant in load(self.context.storage).completed) > policy.most:
                self.run("archive", retained=policy.least)
        except (NbccError, *TRANSIENT) as refused:
            warnings.warn(f"the write is complete, but old instants were not archived: {refused}", stacklevel=4)

    def upsert(
        self,
        data: Any,
        *,
        retries: int = 0,
        reads: Collection[str] | None = None,
        based_on: Time | None = None,
        batch_id: str | None = None,
        replay_difference: str = "refuse",
        columns: Collection[str] | None = None,
    ) -> Instant:
        """Insert or update rows; a row with `_hoodie_is_deleted` true is deleted. An empty batch commits as well.

        An optimistic writer raises `Conflict` if a write to the same buckets has completed since it began. `retries`:
        the number of further attempts, each under a new instant. `based_on`: the time of the read from which the rows
        were computed. `reads`: the partitions that were read (default: all). A later write to these partitions is a
        conflict, too. `columns`: besides key, partition and ordering, the rows set only these (partial update).

        `batch_id`: a batch with this id commits at most once, whichever writer sends it again. A repeat is compared by
        a digest of its rows. The same rows return the committed instant; other rows raise `Conflict`, or with
        `replay_difference="keep"` a warning (for queries with `rand`, stream-static joins or sums of floats).
        """
        given = {"retries": retries, "reads": reads, "based_on": based_on, "batch_id": batch_id, "columns": columns}
        return cast("Instant", self.run("upsert", data=data, replay_difference=replay_difference, **given))

    def sink(self, name: str = "", *, query_id: str | None = None, replay_difference: str = "refuse") -> StreamSink:
        """A function for `foreachBatch` of a stream, which upserts each batch once.

        A batch is identified by its number and the id of its query, which is in the Spark checkpoint. `query_id`
        replaces that id; Spark Connect requires it, where the id is not readable. `name`: a label for messages.
        """
        return sink_of(self, name, query_id, replay_difference)

    def bulk_insert(self, data: Any) -> Instant:
        """Load rows: as base files into file groups without files, as log files into other groups.

        Raises `Conflict`, with nothing published, if another writer has filled such a group meanwhile.
        """
        return cast("Instant", self.run("bulk_insert", data=data))

    def insert_overwrite(self, data: Any, *, partitions: Collection[str] | None = None) -> Instant:
        """Replace all rows of the partitions in `data`, and of the `partitions` named by path, with `data`.

        Writes that completed in these partitions earlier are hidden. Pending writes that complete later remain visible.
        Raises `Conflict` while a compaction, or another replace, is pending there.
        """
        return cast("Instant", self.run("insert_overwrite", data=data, partitions=partitions))

    def delete_partition(self, partitions: Collection[str]) -> Instant:
        """Delete all rows of the partitions with these paths, like `insert_overwrite` with no rows."""
        return cast("Instant", self.run("delete_partition", partitions=partitions))

    def delete(
        self, keys: Any, *, retries: int = 0, batch_id: str | None = None, replay_difference: str = "refuse"
    ) -> Instant:
        """Delete the rows with these keys (record key, partition and ordering columns), unless they are newer.

        `retries`, `batch_id` and `replay_difference` are as in `upsert`.
        """
        batch = {"batch_id": batch_id, "replay_difference": replay_difference}
        return cast("Instant", self.run("delete", keys=keys, retries=retries, **batch))

    def alter_schema(self, schema: Schema) -> Instant | None:
        """Add nullable columns; drop, widen or reorder columns. None if the table has these columns already.

        Older files are read under the new columns; `as_of` returns the columns of its time. Raises `BadInput` for a
        change that older rows do not fit. A Table that was opened before continues with the old columns.
        """
        done = cast("Instant | None", self.run("alter_schema", schema=schema))
        self.config = definition.with_current_schema(self.context.storage, self.config)
        return done

    def schedule_compaction(self) -> Instant | None:
        """Plan the compaction of every file group that no pending plan covers; None if there is nothing to compact."""
        return cast("Instant | None", self.run("schedule_compaction"))

    def run_compaction(self, instant: Time | None = None) -> Instant | None:
        """Run a pending plan, by default the oldest; None if there is none."""
        return cast("Instant | None", self.run("run_compaction", instant=instant))

    def cluster(self, sort_by: Sequence[str]) -> Instant | None:
        """Compact, with base files sorted by these columns; None if there is nothing to compact."""
        return cast("Instant | None", self.run("cluster", sort_by=sort_by))

    def compact(self) -> Instant | None:
        """Schedule a compaction and run it, or run the oldest pending plan. Returns None if there is nothing to do."""
        return cast("Instant | None", self.run("compact"))

    def schedule_log_compaction(self) -> Instant | None:
        """Plan a log compaction, which replaces the logs of each slice by one; None if no slice has several logs."""
        return cast("Instant | None", self.run("schedule_log_compaction"))

    def run_log_compaction(self, instant: Time | None = None) -> Instant | None:
        """Run the pending plan of a log compaction, by default the oldest; None if there is none."""
        return cast("Instant | None", self.run("run_log_compaction", instant=instant))

    def log_compact(self) -> Instant | None:
        """Merge the logs of each slice into one log, without reading base files; None if there is nothing to merge."""
        return cast("Instant | None", self.run("log_compact"))

    def schedule_rollback(self, instant: Time | None = None) -> Instant | None:
        """Plan the rollback of the oldest failed write, or of the named one; None if no write has failed."""
        return cast("Instant | None", self.run("schedule_rollback", instant=instant))

    def run_rollback(self, instant: Time | None = None) -> Instant | None:
        """Run a planned rollback, by default the oldest; None if there is none."""
        return cast("Instant | None", self.run("run_rollback", instant=instant))

    def rollback(self, instant: Time | None = None) -> tuple[Instant, ...]:
        """Undo the failed writes (no heartbeat for two minutes), or only the named one."""
        return cast("tuple[Instant, ...]", self.run("rollback", instant=instant))

    def clean(self, policy: PolicyName = "KEEP_LATEST_COMMITS", retained: int = 10) -> Instant | None:
        """Delete the files that no read of the retained states needs. Later reads of older states raise `Cleaned`.

        `policy` and what it retains: KEEP_LATEST_COMMITS (newest writes), KEEP_LATEST_BY_HOURS (states of the last
        hours), KEEP_LATEST_FILE_VERSIONS (newest base files of each group). Returns None if there is nothing to delete.
        """
        return cast("Instant | None", self.run("clean", policy=policy, retained=retained))

    def savepoint(self, instant: Time | None = None, *, comment: str = "", user: str = "") -> Instant:
        """Pin the state after a completed instant, by default the newest: its files stay until `delete_savepoint`."""
        return cast("Instant", self.run("savepoint", instant=instant, comment=comment, user=user))

    def delete_savepoint(self, instant: Time | None = None) -> Instant:
        """Delete a savepoint, by default the oldest. A later clean deletes the files that only it pinned."""
        return cast("Instant", self.run("delete_savepoint", instant=instant))

    def restore(self, instant: Time | None = None) -> Instant | None:
        """Return to a savepoint, by default the newest: undo later completed instants, and pending ones."""
        return cast("Instant | None", self.run("restore", instant=instant))

    def archive(self, retained: int = RETAINED) -> tuple[Instant, ...]:
        """Move the oldest completed instants to the archive, so that listing the active timeline stays cheap.

        No read changes its result. The newest `retained` writes stay active. So do writes whose logs are not compacted,
        and all instants since the oldest pending instant or savepoint. Returns the archived instants.
        """
        return cast("tuple[Instant, ...]", self.run("archive", retained=retained))

    def snapshot(self, columns: Sequence[str] = ()) -> Any:
        """The rows as of `settled()`. `columns`: read and return only these (Spark cannot push a selection down)."""
        return self.run("snapshot", columns=columns)

    def read_optimized(self) -> Any:
        """The rows of each file group's newest base file: cheap to read, but as old as the last compaction."""
        return self.run("read_optimized")

    def as_of(self, time: Time) -> Any:
        """The rows as of a time on the completion axis. The answer never changes."""
        return self.run("as_of", time=time)

    def incremental(self, after: Time, until: Time | None = None) -> Any:
        """The merge of exactly the writes that completed in (after, until]; a delete has `_hoodie_is_deleted` true.

        For partial updates a key can have several records; `nbcc_set_columns` lists the columns that each sets.
        """
        return self.run("incremental", after=after, until=until)

    def replaced(self, after: Time, until: Time | None = None) -> tuple[Replaced, ...]:
        """The partitions that were replaced in (after, until], with the time before which older writes are hidden.

        A consumer that maintains a copy window by window drops the rows of such a partition before it merges the
        window. A copy as of a time between `requested` and `completed` must be rebuilt from a snapshot.
        """
        return cast("tuple[Replaced, ...]", self.run("replaced", after=after, until=until))

    def changes(self, after: Time, until: Time | None = None) -> Any:
        """The difference of the snapshots at `after` and `until`: op (i, u, d), completed, before, after."""
        return self.run("changes", after=after, until=until)

    def settled(self) -> str | None:
        """The newest completion time, where an open window ends; None before the first commit."""
        return cast("str | None", self.run("settled"))

    def consumers(self) -> dict[str, str]:
        """The named streams that follow the table, each with the completion time up to which it has processed all."""
        return dict(progress_of_consumers(self.context))

    def timeline(self) -> tuple[Instant, ...]:
        """All instants of the active timeline by requested time."""
        return cast("tuple[Instant, ...]", self.run("timeline"))

    def file_slices(self, as_of: Time | None = None) -> tuple[FileSlice, ...]:
        """All file slices by partition, file group and barrier, now or as of a time."""
        return cast("tuple[FileSlice, ...]", self.run("file_slices", as_of=as_of))

    def __repr__(self) -> str:
        return f"Table({self.config.name!r} at {self.context.storage.url})"

    def __str__(self) -> str:
        """``table orders: MERGE_ON_READ, EVENT_TIME_ORDERING by ts, partitioned by day``, without a look-up."""
        return headline(self.config)

    def _repr_html_(self) -> str:
        rows = [*summary(self.config).items(), ("at", self.context.storage.url)]
        return html.table(("table", self.config.name), rows)


def create_table(context: Context, config: TableConfig) -> Table:
    """Create a table in the storage of `context`; `BadInput` unless the storage is empty."""
    config = replace(config, shared_store=is_shared(context.storage.url))
    if config.weakness is not None:
        raise Unsupported(f"create a table at {context.storage.url}", *config.weakness)
    definition.create_table(context.storage, config)
    return Table(coordinated(context, config), config)


def open_table(context: Context) -> Table:
    """Open the table in the storage of `context`. A table of another engine is always read by Hudi's rules."""
    config = definition.open_table(context.storage)
    if config.notice is not None:
        warnings.warn(config.notice, stacklevel=3)
    if config.own:
        return Table(coordinated(context, config), config)
    return Table(with_hudi_rules(context, config), config)
