"""Computes the rows of an update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ..config import TableConfig
from .values import check_names, computed, spark_column

ASKED = "set the column"


def updated(rows: Any, values: Mapping[str, Any], config: TableConfig) -> Any:
    """Return the rows with new values in the columns of `values`: constants, or expressions over the table's columns.
    """
    check_names(values, config, ASKED, fixed=True)
    if not isinstance(rows, pa.Table):
        from pyspark.sql.functions import col

        names = config.schema.names
        return rows.select(
            *(spark_column(values[n], n, config.schema, ASKED) if n in values else col(n) for n in names)
        )
    columns = computed(rows, values, config.schema, ASKED)
    return pa.table({name: columns[name] if name in values else rows[name] for name in config.schema.names})
