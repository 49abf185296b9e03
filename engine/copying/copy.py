"""Copies one state of a table into a new table of nbcc.

The state is fixed in the destination before the first row is written, so that an interrupted copy continues with the
same state. Each part of the rows is one commit with a batch id: a part that is already there is read and compared, and
not written again. At the end the rows of both tables are counted and their digests compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import pyarrow as pa

from ..actions import compact, upsert
from ..config import TableConfig
from ..config.coordination import is_shared
from ..context import Context
from ..data.columns import IS_DELETED
from ..data.digest import Digest, digest_of
from ..definition.creation import table_config
from ..definition.load import create_table, open_table
from ..errors import BadInput, Conflict, NbccError, Unsupported
from ..json_text import parse_json
from ..storage import NotFound, Storage, open_storage
from ..wiring import context_of, coordinated
from .sources import EngineSource, Source, open_source

RECORD: Final = ".hoodie/.nbcc/copy"
"""What a table is a copy of: the source, the time of its state, and the digest once all rows have been compared."""

class Copied(NamedTuple):
    """The result of a copy: the number of rows, their digest, the time of the copied state, what read the source, and
    the address of the copy.
    """

    rows: int
    digest: str
    time: str
    reader: str
    path: str


def copy_table(
    source: str,
    destination: str,
    *,
    buckets: int,
    record_key: str | None = None,
    ordering_fields: str | None = None,
    partition_by: str | None = None,
    options: Mapping[str, str] | None = None,
    source_options: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Copied:
    """Copy the table at the path `source`, of any index and table version that nbcc or hudi-rs reads, to a new table
    with `buckets` file groups in each partition.

    The other arguments are those of `Table.create`; without them the new table has the key, ordering and partition
    columns of the source. A repeated call continues an interrupted copy. Raises `Conflict` if the rows of the two
    tables differ at the end.
    """
    target = open_storage(destination, storage_options)
    begun = _begun(target)
    found = open_source(source, source_options or {}, begun["time"] if begun else None)
    given = {"record_key": record_key, "ordering_fields": ordering_fields, "partition_by": partition_by}
    return copy(found, open_storage(source, source_options).url, target, begun, buckets, given, options or {})


def copy_opened(
    context: Context, config: TableConfig, target: Storage, buckets: int, options: Mapping[str, str]
) -> Copied:
    """Copy a table that is already open."""
    begun = _begun(target)
    found = EngineSource(context, config, begun["time"] if begun else None)
    return copy(found, context.storage.url, target, begun, buckets, {}, options)


def copy(
    source: Source,
    url: str,
    target: Storage,
    begun: Mapping[str, str] | None,
    buckets: int,
    given: Mapping[str, str | None],
    options: Mapping[str, str],
) -> Copied:
    asked = f"copy the table {url} to {target.url}"
    if begun is None:
        config = _config(source, target, buckets, given, options, asked)
        create_table(target, config)
        # Before the first row: a copy that is interrupted later goes on with the same state.
        target.put(RECORD, _record(url, source.time))
    elif begun["source"] != url:
        raise BadInput(asked, f"a copy of {begun['source']} has begun there", "choose another place")
    config = open_table(target)
    context = coordinated(context_of(None, target), config)
    read = Digest()
    for number, chunk in enumerate(source.chunks()):
        # An empty part is not written, but it has a number, so that the numbers of the others do not depend on it.
        if len(rows := _columns(chunk, config.schema)):
            upsert.run(context, config, rows, batch_id=f"copy of {url} at {source.time}, part {number}")
        read += digest_of(rows)
    if read.rows and config.merge_on_read:
        compact.run(context, config)
    # Read back from the table: the digest of what was given to the writer would not show what was stored.
    stored = EngineSource(context, config, None).chunks()
    there = sum((digest_of(_columns(rows, config.schema)) for rows in stored), Digest())
    if there != read:
        raise Conflict(
            asked,
            f"the source has {read} and the copy has {there}",
            "write to neither while it runs, delete the copy and begin again",
        )
    target.put(RECORD, _record(url, source.time, read.text))
    return Copied(read.rows, read.text, source.time, source.reader, target.url)


def _columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the rows with the columns and types of the copy, so that equal rows have equal digests. The mark of
    deletes is left out: a row of a snapshot is not deleted, even if Hudi has inserted it with the mark.
    """
    present = [field for field in schema if field.name in rows.column_names]
    return pa.table({field.name: rows[field.name].cast(field.type) for field in present})


def _begun(target: Storage) -> dict[str, str] | None:
    """Return what an interrupted copy has recorded, or None if none has begun. Raises `BadInput` if it is complete."""
    try:
        found = parse_json(target.get(RECORD))
    except NotFound:
        return None
    begun = {str(name): str(value) for name, value in found.items()}
    if begun["digest"]:
        exists = f"the copy of {begun['source']} there is complete"
        raise BadInput(f"copy a table to {target.url}", exists, "choose another place")
    return begun


def _record(url: str, time: str, digest: str = "") -> bytes:
    return json.dumps({"source": url, "time": time, "digest": digest}).encode()


def _config(
    source: Source,
    target: Storage,
    buckets: int,
    given: Mapping[str, str | None],
    options: Mapping[str, str],
    asked: str,
) -> TableConfig:
    own = source.definition
    key = given.get("record_key") or own.record_key
    ordering = given.get("ordering_fields") or own.ordering
    if not key:
        exists = "Hudi generated the keys of its rows"
        raise Unsupported(asked, exists, "name the columns that identify a row in record_key (--key)")
    try:
        config = table_config(
            target.url.rstrip("/").rpartition("/")[2],
            pa.schema([field for field in own.schema if field.name != IS_DELETED]),
            record_key=key,
            ordering_fields=ordering,
            partition_by=given.get("partition_by") or own.partition_by,
            buckets=buckets,
            merge_mode=own.merge_mode if ordering else "COMMIT_TIME_ORDERING",
            table_type="MERGE_ON_READ",
            concurrency_mode=None,
            options={"hoodie.datasource.write.hive_style_partitioning": str(own.hive_style).lower(), **options},
            session_time_zone=None,
        )
    except NbccError as refused:
        raise type(refused)(asked, refused.exists, refused.remedy) from None
    config = replace(config, shared_store=is_shared(target.url))
    if config.weakness is not None:
        raise Unsupported(asked, *config.weakness)
    return config
