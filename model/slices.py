"""Lists the file slices of a table. The rule that assigns log files to slices is in `kernel/slicing.py`."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from .kernel.slicing import base_files, writes_by_slice
from .kernel.table import Log, Table

if TYPE_CHECKING:
    from .rules import Rules


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


def files_by_slice(rules: Rules, table: Table, group: int) -> tuple[FileSlice, ...]:
    """Return each file slice with its base file and logs. The first slice is skipped if it has no logs."""
    visible_bases = base_files(rules, table, group, inf)
    listed = []
    for barrier, writes in writes_by_slice(rules, table, group).items():
        shown = tuple([w for w in writes if rules.is_visible(w.requested, w.completed, inf)])
        logs = rules.merged_logs(rules, table, group, shown, inf)
        if barrier is not None or logs:
            listed.append(FileSlice(group, barrier, barrier if barrier in visible_bases else None, logs))
    return tuple(listed)


def file_slices(rules: Rules, table: Table, group: int) -> tuple[FileSlice, ...]:
    """Return the file slices of one file group according to `rules`, oldest first, including superseded slices."""
    return rules.file_slices(rules, table, group)
