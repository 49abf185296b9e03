"""Refuses a write of a process that opened the table before its record index was made.

Such a process does not compare its keys with the index, and could insert a key into a second partition. `index` puts a
mark into the timeline folder, which each writer lists under the lock before it publishes: so the look costs no request.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..definition.load import open_table
from ..errors import Conflict
from ..timeline.history import Active


def unknown_index(context: Context, config: TableConfig, requested: str, now: Active) -> Conflict | None:
    """Return a `Conflict` if the table has a record index that this process does not know. The caller holds the lock
    under which the timeline `now` was listed.
    """
    if now.indexed <= (config.record_index.built if config.record_index else ""):
        return None
    # A call that died has left a mark without an index. Otherwise the properties are read once, for the refusal.
    if open_table(context.storage).record_index is None:
        return None
    return Conflict(
        f"publish the write {requested}",
        "the table has a record index, which was made after this process opened the table",
        "open it again (Table.open), and write the batch again",
    )
