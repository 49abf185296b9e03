"""Adds, drops, widens or reorders the columns of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..config import TableConfig
from ..config.properties import encode_properties
from ..config.schemas import schema_versions, with_version
from ..context import Context
from ..definition.creation import arrow_schema, check_columns, check_partial
from ..definition.load import PROPERTIES, load_properties
from ..errors import Unsupported
from ..lock import held
from ..schema.evolution import ASKED, check_evolution
from ..timeline import Instant, completion_of, load, put_inflight
from ..writes.commit_protocol import complete, request, take_time, undo_on_error
from ..writes.commits import write_commit
from .upsert import action_of

if TYPE_CHECKING:
    from ..definition.creation import Schema

OPERATION = "ALTER_SCHEMA"


def run(context: Context, config: TableConfig, schema: Schema) -> Instant | None:
    """Change the columns of the table to `schema`. Returns the commit that records the new schema, or None if the table
    already has the requested columns.

    Snapshot queries return the new columns; a read as of an older time returns the columns of that time. A writer that
    opened the table before the schema change continues to write the old columns. An interrupted schema change is
    completed by the next request for the same schema. Raises `BadInput` if existing rows would be invalid under the new
    schema.
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
    with held(context.lock):
        values = load_properties(context.storage)
        versions = schema_versions(values)
        if not versions[-1].schema.equals(columns):
            check_evolution([version.schema for version in versions], columns, fixed)
            since = take_time(context, load(context.storage))
            context.storage.put(PROPERTIES, encode_properties(with_version(values, since, avro)))
        elif len(versions) == 1 or _is_published(context, versions[-1].since, avro):
            return None
    # If a later step fails, the next call with the same columns publishes them.
    action = action_of(changed)
    requested, _ = request(context, action)
    with undo_on_error(context, requested, action):
        put_inflight(context.storage, requested, action)
    return complete(context, requested, action, files=(), commit=write_commit(changed, requested, OPERATION, ()))


def _is_published(context: Context, since: str, avro: str) -> bool:
    """Return whether a write that completed after `since` recorded the Avro schema `avro`."""
    timeline = context.whole(load(context.storage))
    after = (i for i in timeline.completed if i.writes and not timeline.is_service(i) and completion_of(i) > since)
    return any(context.commits.commit(instant).extra.get("schema") == avro for instant in after)
