"""Lists the file slices of a table. The rule that assigns log files to slices is in `kernel/slicing.py`."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from .kernel.reads import ReadRules, base_files, visible
from .kernel.slicing import writes_by_slice
from .kernel.table import Log, Table


class FileSlice(NamedTuple):
    """One file slice of a file group. `barrier` is the requested time of the compaction plan that started the slice;
    None for the first slice. The slice started by a pending plan has no base file yet, and may have no logs.

    `base` is the requested time of the compaction that wrote the base file; None if the slice has no base file. A log
    file that contains only a compaction's tombstones (retained deletes) is part of the base file, and is not listed in
    `logs`.
    """

    group: int
    barrier: int | None
    base: int | None
    logs: tuple[Log, ...]


class FileSliceRules(ReadRules):
    """The rule that lists the file slices of a table."""

    def file_slices(self, table: Table, group: int) -> tuple[FileSlice, ...]:
        """Return the file slices of one file group, oldest first, including superseded slices. The first slice is
        skipped if it has no logs.
        """
        visible_bases = base_files(self, table, group, inf)
        listed = []
        for barrier, writes in writes_by_slice(self, table, group).items():
            logs = self.merged_logs(table, group, visible(self, writes, inf), inf)
            if barrier is not None or logs:
                listed.append(FileSlice(group, barrier, barrier if barrier in visible_bases else None, logs))
        return tuple(listed)
