"""Adds, drops, widens or reorders the columns of a table.

An interrupted schema change is completed by the next request for the same schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from ..config import TableConfig
from ..config.properties import encode_properties
from ..config.schemas import schema_versions, with_version
from ..context import Context
from ..definition.creation import arrow_schema, check_columns, check_partial
from ..definition.load import PROPERTIES, load_properties
from ..errors import Unsupported
from ..schema.evolution import ASKED, check_evolution
from ..storage.conditional import conditional_object
from ..timeline import Instant, completion_of, put_inflight
from ..writes.claims import new_time
from ..writes.commit_protocol import complete, request, undo_on_error
from ..writes.commits import write_commit
from ..writes.data_write import action_of, publish
from ..writes.deciding import tick
from ..writes.decision_log import decides_without_lock, in_order
from ..writes.unlocked_request import request_without_lock

if TYPE_CHECKING:
    from ..definition.creation import Schema

OPERATION = "ALTER_SCHEMA"


def run(context: Context, config: TableConfig, schema: Schema) -> Instant | None:
    """Change the columns of the table to `schema`: add, drop, widen or reorder columns. Returns None if the schema
    of the table already equals `schema`.

    An added column is nullable. Rows in older files are converted to the new schema when they are read. A read with
    `as_of` returns the columns that the table had at the given time. Raises `BadInput` if existing rows do not fit
    the new schema. Another `Table` object that was opened before the call to `alter_schema` continues to use the
    old columns.
    """
    config.check_writable()
    if not config.merge_on_read:
        raise Unsupported(
            "change the columns of the table",
            "it is COPY_ON_WRITE, where a writer that does not know of it would write them away",
            "use a MERGE_ON_READ table",
        )
    columns = arrow_schema(schema, ASKED, config.session_time_zone)
    check_columns(columns, ASKED)
    changed = replace(config, schema=columns)
    check_partial(changed, ASKED)
    avro = changed.avro_schema  # refuses types that not every reader understands
    fixed = (*config.record_key, *config.partition_by, *filter(None, [config.ordering]))
    with in_order(context):
        if not _put_version(context, columns, avro, fixed):
            return None
    # If a later step fails, the next call with the same columns publishes them.
    action = action_of(changed)
    if decides_without_lock(context):
        requested, at_request = request_without_lock(context, action, starts=True)
        commit = partial(write_commit, changed, requested, OPERATION)
        return publish(context, changed, requested, at_request=at_request, files=(), commit=commit, batch_id=None)
    requested, _ = request(context, action)
    with undo_on_error(context, requested, action):
        put_inflight(context.storage, requested, action)
    return complete(context, requested, action, files=(), commit=write_commit(changed, requested, OPERATION, ()))


def _put_version(context: Context, columns: pa.Schema, avro: str, fixed: Sequence[str]) -> bool:
    """Record the columns in the properties of the table. Returns False if they are its columns, and are published.

    Without the lock, the properties are replaced only if no other process has changed them since they were read.
    """
    properties = conditional_object(context.storage, PROPERTIES) if decides_without_lock(context) else None
    while True:
        # Before the properties are loaded, so that a change in between makes the conditional write fail.
        known = properties.read() if properties is not None else None
        values = load_properties(context.storage)
        versions = schema_versions(values)
        if versions[-1].schema.equals(columns):
            # The properties may be ahead of the timeline: a call that was interrupted has recorded the columns and
            # published nothing.
            return len(versions) > 1 and not _is_published(context, versions[-1].since, avro)
        check_evolution([version.schema for version in versions], columns, fixed)
        since = tick(context) if decides_without_lock(context) else new_time(context, context.active(), claimed=False)
        data = encode_properties(with_version(values, since, avro))
        if properties is None:
            context.storage.put(PROPERTIES, data)
            return True
        if properties.write(data, known) is not None:
            return True


def _is_published(context: Context, since: str, avro: str) -> bool:
    """Return whether a write that completed after `since` recorded the Avro schema `avro`."""
    timeline = context.history().whole
    after = (i for i in timeline.completed if i.writes and not timeline.is_service(i) and completion_of(i) > since)
    return any(context.commits.commit(instant).extra.get("schema") == avro for instant in after)
