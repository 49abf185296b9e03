"""Defines `TableConfig`, the properties of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import pyarrow as pa

from ..errors import Unsupported
from ..rules import HUDI, NBCC, Rules
from ..schema import avro_json
from .archive_policy import ArchivePolicy
from .concurrency import NON_BLOCKING, OPTIMISTIC, ConcurrencyMode
from .coordination import (
    ALONE,
    DECISION_LOG,
    FREE_DECISIONS,
    HEARTBEATS,
    PARALLEL_PUBLICATION,
    SHARED_DECISIONS,
    UNLOCKED_REQUESTS,
    Coordination,
)
from .coordination import weakness as weakness_of
from .options import FUNCTION
from .record_index import INDEXED, RecordIndex

MergeMode = Literal["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]
TableType = Literal["MERGE_ON_READ", "COPY_ON_WRITE"]
LogFormat = Literal["parquet", "avro"]

MAX_LOG_BYTES: Final = 1 << 30
CONSUMER_HOURS: Final = 7 * 24

WRITER_FEATURES: Final = frozenset({"fixed-buckets", "kept-tombstones"})
"""What a writer must support: numbered buckets as file groups; compactions that keep deletes in a log of their own."""

FOUND_FILE_IDS: Final = "found-file-ids"
"""What a writer must support where Hudi named file groups: it takes the file id of a bucket from the files."""

RESIZED: Final = "resized-buckets"
"""What readers and writers must support after a resize was planned: file groups whose ids state their generation, and
the copies of late logs. A writer looks under the lock whether its keys have other file groups.
"""

KNOWN_FEATURES: Final = WRITER_FEATURES | {
    RESIZED, INDEXED, DECISION_LOG, FOUND_FILE_IDS, HEARTBEATS, SHARED_DECISIONS, FREE_DECISIONS, UNLOCKED_REQUESTS,
    PARALLEL_PUBLICATION,
}  # fmt: skip


class SchemaVersion(NamedTuple):
    """A schema and the time from which the schema applies ('' means from the creation of the table)."""

    since: str
    schema: pa.Schema


@dataclass(frozen=True, slots=True)
class TableConfig:
    """The properties of a table.

    `schema` contains the columns of the table, without Hudi's meta columns.
    `ordering` is the name of the ordering column. If `ordering` is None, each write outranks all earlier writes.
    `buckets` is the number of file groups in each partition, before the first resize. None means that the number of
        buckets is unknown, as in tables of other engines.
    `own` is True if the table has the properties of an nbcc table.
    `writer_features` are the table features that a writer must support.
    `metadata_table` contains the partition names of Hudi's metadata table, or is empty if no metadata table is active.
    `concurrency_mode` is the default concurrency mode of the table's writers.
    `max_log_bytes` is the number of bytes after which a writer starts a new log file with the next log version.
    `write_tasks` is the number of Spark tasks of an upsert into an unpartitioned table. A value of `write_tasks` less
        than twice `buckets` has no effect.
    `coordination` contains the lock, clock and heartbeat options of the table's writers.
    `schemas` is the schema history of an nbcc table, oldest first, or empty if the schema never changed.
    `merge_function` is the user function (`package.module:function`) that merges two rows with the same key. If
        `merge_function` is empty, `merge_mode` determines which row wins.
    `allowed_function` is the merge function that the caller allows nbcc to import and call. The name in a table's
        properties alone does not allow it, because the table may be a stranger's.
    `archive_policy` contains the limits above which a writer archives old instants after a write. If `archive_policy`
        is None, writers never archive.
    `partial_update` is True if a write may set only some columns, so that rows are merged column by column.
    `consumer_hours` is the number of hours for which cleans keep the files that a lagging named consumer still needs.
    `session_time_zone` is the time zone assumed for Arrow timestamps without a time zone. If `session_time_zone` is
        None, such timestamps are rejected.
    `record_index` is the record index of the table; None if any write may insert any key.
    `shared_store` is True if several machines can access the table, so that the lock must work across machines.
    """

    name: str
    schema: pa.Schema
    record_key: tuple[str, ...]
    ordering: str | None = None
    partition_by: tuple[str, ...] = ()
    buckets: int | None = None
    merge_mode: MergeMode = "EVENT_TIME_ORDERING"
    table_type: TableType = "MERGE_ON_READ"
    concurrency_mode: ConcurrencyMode = NON_BLOCKING
    version: int = 9
    hive_style: bool = True
    own: bool = True
    writer_features: frozenset[str] = WRITER_FEATURES
    metadata_table: tuple[str, ...] = ()
    log_format: LogFormat = "parquet"
    max_log_bytes: int = MAX_LOG_BYTES
    write_tasks: int = 1
    coordination: Coordination = ALONE
    schemas: tuple[SchemaVersion, ...] = ()
    partial_update: bool = False
    merge_function: str = ""
    allowed_function: str = ""
    archive_policy: ArchivePolicy | None = None
    consumer_hours: int = CONSUMER_HOURS
    record_index: RecordIndex | None = None
    shared_store: bool = False
    session_time_zone: str | None = None

    @property
    def rules(self) -> Rules:
        """The rules by which the table is read: nbcc's rules for an nbcc table, otherwise Hudi's rules."""
        return NBCC if self.own else HUDI

    def check_function(self) -> None:
        """Raise `Unsupported` if rows are merged by a function that the caller does not allow."""
        if self.merge_function and self.merge_function != self.allowed_function:
            named = f"the Python function {self.merge_function[:200]!r}, which nbcc would import and call"
            remedy = f"if you trust that function, name it in the option {FUNCTION} when you open the table"
            raise Unsupported(f"merge rows of the table {self.name}", f"they are merged by {named}", remedy)

    @property
    def merge_on_read(self) -> bool:
        return self.table_type == "MERGE_ON_READ"

    @property
    def tasks_per_group(self) -> int:
        """The number of Spark tasks that share the rows of one file group in an upsert."""
        return max(1, self.write_tasks // (self.buckets or 1)) if not self.partition_by else 1

    @property
    def always_set(self) -> tuple[str, ...]:
        """The columns that every write sets: key, partition and ordering columns."""
        return (*self.record_key, *self.partition_by, *([self.ordering] if self.ordering else []))

    @property
    def avro_schema(self) -> str:
        """The Avro schema of the table as JSON, which every commit contains as ``schema``."""
        return avro_json(self.schema, self.name)

    @property
    def log_schema(self) -> str:
        """The Avro schema of the records in log files as JSON, including Hudi's meta columns."""
        return avro_json(self.schema, self.name, meta=True)

    @property
    def notice(self) -> str | None:
        """A one-line warning for readers about an active metadata table, or None."""
        if not self.metadata_table:
            return None
        listed = ", ".join(self.metadata_table)
        return f"nbcc: {self.name} has a metadata table ({listed}): files are listed instead, and writes are refused"

    @property
    def weakness(self) -> tuple[str, str] | None:
        """Why the coordination options are unsafe for writers on several machines, and how to change the options; None
        if they are safe.
        """
        return weakness_of(self.coordination, self.concurrency_mode) if self.shared_store else None

    def check_writable(self) -> None:
        """Raise `Unsupported` if a write by nbcc would be lost or would damage the table for other engines."""
        if self.metadata_table:
            exists = f"its metadata table ({', '.join(self.metadata_table)}) is active and would hide our commits"
            remedy = "set nbcc.take.over=true, with which nbcc removes it and Hudi builds it again, or write with Hudi"
        elif not self.own or self.buckets is None:
            exists = "it was not created by nbcc, and how many buckets its writers use is recorded nowhere"
            remedy = (
                "copy it (nbcc table PATH copy DEST, Table.copy) or, if it has a bucket index, set nbcc.take.over=true"
                " in the options of Table.open or of a Spark write"
            )
        elif not self.merge_on_read and self.concurrency_mode == NON_BLOCKING:
            exists = "it is COPY_ON_WRITE, and writers that never wait for each other need log files"
            remedy = f"open it with concurrency_mode={OPTIMISTIC!r}"
        elif unknown := sorted(self.writer_features - KNOWN_FEATURES):
            exists = f"its writers must know the features {', '.join(unknown)}"
            remedy = "use a release of nbcc that knows them"
        elif weak := self.weakness:
            exists, remedy = weak
        else:
            return
        raise Unsupported(f"write to the table {self.name}", exists, remedy)
