"""Finds the newest settled time of a listing if the instants of one entry of the decision log are published at the same
time (`Rules.publication`).

Such a listing may show an instant and miss an earlier one of the same entry. Only the last entry can have missing
instants: the next one is created after them. A reader that has listed the timeline therefore reads the last entry, and
reads as of a time before the first instant of it that the listing has missed. A listing that begins after that shows
all instants that completed at or before this time.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..storage import Storage
from .decisions import last_entry
from .instant import Instant


def newest_settled(storage: Storage, listed: Iterable[Instant]) -> str:
    """Return the greatest completion time that is earlier than each missing instant of the last entry; '' if there is
    none. `listed` contains the instants of a listing that ended before this call.
    """
    shown = {instant.completed: instant.requested for instant in listed if instant.completed}
    # Read after the listing: an entry that was the last one before it may have been completed during it.
    last = last_entry(storage)
    decided = () if last is None else (item for item in last.items if item.kind == "commit")
    # '~' is greater than every time, which consists of digits.
    first = min((item.time for item in decided if shown.get(item.time) != item.requested), default="~")
    return max((time for time in shown if time < first), default="")
