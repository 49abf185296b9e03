"""Detects table services of other engines on a table of nbcc: their instants lack nbcc's mark (docs/contract.md,
Assumptions).

A compaction of Hudi merges by requested time and drops tombstones. The file groups that begin with its base files are
merged by Hudi's rules until nbcc's next compaction. A clean of Hudi publishes no horizon. If Hudi executes the plan of
a replacing write as a compaction, it writes no rows, and the rows to be replaced stay visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..files.slices import FileSlice, newest_bases
from ..timeline import Commits, Timeline


def foreign_services(timeline: Timeline, commits: Commits, slices: Iterable[FileSlice]) -> Iterator[str]:
    """One sentence about the effect on reads for each service of another engine, by requested time."""
    bases = [piece.base.requested for piece in newest_bases(slices) if piece.base]
    for instant in timeline.instants:
        if instant.completed is None:
            continue
        if instant.action == "clean" and not commits.clean(instant.requested).horizon:
            yield f"another engine's clean {instant.requested} has deleted files by its own policy"
        if not timeline.is_compaction(instant) or commits.commit(instant).own:
            continue
        if commits.plan(instant.requested).replaces:
            yield f"another engine has taken the replace {instant.requested} for a compaction: it has replaced nothing"
        elif count := bases.count(instant.requested):
            groups = f"{count} file group{'' if count == 1 else 's'}"
            compaction = f"another engine's compaction {instant.requested}"
            yield f"{groups} merged by Hudi's rules: {compaction} wrote the base files"
