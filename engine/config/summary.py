"""Summarizes the properties of a table in one line or as a dictionary."""

from __future__ import annotations

from .table_config import TableConfig


def summary(config: TableConfig) -> dict[str, object]:
    """Return the main properties of a table with readable names. The value of an absent property is None."""
    return {
        "type": config.table_type,
        "merge mode": config.merge_mode,
        "key": ", ".join(config.record_key),
        "ordering": config.ordering,
        "partitioned by": ", ".join(config.partition_by) or None,
        "buckets": config.buckets,
        **({"record index": f"{index.type}, inserts {index.inserts}"} if (index := config.record_index) else {}),
        "version": config.version,
        "rules": "nbcc" if config.own else "hudi",
    }


def headline(config: TableConfig) -> str:
    """Return a line such as ``table orders: MERGE_ON_READ, EVENT_TIME_ORDERING by ts, partitioned by day``."""
    ordering = f" by {config.ordering}" if config.ordering else ""
    partitions = f", partitioned by {', '.join(config.partition_by)}" if config.partition_by else ""
    return f"table {config.name}: {config.table_type}, {config.merge_mode}{ordering}{partitions}"
