"""Rules for reading a table with bulk inserts: a base file put by a write begins a file slice and contains the rows of
the write.
"""

from __future__ import annotations

from typing import NamedTuple

from ...kernel.merge import Fold
from ...kernel.table import Log, Table, Write
from ...machine.marks import in_shapes, mark
from ...rules import Rules


@in_shapes("groups", "kind")
class Loaded(NamedTuple):
    """A mark of a write: the file groups in which the write put a base file instead of logs."""

    groups: tuple[int, ...] = ()
    kind: str = "loaded"


def loaded(write: Write) -> tuple[int, ...]:
    """Return the file groups in which a write has put a base file."""
    return mark(write, Loaded).groups if write.marks else ()


class WithBulkInserts(Rules):
    """The rules for reading tables with bulk inserts."""

    compares_requested_times = False

    def logs_of(self, write: Write, group: int) -> tuple[Log, ...]:
        return () if write.marks and group in loaded(write) else super().logs_of(write, group)

    def bases(self, table: Table, group: int) -> list[tuple[int, int | None]]:
        own = [(write.requested, write.completed) for write in table.writes if write.marks and group in loaded(write)]
        return super().bases(table, group) + own

    def base_file(self, table: Table, group: int, barrier: int | None) -> Fold | None:
        by = next((w for w in table.writes if w.requested == barrier and group in loaded(w)), None)
        # The rows of the write itself are the base: it was put into an empty file group, so that nothing is merged
        # below it.
        return super().base_file(table, group, barrier) if by is None else Fold(None, by.files_in(group))

    def window(self, table: Table, group: int, after: float, until: float) -> Fold:
        writes = self.window_writes(table, group, after, until)
        files = tuple(file for write in writes if group in loaded(write) for file in write.files_in(group))
        fold = super().window(table, group, after, until)
        # First: a base file is older than every log that is put into its group.
        return fold._replace(logs=(*files, *fold.logs)) if files else fold
