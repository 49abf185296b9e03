"""Services of other engines on a table of ours: found by the mark that their instants lack (docs/contract.md,
Assumptions).

A compaction that is not ours folds by requested time and drops tombstones: the file groups that begin with its base
files are merged by its rules, until a compaction of ours. A clean that is not ours publishes no horizon. Who takes a
replacing write's plan for a compaction carries it out with nothing, and what it should have hidden stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..files.slices import FileSlice, newest_bases
from ..timeline import Commits, Timeline


def foreign_services(timeline: Timeline, commits: Commits, slices: Iterable[FileSlice]) -> Iterator[str]:
    """What other engines' services mean for whoever reads the table now, a sentence each, by requested time."""
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
            who = f"another engine's compaction {instant.requested}"
            yield f"{groups} merged by Hudi's rules: {who} wrote the base files"
