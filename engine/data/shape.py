"""Derives a `TableShape`, the table properties that data tasks need, from the table's config."""

from __future__ import annotations

from ..config import TableConfig
from ..rules import Rules
from .keys import KeySpec
from .layers import EVENT_TIME, MergeRule
from .tasks import TableShape


def table_shape(config: TableConfig, rules: Rules) -> TableShape:
    """Return the `TableShape` of a table that is read by `rules`. If the number of buckets is unknown, the result's
    `buckets` is 1. Raises `Unsupported` if the table's properties name a merge function that the caller does not allow.
    """
    config.check_function()
    return unmerged_shape(config, rules)


def unmerged_shape(config: TableConfig, rules: Rules) -> TableShape:
    """Return the `TableShape` of a table for a caller that decodes records and merges none."""
    return TableShape(
        schema=config.schema,
        keys=KeySpec(config.record_key, config.partition_by, config.hive_style),
        merge=MergeRule(
            config.merge_mode,
            config.ordering,
            rules.fold,
            config.partial_update,
            config.always_set,
            config.merge_function,
        ),
        buckets=config.buckets or 1,
        avro_schema=config.log_schema,
        log_format=config.log_format,
    )


def keeps_tombstones(shape: TableShape, rules: Rules) -> bool:
    """Return whether a compaction must keep deletes. In a commit-time table a compaction keeps no deletes, because any
    record written after a delete wins over the delete.
    """
    return rules.tombstones == "keep" and shape.merge.mode == EVENT_TIME
