"""The operations that read the table before they write. A history plays every second one as a merge that does the same:
its source has the rows that the model finds, and each of them matches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from nbcc.engine.actions import upsert
from nbcc.engine.config import TableConfig
from nbcc.engine.context import Context
from nbcc.engine.dml import MergeBuilder
from nbcc.model import World
from nbcc.model.mechanisms.conditions import DELETE, UPDATE

from ...observables import Batch
from .rows import to_table

EVERY_ROW: Final = [("ts", ">=", 0)]
"""The condition of a history's deletes and updates."""

Change = Callable[..., Any]
"""Runs an operation: context, configuration, then its arguments by name."""


def change(verb: str, run: Change, batch: Batch, world: World, place: int) -> tuple[Change, dict[str, Any]]:
    """Return the operation that does what `verb` does, and its arguments. `batch` are the rows that the model writes,
    and `place` counts the operations that began before.
    """
    if place % 2:
        return merge, {"source": to_table(batch, world).drop_columns("_hoodie_is_deleted"), "deletes": verb == DELETE}
    if verb == DELETE:
        return run, {"where": EVERY_ROW}
    value = next(iter(next(iter(batch.values())).values())).value
    return run, {"where": EVERY_ROW, "set": {"value": value}}


def merge(context: Context, config: TableConfig, source: Any, deletes: bool) -> Any:
    """Delete the rows of the table that match a row of `source`, or give them its value."""

    def write(rows: Any, time: str | None) -> Any:
        return upsert.run(context, config, rows, based_on=time)

    on = (*config.record_key, *config.partition_by)
    described = MergeBuilder(context, config, source.select([*on, "value"]), on, write)
    return (described.when_matched_delete() if deletes else described.when_matched_update()).execute()


READ_FIRST: Final = (DELETE, UPDATE)
