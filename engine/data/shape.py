"""What the tasks of the data path must know of a table."""

from __future__ import annotations

from ..config import TableConfig
from ..rules import Rules
from .keys import KeySpec
from .layers import MergeRule
from .tasks import TableShape


def table_shape(config: TableConfig, rules: Rules) -> TableShape:
    """The shape of a table, read by `rules`. Tables of others may not say how many buckets they have: nobody asks."""
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
