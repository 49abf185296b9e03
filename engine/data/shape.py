"""Derives the `TableShape` of tasks from a table's config."""

from __future__ import annotations

from ..config import TableConfig
from ..rules import Rules
from .keys import KeySpec
from .layers import MergeRule
from .tasks import TableShape


def table_shape(config: TableConfig, rules: Rules) -> TableShape:
    """Return the shape of a table under `rules`. If the table does not record the number of its buckets, the shape has
    the number 1, which no task uses.
    """
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
