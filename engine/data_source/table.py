"""Opens the table of a data source write, or creates the table from the write options if it does not exist."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from ..config import TableConfig
from ..config.concurrency import concurrency_mode
from ..config.hudi_options import NAME, check_meaning
from ..config.options import FUNCTION, WRITE_TASKS
from ..config.table_config import RESIZED
from ..data.columns import IS_DELETED
from ..definition.creation import arrow_schema, table_config
from ..definition.load import BACKUP, PROPERTIES
from ..errors import BadInput, NotATable
from ..schema import META_COLUMNS
from ..storage import NotFound, Storage, open_storage
from ..table import Table, create_table, open_table
from ..wiring import context_of
from .options import TABLE, WriteOptions

_FIELDS: Final = {
    "name": "name",
    "record_key": "record_key",
    "ordering_fields": "ordering",
    "partition_by": "partition_by",
    "buckets": "buckets",
    "merge_mode": "merge_mode",
    "table_type": "table_type",
    "hoodie.logfile.data.block.format": "log_format",
    "hoodie.logfile.max.size": "max_log_bytes",
    WRITE_TASKS: "write_tasks",
    "hoodie.datasource.write.hive_style_partitioning": "hive_style",
    "hoodie.write.table.version": "version",
}
"""Argument or option -> what it is called in a table's config."""


BY_ORDERING: Final = {True: "EVENT_TIME_ORDERING", False: "COMMIT_TIME_ORDERING"}
"""The merge mode of a new table without an option for it, by whether it has an ordering column, as in Hudi."""


def open_or_create(options: WriteOptions, columns: pa.Schema) -> Table:
    """Open the table at the path in the options, or create the table if it does not exist. Raises `BadInput` if the
    options contradict the existing table or are invalid for a new table.
    """
    storage = open_storage(options.path, options.storage)
    context = context_of(None, storage)
    if not _exists(storage):
        if options.opening.function:
            remedy = f"create the table by Table.create with options={{{FUNCTION!r}: {options.opening.function!r}}}"
            raise NotATable(f"write to {options.path}", "there is no table", remedy)
        if "record_key" not in options.table:
            raise NotATable(
                f"write to {options.path}",
                "there is no table, and no option names a record key (nbcc generates none)",
                f"create it, or name its key in {TABLE['record_key'][0]}",
            )
        try:
            config = _config(options, _data_columns(columns), {})
            check_meaning(options.by_meaning, config)
            return _in_zone(create_table(context, config), options)
        except BadInput:
            if not _exists(storage):
                raise  # if it exists now, another process created it
    table = open_table(context, options.opening)
    table.take_over()
    if table.config.own:
        _check_agreement(options, table.config)
        check_meaning(options.by_meaning, table.config)
    if mode := options.table.get("concurrency_mode"):
        table.config = replace(table.config, concurrency_mode=concurrency_mode(mode))
    return _in_zone(table, options)


def _in_zone(table: Table, options: WriteOptions) -> Table:
    table.config = replace(table.config, session_time_zone=options.zone)
    return table


def with_columns(table: Table, columns: pa.Schema) -> Table:
    """Add the columns of a batch that the table lacks to the table, as nullable columns. Returns the table."""
    config = table.config
    stored = arrow_schema(_data_columns(columns), "add the columns of a batch", config.session_time_zone)
    more = [field.with_nullable(True) for field in stored if field.name not in config.schema.names]
    if more:
        table.alter_schema(pa.schema([*config.schema, *more]))
    return table


def _exists(storage: Storage) -> bool:
    """Return True if ``hoodie.properties`` or its backup copy exists."""
    for path in (PROPERTIES, BACKUP):
        try:
            storage.get(path)
        except NotFound:
            continue
        return True
    return False


def _data_columns(columns: pa.Schema) -> pa.Schema:
    """Return the columns of the batch without `_hoodie_is_deleted` and Hudi's meta columns, which are not stored in the
    table's schema.
    """
    return pa.schema([field for field in columns if field.name not in (IS_DELETED, *META_COLUMNS)])


def _config(options: WriteOptions, columns: pa.Schema, there: Mapping[str, Any]) -> TableConfig:
    """Return the table config for the given options. Missing options are taken from the existing table, or else from
    the defaults of `Table.create`.
    """
    given = {**there, **options.table}
    return table_config(
        given.get("name") or os.path.basename(options.path.rstrip("/\\")),
        columns,
        record_key=given["record_key"],
        ordering_fields=given.get("ordering_fields"),
        partition_by=given.get("partition_by"),
        buckets=int(given.get("buckets", "4")),
        merge_mode=given.get("merge_mode", BY_ORDERING[bool(given.get("ordering_fields"))]),
        table_type=given.get("table_type", "MERGE_ON_READ"),
        concurrency_mode=given.get("concurrency_mode"),
        options=options.create,
        session_time_zone=options.zone,
    )


def _check_agreement(options: WriteOptions, config: TableConfig) -> None:
    there = {argument: getattr(config, field) for argument, field in _FIELDS.items() if argument in TABLE}
    there["ordering_fields"] = config.ordering
    asked = _config(options, config.schema, there)
    resized = RESIZED in config.writer_features  # a job names the number that its table had when it was written
    for argument in (*options.table, *options.create):
        field = None if resized and argument == "buckets" else _FIELDS.get(argument)
        if field is not None and getattr(asked, field) != getattr(config, field):
            option = TABLE.get(argument, (argument,))[0]
            raise BadInput(
                f"write with {option}={_shown(getattr(asked, field))}",
                f"the table has {_shown(getattr(config, field))}",
                f"leave {'it' if option != NAME else 'the name'} out, or write to another table",
            )


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
