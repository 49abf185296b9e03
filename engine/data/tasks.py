"""The units of work of the data path: small frozen values that a runner can send to other processes.

Paths are relative to the table's root; instants are strings of 17 digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
    """The properties of a table that a task needs.

    `schema`: the columns of the table, without Hudi's own columns. `keys`: the key and partition columns, and the
    format of keys and paths. `merge`: the rule by which the records of a key are ranked. `buckets`: the number of file
    groups in each partition. `avro_schema`: the Avro schema (JSON) of log records, including Hudi's columns.
    `log_format`: the format in which tasks write data blocks; tasks read all formats. `limits`: the memory limits of
    the process that created the shape, which executors apply too.
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
        """Return the columns of a data block whose rows set the columns `sets` (None: all columns), in the order of the
        table.
        """
        names = self.schema.names
        return [*META, *(n for n in names if sets is None or n in sets or n in self.merge.always)]

    def needed(self, columns: tuple[str, ...], where: Predicate | None) -> tuple[str, ...] | None:
        """Return the columns to decode for a read of `columns`: these, and the columns that the merge and the condition
        need. None means all columns.
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
        """`stored_schema` with dictionary types for the columns of few distinct values. Merges use the packed schema.
        """
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
    """A base file, and the size in bytes that its commit lists; None means an unknown size."""

    path: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class WriteTask:
    """Write one batch as log files.

    `max_file_bytes`: the bytes of rows after which the task begins a new log version. `first_version`: the version of
    the first log file in each group; it is greater than 1 if several tasks write to a group. `bulk`: True to write base
    files, except in the groups `filled`; the batch then has no deletes. `filled`: the groups (partition, file id) that
    have files; a bulk insert writes log files to the groups. `onto`: for copy on write, the present base file of each
    group, with which the task merges the rows of the group. `sets`: for a partial update, the columns that the rows
    set; None means all columns. `digests`: True to compute digests of the input rows.
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
    file_ids: Mapping[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogInput:
    """A log file to merge, and the requested time of its write.

    `size`: the size of the log in bytes that its commit lists; None means an unknown size. `appended`: True if later
    writes may have appended to the log. `ranges`: the ranges of the rows that the commit lists, if a predicate needs
    them; None means unknown.
    """

    path: str
    requested: str
    size: int | None = None
    appended: bool = False
    ranges: LogRanges | None = None


@dataclass(frozen=True, slots=True)
class ChangedBase:
    """A base file of the write requested at `requested`, and the base file that the new base file replaced, if there
    was one.
    """

    file: BaseInput
    requested: str
    before: BaseInput | None = None


@dataclass(frozen=True, slots=True)
class ReadTask:
    """The merged rows of one file slice.

    `logs` are in merge order. `tombstones` are logs of deletes that the compaction of `base` put next to the base file.
    Tombstones rank with the base file, before all of `logs`. `columns`: the requested columns; () means all columns.
    `base_size`: the size of the base file in bytes that its commit lists; None means an unknown size. `where`: the
    condition on the returned rows; None means that all rows are returned.
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
        """Return the base file with the size that its commit lists."""
        return None if self.base is None else BaseInput(self.base, self.base_size)

    @property
    def result_schema(self) -> pa.Schema:
        """The schema of the returned rows."""
        stored = self.shape.stored_schema
        return pa.schema([stored.field(name) for name in self.columns]) if self.columns else stored

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The columns to decode: the requested columns, and the columns that the condition and the merge need; None
        means all columns. A base file without logs needs no merge.
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
    """Merge `logs` and the changes of `bases`, and mark the deletes in the result. `columns` and `where` are as in
    `ReadTask`.
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
    """The difference between two states of the same keys.

    `before` and `after` are slices of one file group, or of several groups if keys moved between groups. `window` and
    `bases` are the logs and base files of the writes that completed between the two states, in merge order. The records
    in `window` and `bases` identify deletes. `completions` has (requested, completed) of every write that completed
    between the two states. `columns`: the columns of the rows before and after the change; () means all columns.
    `where`: a change is returned if its row before or after the change matches.
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
    """Compact `slice` to a base file at `instant`. `keep_tombstones`: True to put a log of the winning deletes as well.

    `sort_by`: the columns by which the rows are sorted, ascending; () leaves the rows in merge order.
    """

    slice: ReadTask
    instant: str
    keep_tombstones: bool = True
    sort_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogCompactTask:
    """Merge the logs of `slice` to one log at `instant`. The base file is not read."""

    slice: ReadTask
    instant: str


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A written data file, with the numbers that the commit records for the file.

    `rows`, `deletes`: The numbers of rows and deletes in the file.
    `version`: The log version; None for a base file.
    `before`: For copy on write, the base file that this file replaces.
    `log_*`: The records, files and blocks of the logs that a compaction merged; 0 for writes.
    `digest`: The digest of the input rows of the file group, if the task requests a digest. If a Spark task writes
        several files of one group, only one of the files has a digest.
    `bounds`: For a log, the bounds of the first columns of its rows. None if they are not known.
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
