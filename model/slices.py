"""The file slices of a table as an observer lists them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from .kernel.slicing import base_files, writes_by_slice
from .kernel.table import Log, Table

if TYPE_CHECKING:
    from .rules import Rules


class FileSlice(NamedTuple):
    """One slice of a file group. A pending plan has a slice (its barrier, no base) even before it has a log.

    `base` is the requested time of the compaction that wrote the base file. The log with which a compaction keeps its
    tombstones is part of its base and not listed among `logs`.
    """

    group: int
    barrier: int | None
    base: int | None
    logs: tuple[Log, ...]


def files_by_slice(rules: Rules, table: Table, group: int) -> tuple[FileSlice, ...]:
    """Each slice with its base file and its logs. A slice with neither barrier nor log is left out."""
    there = base_files(rules, table, group, inf)
    found = []
    for barrier, writes in writes_by_slice(rules, table, group).items():
        shown = tuple([w for w in writes if rules.is_visible(w.requested, w.completed, inf)])
        logs = rules.merged_logs(rules, table, group, shown, inf)
        if barrier is not None or logs:
            found.append(FileSlice(group, barrier, barrier if barrier in there else None, logs))
    return tuple(found)


def file_slices(rules: Rules, table: Table, group: int) -> tuple[FileSlice, ...]:
    """The slices of one file group by these rules, oldest first, superseded ones included."""
    return rules.file_slices(rules, table, group)
