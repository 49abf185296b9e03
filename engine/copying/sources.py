"""The tables that a copy can read: those that nbcc reads, and those that hudi-rs reads (table version 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from ..actions import as_of
from ..config import TableConfig
from ..config.table_properties import merge_mode
from ..context import Context
from ..data.columns import META
from ..data.jobs import InProcessJobs, PlannedReads
from ..data.tasks import ReadTask
from ..definition.load import load_properties, open_table
from ..errors import CannotRun, NbccError, Unsupported
from ..extras import missing_extra
from ..reads.travel import settled
from ..rules import HUDI
from ..schema import without_meta
from ..storage import Storage, open_storage
from ..wiring import context_of, coordinated, with_hudi_rules

CHUNK_BYTES: Final = 128 << 20
"""The size of the input files of one commit of a copy. A chunk has at least one file group."""


class Definition(NamedTuple):
    """What the properties of a table say about its rows. `ordering` and `record_key` may be empty."""

    schema: pa.Schema
    record_key: tuple[str, ...]
    ordering: tuple[str, ...]
    partition_by: tuple[str, ...]
    hive_style: bool
    merge_mode: str


class Source(Protocol):
    """One state of a table that is copied."""

    reader: str
    """What reads the table: nbcc or hudi-rs."""
    time: str
    """The state that is read; '' if no write has completed."""
    definition: Definition

    def chunks(self) -> Iterator[pa.Table]:
        """Yield the rows, in an order and in parts that depend on the state alone."""
        ...


class EngineSource:
    """A table that nbcc reads, as of a completion time."""

    reader = "nbcc"

    def __init__(self, context: Context, config: TableConfig, time: str | None) -> None:
        self._context, self._config = context, config
        self.time = (settled(context).greatest_completion or "") if time is None else time
        ordering = (config.ordering,) if config.ordering else ()
        self.definition = Definition(
            config.schema, config.record_key, ordering, config.partition_by, config.hive_style, config.merge_mode
        )

    def chunks(self) -> Iterator[pa.Table]:
        if not self.time:
            return
        planning = replace(self._context, jobs=PlannedReads())
        tasks, schema = as_of.run(planning, self._config, self.time)
        jobs = InProcessJobs(self._context.storage, self._context.names)
        for part in _in_parts(sorted(tasks, key=lambda task: (task.partition, task.file_id)), _size_of):
            yield jobs.read(part, schema).drop_columns([name for name in META if name in schema.names])


def _size_of(task: ReadTask) -> int:
    return (task.base_size or 0) + sum(log.size or 0 for log in (*task.tombstones, *task.logs))


class HudiRsSource:
    """A table that hudi-rs reads, such as one of table version 6, as of an instant."""

    reader = "hudi-rs"

    def __init__(self, url: str, options: Mapping[str, Any], properties: Mapping[str, str], time: str | None) -> None:
        try:
            import hudi
        except ImportError as failed:
            raise missing_extra(failed) or failed from None
        self._url = url
        given = {str(name): str(value) for name, value in options.items()}
        with _in_words(url):
            self._table = hudi.HudiTableBuilder.from_base_uri(url).with_storage_options(given).build()
            self.time = self._table.get_timeline().get_latest_commit_timestamp() if time is None else time
            self._options = hudi.HudiReadOptions().with_as_of_timestamp(self.time)
            schema = without_meta(self._table.get_schema())
        orderings = properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field")
        self.definition = Definition(
            schema,
            _names(properties.get("hoodie.table.recordkey.fields")),
            _names(orderings),
            _names(properties.get("hoodie.table.partition.fields")),
            properties.get("hoodie.datasource.write.hive_style_partitioning", "false").lower() == "true",
            merge_mode(properties),
        )

    def chunks(self) -> Iterator[pa.Table]:
        with _in_words(self._url):
            slices = self._table.get_file_slices(self._options)
            reader = self._table.create_file_group_reader_with_options(self._options)
        for part in _in_parts(sorted(slices, key=lambda each: (each.partition_path, each.file_id)), _bytes_of):
            with _in_words(self._url):
                batches = [reader.read_file_slice(each, self._options) for each in part]
            rows = pa.Table.from_batches(batches)
            yield rows.drop_columns([name for name in META if name in rows.column_names])


def _bytes_of(file_slice: Any) -> int:
    return int(file_slice.base_file_size or 0) + sum(file_slice.log_file_sizes or ())


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _in_parts(things: Sequence[Any], size_of: Any) -> Iterator[list[Any]]:
    """Divide file groups into parts of at most `CHUNK_BYTES`, or of one file group."""
    part: list[Any] = []
    size = 0
    for each in things:
        own = size_of(each)
        if part and size + own > CHUNK_BYTES:
            yield part
            part, size = [], 0
        part.append(each)
        size += own
    if part:
        yield part


@contextmanager
def _in_words(url: str) -> Iterator[None]:
    """Raise errors of hudi-rs as `CannotRun`."""
    try:
        yield
    except NbccError:
        raise
    except Exception as error:  # hudi-rs exports no base class of its errors
        first = str(error).strip().partition("\n")[0].rstrip(".")
        remedy = "upgrade the table with Apache Hudi (hoodie.write.table.version=9), then copy it"
        raise CannotRun(f"read the table at {url} with hudi-rs", first, remedy) from None


def open_source(path: str, options: Mapping[str, Any], time: str | None = None) -> Source:
    """Open a table as the source of a copy, as of `time`, or in its newest state. nbcc reads it if it can, otherwise
    hudi-rs does. Raises the error of nbcc if neither can.
    """
    storage = open_storage(path, options)
    try:
        return EngineSource(*opened(storage), time)
    except Unsupported as refused:
        try:
            return HudiRsSource(storage.url, options, load_properties(storage), time)
        except CannotRun as failed:
            exists = f"{refused.exists}, and hudi-rs says: {failed.exists}"
            raise Unsupported(refused.asked, exists, failed.remedy) from None


def opened(storage: Storage) -> tuple[Context, TableConfig]:
    context, config = context_of(None, storage), open_table(storage)
    if config.own:
        return coordinated(context, config), config
    assert config.rules == HUDI
    return with_hudi_rules(context, config, "directory"), config
