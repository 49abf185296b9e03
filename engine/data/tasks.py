"""Data classes for the tasks that read, merge and write data files, in this process or in a Spark executor.

Paths are relative to the table's root; instants are strings of 17 digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import pyarrow as pa

from ..files.record_index import KnownKeys
from ..limits import Limits, limits
from ..parquet import FEW_VALUES
from ..schema import with_meta
from .columns import COMMIT_TIME, IS_DELETED, META, PARTITION_PATH, RECORD_KEY, SET_COLUMNS
from .digest import Digest
from .index_tasks import HomeTask, IndexTask
from .keys import KeySpec
from .layers import MergeRule, delete_schema
from .predicate import Predicate
from .ranges import Bounds, LogRanges

LogFormat = Literal["parquet", "avro"]


@dataclass(frozen=True, slots=True)
class TableShape:
    """The properties of a table that data tasks need.

    `schema` contains the columns of the table, without Hudi's meta columns. `keys` contains the key and partition
        columns, and the format of keys and paths. `merge` is the rule by which the records of a key are merged.
        `buckets` is the number of file groups in each partition. `avro_schema` is the Avro schema (JSON) of log
        records, including Hudi's meta columns.
    `log_format` is the format in which tasks write data blocks; tasks can read all formats. `limits` are the memory
        limits of the process that planned the tasks, which executors also apply.
    """

    schema: pa.Schema
    keys: KeySpec
    merge: MergeRule
    buckets: int
    avro_schema: str
    log_format: LogFormat = "parquet"
    limits: Limits = field(default_factory=limits)

    @property
    def ordering(self) -> pa.Field | None:
        return None if self.merge.ordering is None else self.schema.field(self.merge.ordering)

    def block_columns(self, sets: frozenset[str] | None) -> list[str]:
        """Return the columns of a log data block for rows that set only the columns `sets` (None means all columns)."""
        names = self.schema.names
        return [*META, *(n for n in names if sets is None or n in sets or n in self.merge.always)]

    def needed(self, columns: tuple[str, ...], where: Predicate | None) -> tuple[str, ...] | None:
        """Return the columns to decode for a read of `columns`, or None for all columns. The result includes the
        columns that the merge and the condition `where` need.
        """
        if not columns or self.merge.function:
            return None
        merged_by = (RECORD_KEY, PARTITION_PATH, COMMIT_TIME, IS_DELETED, self.merge.ordering or RECORD_KEY)
        return (*merged_by, *columns, *(where.columns if where else ()))

    @property
    def stored_schema(self) -> pa.Schema:
        """The schema of base files, log records and read results, including Hudi's meta columns."""
        return with_meta(self.schema)

    @property
    def packed_schema(self) -> pa.Schema:
        """The schema in which rows are merged: `stored_schema`, with dictionary types for columns with few distinct
        values.
        """
        few = pa.dictionary(pa.int32(), pa.string())
        return pa.schema([field.with_type(few) if field.name in FEW_VALUES else field for field in self.stored_schema])

    @property
    def deletes_schema(self) -> pa.Schema:
        return delete_schema(self.ordering)

    @property
    def window_schema(self) -> pa.Schema:
        """The schema of an incremental query: the columns of a snapshot query and `_hoodie_is_deleted`."""
        stored = self.stored_schema
        marked = stored if IS_DELETED in stored.names else stored.append(pa.field(IS_DELETED, pa.bool_()))
        return marked.append(pa.field(SET_COLUMNS, pa.list_(pa.string()))) if self.merge.partial else marked

    @property
    def changes_schema(self) -> pa.Schema:
        """The schema of a change log, with the columns `op`, `completed`, `before` and `after`."""
        return self.changes_schema_of(())

    def changes_schema_of(self, columns: tuple[str, ...]) -> pa.Schema:
        """Return the schema of a change log whose `before` and `after` rows have only the columns `columns`; () means
        all columns.
        """
        row = pa.struct([self.schema.field(name) for name in columns] if columns else list(self.schema))
        text = pa.string()
        return pa.schema([("op", text), ("completed", text), ("before", row), ("after", row)])


@dataclass(frozen=True, slots=True)
class BaseInput:
    """A base file to read. `size` is the file's size in bytes, as listed in the commit of the file; None means unknown.
    """

    path: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class WriteTask:
    """What a batch's rows are written as, and where. It describes the whole batch: each Spark task that writes rows of
    the batch uses the same `WriteTask`, or a copy with another `first_version`.

    `max_log_bytes` is the number of bytes after which the task starts a new log file with the next version.
    `first_version` is the version of the first log file in each file group; it exceeds 1 if several tasks write to the
    same file group. `bulk` is True for a bulk insert, which writes base files into all file groups outside `filled` and
    accepts no deletes. `filled` contains the file groups (partition, file id) with existing files, into which a bulk
    insert writes log files. `onto` maps each file group of a copy-on-write table to its current base file, whose rows
    are merged with the batch. If the rows are partial updates, `sets` contains the updated columns; otherwise `sets` is
    None. `digests` is True if the task computes digests of the input rows. If Hudi named the table's file groups,
    `file_ids` maps (partition, bucket) to the file id. `generation` is the number of resizes before the file groups of
    the task were made. `known` is None if any key may be inserted. `tasks_per_group` is the number of Spark tasks among
    which the rows of one file group are split by key.
    """

    shape: TableShape
    instant: str
    max_log_bytes: int = 1 << 30
    first_version: int = 1
    bulk: bool = False
    filled: frozenset[tuple[str, str]] = frozenset()
    onto: Mapping[tuple[str, str], BaseInput] | None = None
    sets: frozenset[str] | None = None
    digests: bool = False
    tasks_per_group: int = 1
    file_ids: Mapping[tuple[str, int], str] = field(default_factory=dict)
    generation: int = 0
    known: KnownKeys | None = None


VERSIONS_PER_TASK: Final = 1000
"""Each of several tasks that write logs to one file group has a range of this many log versions."""


@dataclass(frozen=True, slots=True)
class LogInput:
    """A log file to merge, with the requested time of its write.

    `size` is the size of the log in bytes, as listed in its commit; None means unknown. `appended` is True if other
    writes may have appended to the log since the commit that created it. `ranges` contains the value ranges of the
    log's rows, as listed in the commit; None means unknown. `checksum` is that of the commit; '' means unknown.
    """

    path: str
    requested: str
    size: int | None = None
    appended: bool = False
    ranges: LogRanges | None = None
    checksum: str = ""


@dataclass(frozen=True, slots=True)
class ChangedBase:
    """A base file written by the copy-on-write commit with the requested time `requested`. `before` is the base file
    that `file` replaced, or None.
    """

    file: BaseInput
    requested: str
    before: BaseInput | None = None


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A task that returns the merged rows of one file slice.

    `logs` are in merge order. `tombstones` are the logs of deletes that a compaction wrote together with `base`. In the
    merge order, `tombstones` precede all `logs`. `columns` contains the requested columns; () means all columns.
    `base_size` is the size of the base file in bytes, as listed in its commit; None means unknown. `where` is the
    condition on the returned rows; None means no condition.
    """

    shape: TableShape
    partition: str
    file_id: str
    base: str | None = None
    tombstones: tuple[LogInput, ...] = ()
    logs: tuple[LogInput, ...] = ()
    columns: tuple[str, ...] = ()
    base_size: int | None = None
    where: Predicate | None = None

    @property
    def base_input(self) -> BaseInput | None:
        return None if self.base is None else BaseInput(self.base, self.base_size)

    @property
    def result_schema(self) -> pa.Schema:
        """The schema of the returned rows."""
        stored = self.shape.stored_schema
        return pa.schema([stored.field(name) for name in self.columns]) if self.columns else stored

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The columns to decode for the result, the condition and the merge; None means all columns."""
        if self.base_only and self.columns:
            return (*self.columns, *(self.where.columns if self.where else ()))
        return self.shape.needed(self.columns, self.where)

    @property
    def base_only(self) -> bool:
        """True if the slice consists of a base file without logs, so that no merge is needed."""
        return self.base is not None and not self.logs


@dataclass(frozen=True, slots=True)
class WindowTask:
    """A task of an incremental query, which merges `logs` and the changed rows of `bases`. `columns` and `where` have
    the same meaning as in `ReadTask`.
    """

    shape: TableShape
    logs: tuple[LogInput, ...]
    bases: tuple[ChangedBase, ...] = ()
    columns: tuple[str, ...] = ()
    where: Predicate | None = None

    @property
    def result_schema(self) -> pa.Schema:
        """The schema of the returned rows."""
        window = self.shape.window_schema
        return pa.schema([window.field(name) for name in self.columns]) if self.columns else window


@dataclass(frozen=True, slots=True)
class ChangesTask:
    """A task that returns the row changes between two states of one or more file groups.

    `before` and `after` are the slices of one file group, or of several between which keys have moved. Of what was
    written between the two states, `window` contains the logs in merge order, `bases` the base files, `completions` the
    pairs of requested and completion time, and `replaced` the completion time of the last replace, or None. `columns`
    contains the columns of the rows, () means all; a change is returned if its old or new row satisfies `where`.
    """

    shape: TableShape
    before: tuple[ReadTask, ...]
    after: tuple[ReadTask, ...]
    window: tuple[LogInput, ...] = ()
    completions: tuple[tuple[str, str], ...] = ()
    bases: tuple[ChangedBase, ...] = ()
    replaced: str | None = None
    columns: tuple[str, ...] = ()
    where: Predicate | None = None

    @property
    def result_schema(self) -> pa.Schema:
        """The schema of the changes that the task returns."""
        return self.shape.changes_schema_of(self.columns)


@dataclass(frozen=True, slots=True)
class CompactTask:
    """A task that compacts `slice` into a base file with the instant time `instant`. `keeps_tombstones` is True if the
    task also writes a log of the winning deletes.

    `sort_by` contains the columns by which the rows are sorted in ascending order; () means unsorted. A resize merges
    the slices `sources` instead of `slice`, which then only names the new file group, and takes from them the keys of
    its bucket: bucket number and number of buckets.
    """

    slice: ReadTask
    instant: str
    keeps_tombstones: bool = True
    sort_by: tuple[str, ...] = ()
    sources: tuple[ReadTask, ...] = ()
    bucket: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LogCompactTask:
    """A task that merges the logs of `slice`, without its base file, into one log of the instant `instant`."""

    slice: ReadTask
    instant: str


@dataclass(frozen=True, slots=True)
class MoveTask:
    """A task that puts the records of `files` which belong to `bucket` (bucket number and number of buckets) into one
    log of the file group `file_id`. `files` are logs and bulk-inserted base files, in merge order. `instant` is the
    requested time of the write or of the resize that lists the log, and `version` is the version of the log.
    """

    shape: TableShape
    partition: str
    file_id: str
    bucket: tuple[int, int]
    files: tuple[LogInput | BaseInput, ...]
    instant: str
    version: int = 1


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A written data file, with the statistics that the commit stores for the file.

    `rows` and `deletes` are the numbers of rows and deletes in the file.
    `version` is the version of a log file, or None for a base file.
    `before` is the base file that a copy-on-write file replaces, or None.
    `log_records`, `log_files` and `log_blocks` count the records, files and blocks of the logs that a compaction
    merged; all are 0 for other writes.
    `digest` is the digest of the file group's input rows, if the task requests a digest. If a Spark task writes several
        files of one group, only one of the files has a digest.
    `bounds` contains the value ranges of a log's columns, for at most the first 32 columns; None means unknown.
    `checksum` is the checksum of a log's content, which readers compare with the content.
    `inserts` is the number of rows whose keys the write has put into the record index, and `elsewhere` that of rows
        whose keys the index has in another partition. Of the files of a task, only the first has these numbers.
    """

    path: str
    partition: str
    file_id: str
    size: int
    rows: int
    deletes: int
    version: int | None = None
    before: str | None = None
    log_records: int = 0
    log_files: int = 0
    log_blocks: int = 0
    digest: Digest | None = None
    bounds: Mapping[str, Bounds] | None = None
    checksum: str = ""
    inserts: int = 0
    elsewhere: int = 0


AnyRead = ReadTask | WindowTask | ChangesTask
AnyCompaction = CompactTask | LogCompactTask | MoveTask | HomeTask | IndexTask
