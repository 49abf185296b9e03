"""The oracle computes the required answer of a read from the completed writes alone, without file slices, base files or
plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter, itemgetter
from typing import NamedTuple

from ..kernel.table import Log, Write
from ..mechanisms.insert_overwrite import ranks_at, replaced


class Row(NamedTuple):
    """The record of one key in one log. `sets` names the columns set by a partial update."""

    ordering: int
    deleted: bool
    sets: tuple[str, ...] = ()


def completed(published: Iterable[object], after: float, until: float) -> tuple[Write, ...]:
    """Return the writes that completed in the window (after, until], in completion order."""
    writes = [entry for entry in published if isinstance(entry, Write) and entry.completed is not None]
    inside = [write for write in writes if after < (write.completed or 0) <= until]
    return tuple(sorted(inside, key=attrgetter("completed")))


def logs_by_rank(writes: Iterable[Write], group: int) -> tuple[Log, ...]:
    """Return the log files of a file group, sorted by completion time and version. Among rows with equal ordering
    values, the row in the last log wins.

    A replace (insert overwrite) ranks by its requested time, and hides every write that completed before that time.
    """
    ranked = [(ranks_at(write, group) or 0, write) for write in writes]
    # The newest replace decides: what an older one hides is older than the newest one, too.
    hidden_before = max([at for at, write in ranked if write.marks and group in replaced(write)], default=0)
    return tuple([
        (write.requested, version)
        for at, write in sorted(ranked, key=itemgetter(0))
        if at >= hidden_before
        for version in sorted([version for in_group, version in write.files if in_group == group])
    ])  # fmt: skip


def winner(logs: tuple[Log, ...], rows: Mapping[Log, Row], event_time: bool) -> Log | None:
    """Return the log whose row wins the merge; None if no log has a row. `logs` is in merge order (see `logs_by_rank`),
    and `rows` contains the rows of one key.
    """
    here = [(rows[log].ordering if event_time else 0, place, log) for place, log in enumerate(logs) if log in rows]
    # The place breaks ties of ordering values, so that the later write wins.
    return max(here)[2] if here else None
