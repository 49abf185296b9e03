"""The units of work of the data path: small frozen values that a runner can send to other processes.

Paths are relative to the table's root; instants are strings of 17 digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import pyarrow as pa

from ..limits import Limits, limits
from ..parquet import FEW_VALUES
from ..schema import with_meta
from .columns import COMMIT_TIME, IS_DELETED, META, PARTITION_PATH, RECORD_KEY, SET_COLUMNS
from .digest import Digest
from .keys import KeySpec
from .layers import MergeRule, delete_schema
from .predicate import Predicate
from .ranges import Bounds, LogRanges

LogFormat = Literal["parquet", "avro"]


@dataclass(frozen=True, slots=True)
class TableShape:
    """The properties of a table that a data task needs.

    `schema` contains the columns of the table, without Hudi's own columns. `keys` contains the key and partition
        columns, and the format of keys and paths. `merge` is the rule by which the records of a key are ranked.
        `buckets` is the number of file groups in each partition. `avro_schema` is the Avro schema (JSON) of log
        records, including Hudi's columns.
    `log_format` is the format in which tasks write data blocks; tasks read all formats. `limits` are the memory limits
        of the process that created the shape, which executors apply too.
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
        """Return the field of the ordering column."""
        return None if self.merge.ordering is None else self.schema.field(self.merge.ordering)

    def block_columns(self, sets: frozenset[str] | None) -> list[str]:
        """Return, in the table's order, the columns of a data block whose rows set the columns `sets` (None: all
        columns).
        """
        names = self.schema.names
        return [*META, *(n for n in names if sets is None or n in sets or n in self.merge.always)]

    def needed(self, columns: tuple[str, ...], where: Predicate | None) -> tuple[str, ...] | None:
        """Return the columns to decode for a read of `columns`, including those that the merge and the condition need.
        A result of None means all columns.
        """
        if not columns or self.merge.function:
            return None
        merged_by = (RECORD_KEY, PARTITION_PATH, COMMIT_TIME, IS_DELETED, self.merge.ordering or RECORD_KEY)
        return (*merged_by, *columns, *(where.columns if where else ()))

    @property
    def stored_schema(self) -> pa.Schema:
        """The columns of base files, log records and reads."""
        return with_meta(self.schema)

    @property
    def packed_schema(self) -> pa.Schema:
        """`stored_schema`, with dictionary types for repetitive columns. Merges use the packed schema."""
        few = pa.dictionary(pa.int32(), pa.string())
        return pa.schema([field.with_type(few) if field.name in FEW_VALUES else field for field in self.stored_schema])

    @property
    def deletes_schema(self) -> pa.Schema:
        """The columns of deletes in a merge."""
        return delete_schema(self.ordering)

    @property
    def window_schema(self) -> pa.Schema:
        """The columns of an incremental read: the columns of a snapshot, and the delete flag."""
        stored = self.stored_schema
        marked = stored if IS_DELETED in stored.names else stored.append(pa.field(IS_DELETED, pa.bool_()))
        return marked.append(pa.field(SET_COLUMNS, pa.list_(pa.string()))) if self.merge.partial else marked

    @property
    def changes_schema(self) -> pa.Schema:
        """The columns of a change log: op (i, u, d), the completion time of the change, and the row before and after
        the change.
        """
        return self.changes_schema_of(())

    def changes_schema_of(self, columns: tuple[str, ...]) -> pa.Schema:
        """The columns of a change log whose rows have only the columns `columns`; () means all columns."""
        row = pa.struct([self.schema.field(name) for name in columns] if columns else list(self.schema))
        text = pa.string()
        return pa.schema([("op", text), ("completed", text), ("before", row), ("after", row)])


@dataclass(frozen=True, slots=True)
class BaseInput:
    """A base file, and the size in bytes listed in its commit; None means an unknown size."""

    path: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class WriteTask:
    """Write one batch as log files.

    `max_file_bytes` is the number of bytes of rows after which the task begins a new log version. `first_version` is
    the version of the first log file in each group; it is greater than 1 if several tasks write to a group. `bulk` is
    True to write base files, except in the groups `filled`; the batch then has no deletes. `filled` contains the groups
    (partition, file id) that have files; a bulk insert writes log files to them. `onto` contains, for copy on write,
    the present base file of each group, with which the task merges the rows of the group. `sets` contains the columns
    that the rows of a partial update set; None means all columns. `digests` is True to compute digests of the input
    rows. `tasks_per_group` is the number of Spark tasks that share the rows of a file group, divided by key.
    """

    shape: TableShape
    instant: str
    max_file_bytes: int = 1 << 30
    first_version: int = 1
    bulk: bool = False
    filled: frozenset[tuple[str, str]] = frozenset()
    onto: Mapping[tuple[str, str], BaseInput] | None = None
    sets: frozenset[str] | None = None
    digests: bool = False
    tasks_per_group: int = 1
    file_ids: Mapping[tuple[str, int], str] = field(default_factory=dict)


VERSIONS_PER_TASK: Final = 1000
"""Each of several tasks that write logs to one file group has a range of this many log versions."""


@dataclass(frozen=True, slots=True)
class LogInput:
    """A log file to merge, with the requested time of its write.

    `size` is the size of the log in bytes, as listed in its commit; None means an unknown size. `appended` is True if
    later writes may have appended to the log. `ranges` contains the ranges of the log's rows, as listed in the commit,
    if a predicate needs them; None means unknown.
    """

    path: str
    requested: str
    size: int | None = None
    appended: bool = False
    ranges: LogRanges | None = None


@dataclass(frozen=True, slots=True)
class ChangedBase:
    """A base file of the write requested at `requested`, and the older base file that the new one replaced, if any."""

    file: BaseInput
    requested: str
    before: BaseInput | None = None


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A task that returns the merged rows of one file slice.

    `logs` are in merge order. `tombstones` are the delete logs that a compaction wrote together with `base`. Tombstones
    rank with the base file, before all of `logs`. `columns` contains the requested columns; () means all columns.
    `base_size` is the size of the base file in bytes, as listed in its commit; None means an unknown size. `where` is
    the condition on the returned rows; None means that all rows are returned.
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
        """Return the base file with the size listed in its commit."""
        return None if self.base is None else BaseInput(self.base, self.base_size)

    @property
    def result_schema(self) -> pa.Schema:
        """The schema of the returned rows."""
        stored = self.shape.stored_schema
        return pa.schema([stored.field(name) for name in self.columns]) if self.columns else stored

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The columns to decode: the requested columns, and those that the condition and the merge need; None means all
        columns. A base file without logs needs no merge.
        """
        if self.base_only and self.columns:
            return (*self.columns, *(self.where.columns if self.where else ()))
        return self.shape.needed(self.columns, self.where)

    @property
    def base_only(self) -> bool:
        """True if the slice has a base file and no logs, so that the base file has exactly the rows of the slice."""
        return self.base is not None and not self.logs


@dataclass(frozen=True, slots=True)
class WindowTask:
    """A task that merges `logs` and the changes of `bases`, and marks the deletes in the result. `columns` and `where`
    are as in `ReadTask`.
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
    """A task that returns the row changes between two states of some file groups.

    `before` and `after` are slices of one file group, or of several groups if keys moved between groups. `window` and
    `bases` are the logs and base files of the writes that completed between the two states, in merge order. The records
    in `window` and `bases` identify deletes. `completions` contains (requested, completed) of every write that
    completed between the two states. `columns` contains the columns of the rows before and after the change; () means
    all columns. `where` selects the changes whose row before or after the change matches.
    """

    shape: TableShape
    before: tuple[ReadTask, ...]
    after: tuple[ReadTask, ...]
    window: tuple[LogInput, ...] = ()
    completions: tuple[tuple[str, str], ...] = ()
    bases: tuple[ChangedBase, ...] = ()
    columns: tuple[str, ...] = ()
    where: Predicate | None = None

    @property
    def result_schema(self) -> pa.Schema:
        """The schema of the returned changes."""
        return self.shape.changes_schema_of(self.columns)


@dataclass(frozen=True, slots=True)
class CompactTask:
    """A task that compacts `slice` into a base file at `instant`. `keep_tombstones` is True to put a log of the winning
    deletes as well.

    `sort_by` contains the columns by which the rows are sorted, ascending; () leaves the rows in merge order.
    """

    slice: ReadTask
    instant: str
    keep_tombstones: bool = True
    sort_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogCompactTask:
    """A task that merges the logs of `slice` into one log at `instant`. The task does not read the base file."""

    slice: ReadTask
    instant: str


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A written data file, with the numbers that are stored for it in the commit.

    `rows` and `deletes` are the numbers of rows and deletes in the file.
    `version` is the log version; None for a base file.
    `before` is, for copy on write, the base file that this file replaces.
    Fields `log_*` count the records, files and blocks of the logs that a compaction merged; they are 0 for writes.
    `digest` is the digest of the input rows of the file group, if the task requests a digest. If a Spark task writes
        several files of one group, only one of the files has a digest.
    `bounds` contains, for a log, the bounds of the first columns of its rows. `bounds` is None if the bounds are not
        known.
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


AnyRead = ReadTask | WindowTask | ChangesTask
AnyCompaction = CompactTask | LogCompactTask
