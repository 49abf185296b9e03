"""The file slices of a table, as a model lists them for an observer. The rule that assigns logs to slices is in
`kernel/slicing.py`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from .kernel.slicing import base_files, writes_by_slice
from .kernel.table import Log, Table

if TYPE_CHECKING:
    from .rules import Rules


class FileSlice(NamedTuple):
    """One slice of a file group. A pending plan has a slice with a barrier and no base file, even if no log belongs to
    that slice.

    `base` is the requested time of the compaction that wrote the base file; None if the slice has no base file. The log
    that contains the tombstones of a compaction belongs to its base file and is not listed in `logs`.
    """

    group: int
    barrier: int | None
    base: int | None
    logs: tuple[Log, ...]


def files_by_slice(rules: Rules, table: Table, group: int) -> tuple[FileSlice, ...]:
    """Return each slice with its base file and logs. A slice with neither barrier nor log is omitted."""
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
