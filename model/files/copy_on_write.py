"""Copy-on-write tables: a write merges its rows onto the base file of each group that it touches, and puts a new one.

There are no log files and so nobody merges anything later: a read takes the newest base file. What was deleted leaves
no trace in it, as in Hudi: an update that is older by its ordering value and completes later brings the row back.
"""

from __future__ import annotations

from ..merging.fold import NOTHING, Fold
from ..table import FileSlice, Table, Write


def is_copy_on_write(table: Table) -> bool:
    """Whether the writes of a table put base files."""
    return any(write.onto for write in table.writes)


def newest_base(published: tuple[object, ...], group: int) -> int | None:
    """The requested time of the base file that a reader or writer takes in a group: the greatest."""
    writes = (entry for entry in published if isinstance(entry, Write))
    return max((write.requested for write in writes if group in write.groups), default=None)


def content(table: Table, group: int, base: int | None) -> Fold | None:
    """What the base file of an instant holds: the rows of its write over those of the base file that it merged."""
    write = next((write for write in table.writes if write.requested == base), None)
    if write is None:
        return None
    return Fold(content(table, group, dict(write.onto)[group]), write.logs(group))


def snapshot_of(table: Table, group: int, standing: tuple[Write, ...]) -> Fold:
    """The newest base file among those of the writes that stand."""
    base = content(table, group, newest_base(standing, group))
    return NOTHING if base is None else Fold(base, ())


def window_of(table: Table, group: int, inside: tuple[Write, ...]) -> Fold:
    """What the base files of a window changed, each against the one that it was merged onto."""
    files = (content(table, group, write.requested) for write in inside if group in write.groups)
    return Fold(None, (), changed=tuple(file for file in files if file is not None))


def slices_of(table: Table, group: int) -> tuple[FileSlice, ...]:
    """A slice for each base file."""
    bases = sorted(write.requested for write in table.writes if write.completed and group in write.groups)
    return tuple(FileSlice(group, base, base, ()) for base in bases)
