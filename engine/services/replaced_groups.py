"""The file groups that a resize has replaced: which of their files a clean deletes, and when the resize is archived."""

from __future__ import annotations

from ..context import Context
from ..file_names import parse_base, parse_log, split_path
from ..files.group_files import Group, listed_files
from ..files.slices import build_slices, kept_since, pending_plans
from ..timeline import Instant, completion_of
from ..timeline.history import Current, History
from ..timeline.resize_plans import resizes
from ..writes.mapping import pending_resize
from .resizing import slices_of


def resize_inputs(context: Context, history: History) -> frozenset[str]:
    """Return the files that the pending resize merges, which a clean must keep: a compaction that was planned before
    the resize may complete first, and its base file replaces them.
    """
    pending = pending_resize(context, history.active)
    if pending is None:
        return frozenset()
    return frozenset(path for piece in slices_of(context, history.whole, pending[0].requested) for path in piece.paths)


def unneeded_files(context: Context, history: History, horizon: str, kept: frozenset[str]) -> frozenset[str]:
    """Return the files in file groups that were replaced at or before the `horizon`. No read opens them, and every
    write that was pending moves its logs. A resize is left out while a savepoint needs one of the files (`kept`) or a
    compaction is pending in one of the groups: their files are deleted together.
    """
    busy = pending_plans(history.active, context.commits, context.rules).keys()
    found: set[str] = set()
    for instant, groups in _not_cleaned(context, history.current):
        if completion_of(instant) <= horizon and busy.isdisjoint(groups):
            paths = _files_in(context, history, groups)
            found |= paths if kept.isdisjoint(paths) else set()
    return frozenset(found)


def older_files(context: Context, history: History, horizon: str) -> frozenset[str]:
    """Return the files of file groups that were replaced after the `horizon` which no read as of the horizon or later
    needs: they are older than a base file that had completed by then. Files that an earlier clean planned to delete
    are left out.
    """
    timeline, commits, rules = history.current, context.commits, context.rules
    replaced = (of_it for instant, of_it in _not_cleaned(context, timeline) if completion_of(instant) > horizon)
    if not (groups := frozenset[Group]().union(*replaced)):
        return frozenset()
    files = (file for file in listed_files(timeline, commits, rules) if (file.partition, file.file_id) in groups)
    slices = kept_since(build_slices(files, pending_plans(timeline, commits, rules), rules),
                        commits.horizon(timeline) or "", rules)  # fmt: skip
    kept = {path for piece in kept_since(slices, horizon, rules) for path in piece.paths}
    return frozenset(path for piece in slices for path in piece.paths if path not in kept)


def not_cleaned(context: Context, history: History) -> frozenset[Instant]:
    """Return the resizes whose replaced file groups still have files. They are not archived, because readers that do
    not read the archive would find the replaced groups again.
    """
    return frozenset(instant for instant, _ in _not_cleaned(context, history.current))


def _not_cleaned(context: Context, timeline: Current) -> list[tuple[Instant, frozenset[Group]]]:
    # Only ever grows: a file that a completed clean has deleted does not come back.
    cleaned = context.commits.decoded.cleaned_resizes
    found = []
    for instant, _ in resizes(context.commits, timeline.completed):
        groups = frozenset(context.commits.commit(instant).groups_replaced)
        if instant.requested not in cleaned and groups:
            if _has_been_cleaned(context, timeline, instant, groups):
                cleaned.add(instant.requested)
            else:
                found.append((instant, groups))
    return found


def _has_been_cleaned(context: Context, timeline: Current, resize: Instant, groups: frozenset[Group]) -> bool:
    """Return whether a completed clean has deleted the files of replaced file groups. Each such clean deletes all of
    them, and its horizon is at or after the completion of the resize.
    """
    for clean in timeline.cleans:
        horizon = context.commits.clean_summary(clean.requested).horizon or ""
        if clean.completed and clean.requested > completion_of(resize) and horizon >= completion_of(resize):
            paths = context.commits.clean(clean.requested).paths
            if any(_group_of(path) in groups for path in paths):
                return True
    return False


def _files_in(context: Context, history: History, groups: frozenset[Group]) -> set[str]:
    writes = (instant for instant in history.whole.completed if instant.writes)
    stats = (stat for instant in writes for stat in context.commits.commit(instant).stats)
    return {stat.path for stat in stats if (stat.partition, stat.file_id) in groups}


def _group_of(path: str) -> Group | None:
    partition, name = split_path(path)
    parsed = parse_base(name) or parse_log(name)
    return (partition, parsed.file_id) if parsed else None
