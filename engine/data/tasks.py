"""The units of work of the data path: small frozen values that a runner may send anywhere.

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

LogFormat = Literal["parquet", "avro"]


@dataclass(frozen=True, slots=True)
class TableShape:
    """What a task must know of its table.

    schema       the columns of the table, without Hudi's own
    keys         how a row's record key and partition path are made
    merge        how the records of a key are ranked
    buckets      file groups in each partition
    avro_schema  the Avro schema (JSON) of log records, Hudi's columns included
    log_format   of the data blocks we write; both are read
    limits       of the process that made the shape: executors decode within the same
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
        """The field of the ordering column."""
        return None if self.merge.ordering is None else self.schema.field(self.merge.ordering)

    def block_columns(self, sets: frozenset[str] | None) -> list[str]:
        """The columns of a data block whose rows set these, in the table's order."""
        names = self.schema.names
        return [*META, *(n for n in names if sets is None or n in sets or n in self.merge.always)]

    @property
    def stored_schema(self) -> pa.Schema:
        """Columns of base files, log records and reads."""
        return with_meta(self.schema)

    @property
    def packed_schema(self) -> pa.Schema:
        """`stored_schema` with dictionaries for the columns of few values: what a merge works on."""
        few = pa.dictionary(pa.int32(), pa.string())
        return pa.schema([field.with_type(few) if field.name in FEW_VALUES else field for field in self.stored_schema])

    @property
    def deletes_schema(self) -> pa.Schema:
        """Columns of deletes in a merge."""
        return delete_schema(self.ordering)

    @property
    def window_schema(self) -> pa.Schema:
        """Columns of an incremental read: those of a snapshot, and which rows are deletes."""
        stored = self.stored_schema
        marked = stored if IS_DELETED in stored.names else stored.append(pa.field(IS_DELETED, pa.bool_()))
        return marked.append(pa.field(SET_COLUMNS, pa.list_(pa.string()))) if self.merge.partial else marked

    @property
    def changes_schema(self) -> pa.Schema:
        """Columns of a change log: op (i, u, d), completion time of the change, the row before and after."""
        row = pa.struct(list(self.schema))
        text = pa.string()
        return pa.schema([("op", text), ("completed", text), ("before", row), ("after", row)])


@dataclass(frozen=True, slots=True)
class BaseInput:
    """A base file and its size in bytes, as its commit lists it; None: unknown."""

    path: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class WriteTask:
    """One batch as log files. `max_file_bytes`: roll to the next log version beyond this many bytes of rows.

    `first_version` is that of the first log file in each group: not 1 where several tasks share the groups of a write.
    `bulk`: base files instead, save in the groups (partition, file id) in `filled`, and no deletes.
    `sets`, of a partial update: the columns that its rows set; None: all.
    `onto`, of a copy-on-write table: the base file of each group that has one, which the rows are merged onto.
    `digests`: the files carry the digests of the rows that they were made of.
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


@dataclass(frozen=True, slots=True)
class LogInput:
    """A log file to merge, and the requested time of the write it belongs to.

    `size`: its size in bytes, as its commit lists it; None: unknown. `appended`: later writes may have appended to it.
    """

    path: str
    requested: str
    size: int | None = None
    appended: bool = False


@dataclass(frozen=True, slots=True)
class ChangedBase:
    """A base file that a write itself made at `requested`, and the one that it replaced (None: there was none)."""

    file: BaseInput
    requested: str
    before: BaseInput | None = None


@dataclass(frozen=True, slots=True)
class ReadTask:
    """The merged rows of one file slice.

    `logs` stand in the order in which they are merged. `tombstones` are logs of deletes that the compaction which wrote
    `base` kept; they rank with the base, before all of `logs`. `columns`: the only ones asked for; () is all.
    `base_size`: the size of the base file in bytes, as its commit lists it; None: unknown.
    """

    shape: TableShape
    partition: str
    file_id: str
    base: str | None = None
    tombstones: tuple[LogInput, ...] = ()
    logs: tuple[LogInput, ...] = ()
    columns: tuple[str, ...] = ()
    base_size: int | None = None

    @property
    def base_input(self) -> BaseInput | None:
        """The base file with its listed size."""
        return None if self.base is None else BaseInput(self.base, self.base_size)

    @property
    def result_schema(self) -> pa.Schema:
        """The columns of the answer."""
        stored = self.shape.stored_schema
        return pa.schema([stored.field(name) for name in self.columns]) if self.columns else stored

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The columns without which the slice cannot be merged, and those asked for; None: all."""
        merged_by = (RECORD_KEY, PARTITION_PATH, COMMIT_TIME, IS_DELETED, self.shape.merge.ordering or RECORD_KEY)
        return (*merged_by, *self.columns) if self.columns and not self.shape.merge.function else None

    @property
    def base_only(self) -> bool:
        """Whether the rows of the base file are the answer."""
        return self.base is not None and not self.logs


@dataclass(frozen=True, slots=True)
class WindowTask:
    """The merge of exactly `logs` and of what `bases` changed, deletes marked."""

    shape: TableShape
    logs: tuple[LogInput, ...]
    bases: tuple[ChangedBase, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangesTask:
    """The difference between two states of the same keys.

    `before` and `after` are the slices that hold them (one file group; more if keys moved between groups); `window` the
    logs and `bases` the base files of writes completed in between, in merge order, which show the deleting write;
    `completions` (requested, completed) of every write completed in between.
    """

    shape: TableShape
    before: tuple[ReadTask, ...]
    after: tuple[ReadTask, ...]
    window: tuple[LogInput, ...] = ()
    completions: tuple[tuple[str, str], ...] = ()
    bases: tuple[ChangedBase, ...] = ()


@dataclass(frozen=True, slots=True)
class CompactTask:
    """A new base file of `slice` at `instant`; the deletes that won are kept in a log next to it if `keep_tombstones`.

    `sort_by`: the columns, ascending, by which its rows are sorted; () for merge order.
    """

    slice: ReadTask
    instant: str
    keep_tombstones: bool = True
    sort_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogCompactTask:
    """One log at `instant` in place of the logs of `slice`, whose base does not take part."""

    slice: ReadTask
    instant: str


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """All that a write stat needs of one file.

    `before`: the base file that it takes the place of, if a write and not a plan says so.
    `version` is the log version, None for a base file; `rows` and `deletes` count its records. The rest counts what a
    compaction merged into it and is 0 otherwise: records, files and blocks of the logs. `digest`: of the input rows of
    its file group, where the task asked for it, on the first file of the group in each Spark task.
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


AnyRead = ReadTask | WindowTask | ChangesTask
AnyCompaction = CompactTask | LogCompactTask
