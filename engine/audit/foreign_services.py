"""Detects table services that another engine ran on an nbcc table. Instants of other engines lack the properties that
nbcc adds to its own instants (docs/contract.md, Assumptions).

A compaction by another engine merges records by requested time and drops deletes. If another engine has written a base
file, readers merge the file group by that engine's rules until nbcc compacts it. A clean by another engine records no
horizon (oldest readable time). If another engine mistakes nbcc's pending insert overwrite for a compaction, that engine
completes the overwrite without files. The replaced rows then stay visible.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..files.slices import newest_bases
from .amounts import several
from .table_snapshot import TableSnapshot


def foreign_services(snapshot: TableSnapshot) -> Iterator[str]:
    """Yield one sentence about each table service of another engine and its effect on reads."""
    audit, timeline = snapshot.audit, snapshot.shown
    bases = [piece.base.requested for piece in newest_bases(snapshot.slices) if piece.base]
    for instant in timeline.instants:
        requested = instant.requested
        clean, commit = audit.clean_plans.get(requested), audit.commits.get(requested)
        plan = audit.plans.get(requested)
        if instant.completed is None:
            continue
        if instant.action == "clean" and not (clean and clean.horizon):
            yield f"the clean {requested} of another engine deleted files by its own policy"
        if not timeline.is_compaction(instant) or commit is None or commit.own:
            continue
        if plan is not None and plan.replaces:
            yield f"another engine took the replace {requested} for a compaction: it replaced nothing"
        elif count := bases.count(requested):
            groups = several(count, "file group")
            yield f"Hudi's rules merge {groups}: the compaction {requested} of another engine wrote the base files"
