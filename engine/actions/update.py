"""Updates the rows that match a condition: reads the newest settled state, and upserts the rows that it computes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from ..writes.values import check_names, computed, spark_column
from . import upsert
from .newest_state import Condition, is_empty, rows_at, state_of

ASKED = "set the column"


def run(
    context: Context,
    config: TableConfig,
    set: Mapping[str, Any],
    where: Condition = None,
    *,
    partitions: Collection[str] | None = None,
) -> Instant | None:
    """Set columns of the rows that match `where` (default: all rows), as of the newest settled state T. Returns None
    if no row matches.

    A value of `set` is a constant, or an expression over the table's columns: a pyarrow expression without Spark, a
    Column with Spark. `where` and `partitions` have the same meaning as in `snapshot`; with Spark, `where` may also be
    a Column or a text of SQL. In a table with partial updates,
    only the given columns are written. The ordering value of a row stays unless `set` names it.

    An optimistic writer raises `Conflict` if another write to a partition that it has read has completed since T. A
    non-blocking writer writes blindly, and an update that completes after T is lost unless its ordering value is
    greater.
    """
    config.check_writable()
    time = state_of(context)
    rows = updated(rows_at(context, config, time, where=where, partitions=partitions), set, config)
    if is_empty(rows):
        return None
    only: Any = [*set] if config.partial_update else None
    if only is not None:
        rows = rows.select([*dict.fromkeys([*config.always_set, *set])])
    return upsert.run(context, config, rows, based_on=time, reads=partitions, columns=only)


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
