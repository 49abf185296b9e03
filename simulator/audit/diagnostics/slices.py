"""Diagnostics of file slices and plans. The promises PART and QUIET require that each log is in exactly one slice and
is merged exactly once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from nbcc.engine.audit import Commit
from nbcc.engine.audit.amounts import several
from nbcc.engine.audit.log_fates import Fate, compactions_that_left_logs_out
from nbcc.engine.file_names import in_partition, parse_base
from nbcc.engine.files.group_files import BaseFile, Group, LogFile

from ..view import PlannedGroup, TableView, timeline_file
from .diagnostic import AGAIN, RESTORE, RESTORE_COMPLETED, RESTORE_TIMELINE, UNDO, Rule, Spot, again, filled, undo
from .times import is_time

_DROP: Final = "nbcc table {table} plans --drop {instant}"
_COMPACT: Final = "compact the file group once more (nbcc table {table} compact), and compare its rows with the source"
_REPLACE: Final = "replace the partition once more"
_AS_OF: Final = "do not read as of a time before {instant}"
_ELSEWHERE: Final = "write the rows of {instant} again into another file group"
_COMPLETED_OR_DROP: Final = f"{RESTORE_COMPLETED}, or drop the plan: {_DROP}"
_RESTORE_OR_DROP: Final = f"{RESTORE}, or drop the plan: {_DROP}"
_LET: Final = "let it complete, or "


def lost(view: TableView) -> Iterator[Spot]:
    """Yield completed logs whose rows a snapshot must contain, although no compaction plan took them and no reader sees
    them.
    """
    for log, fate in _fates(view):
        if fate.kind == "lost" and fate.over in view.audit.plans:
            yield Spot(log.path, fate.because, again(view, log.path))


def covered(view: TableView) -> Iterator[Spot]:
    """Yield completed logs that a bulk insert has hidden by adding a newer base file to their file group. The base file
    lacks the logs' rows.
    """
    for log, fate in _fates(view):
        if fate.kind == "lost" and fate.over not in view.audit.plans:
            yield Spot(log.path, fate.because, again(view, log.path))


def _fates(view: TableView) -> Iterator[tuple[LogFile, Fate]]:
    """Yield the logs of the file groups that have a base file or plan, each with its fate."""
    for group, files in view.by_group.items():
        if group in view.plans or any(isinstance(file, BaseFile) for file in files):
            yield from view.fates.of_group(group, files)


def twice(view: TableView) -> Iterator[Spot]:
    """Yield logs that a compaction plan wrongly includes: uncommitted logs, logs completed after the plan was
    requested, logs of earlier plans, logs of the slice of a plan that was pending, and logs that a log compaction had
    merged.
    """
    merged = _merged_by(view)
    for (partition, _), parts in view.plans.items():
        taken: dict[str, str] = {}
        barriers = {part.barrier for part in parts}
        for part in parts:
            for name in part.operation.logs:
                path = in_partition(partition, name)
                file = view.counted.get(path) or view.audit.files.get(path)
                completed = None if file is None else file.completed
                if file is not None and (file.requested in view.removed or not is_time(completed or file.requested)):
                    continue  # reported already: its instant was removed, or has no valid time
                if file is not None and completed is None:
                    because = (
                        f"the plan {part.barrier} takes it, and its instant {file.requested} is not completed, or its"
                        " completed file was removed"
                    )
                    remedy = _COMPLETED_OR_DROP if part.completed is None else RESTORE_COMPLETED
                    yield Spot(path, because, filled(remedy, instant=part.barrier))
                    continue
                kept = file is not None and file.requested in barriers  # the deletes that a compaction kept
                wrong = None
                if completed is not None and not kept:
                    wrong = _wrongly_taken(parts, part, completed) or _merged_already(merged.get(path), part)
                if wrong is None and name in taken and not kept:
                    wrong = f"the plans {taken[name]} and {part.barrier} both take it"
                if wrong is None:
                    taken[name] = part.barrier
                else:
                    yield Spot(path, wrong, _remedy(part))


def _merged_by(view: TableView) -> dict[str, Commit]:
    """Map the path of each log that a log compaction has merged to the commit of the log compaction."""
    commits = view.audit.commits.values()
    return {path: commit for commit in commits for covered in commit.covers.values() for path in covered}


def _merged_already(by: Commit | None, part: PlannedGroup) -> str | None:
    if by is None or (by.instant.completed or "~") >= part.barrier:
        return None
    return f"the plan {part.barrier} takes it although the log compaction {by.instant.requested} had merged it"


def _wrongly_taken(parts: Iterable[PlannedGroup], part: PlannedGroup, completed: str) -> str | None:
    """Return why a plan must not take a log that completed at this time; None if it may."""
    if completed >= part.barrier:
        return (
            f"the plan {part.barrier} takes it although it completed at {completed}: it belongs to the slice of that"
            " plan as well"
        )
    before = (each for each in parts if each.barrier <= completed and each.barrier < part.barrier)
    pending = [each.barrier for each in before if (each.completed or "~") > part.barrier]
    if not pending:
        return None
    return (
        f"the plan {part.barrier} takes it although the plan {max(pending)}, to whose slice it belongs, was pending:"
        " readers take the base file of the later plan alone"
    )


def _remedy(part: PlannedGroup) -> str:
    if part.completed is None:
        return filled(_DROP, instant=part.barrier)
    return _COMPACT


def cannot_run(view: TableView) -> Iterator[Spot]:
    for (partition, _), parts in view.plans.items():
        for part in parts:
            if part.completed is not None:
                continue
            names = [*([part.operation.base_file] if part.operation.base_file else []), *part.operation.logs]
            for path in (in_partition(partition, name) for name in names):
                if path not in view.audit.listing:
                    because = f"the pending plan {part.barrier} needs it, but it is missing"
                    remedy = filled(_RESTORE_OR_DROP, instant=part.barrier)
                    if proof := view.removed.get(part.barrier):
                        because += f": {proof}, so the plan had completed, and its completed file was removed"
                        remedy = RESTORE_COMPLETED
                    yield Spot(path, because, remedy)


def left_out(view: TableView) -> Iterator[Spot]:
    """Yield base files into which a compaction has merged fewer or more logs than its plan lists."""
    for path, because, logs in compactions_that_left_logs_out(view.audit):
        if not view.audit.rewritten >= {*logs}:
            lacking = [log for log in logs if view.named_after(log) not in view.audit.plans]
            yield Spot(path, because, again(view, *lacking) if lacking else RESTORE)
    for requested, commit in view.audit.commits.items():
        plan = view.audit.plans.get(requested)
        groups = {*plan.groups} if plan else set()
        for stat in commit.stats if plan else ():
            file = view.counted.get(stat.path)
            merged = stat.log_files_compacted
            if isinstance(file, BaseFile) and merged is not None and (file.partition, file.file_id) not in groups:
                yield Spot(stat.path, f"the compaction {requested} wrote it, but its plan lacks this group", RESTORE)


def old_base(view: TableView) -> Iterator[Spot]:
    """Yield compaction plans that do not start from the newest base file. Such a compaction can lose updates that the
    newest base file contains.
    """
    for group, parts in view.plans.items():
        bases = sorted(base.requested for base in view.bases(group))
        for part in parts:
            if view.audit.plans[part.barrier].replaces:
                continue  # a replace takes no files on purpose
            before = bisect_left(bases, part.barrier)
            parsed = parse_base(part.operation.base_file) if part.operation.base_file else None
            newest = bases[before - 1] if before else None
            if newest is not None and newest != (parsed.instant if parsed else None):
                because, remedy = f"it starts from {part.operation.base_file or 'no base file'}", _remedy(part)
                if parsed is not None and parsed.instant in view.removed:
                    because += f", but no timeline has {parsed.instant}: its timeline files were removed"
                    remedy = RESTORE_TIMELINE
                else:
                    because += f", but {newest} is newer"
                yield Spot(f".hoodie/timeline/{part.barrier}.compaction.requested", because, remedy)


def in_part(view: TableView) -> Iterator[Spot]:
    """Yield the completed replaces of nbcc that put no base file into a file group of their plan. If the group had
    rows, they are read again, until another replace of the group.
    """
    replaces = {requested: view.audit.commits[requested] for requested, plan in view.audit.plans.items()
                if plan.replaces and requested in view.audit.commits}  # fmt: skip
    for requested, commit in replaces.items():
        for group in sorted({*view.audit.plans[requested].groups}):
            bases = {base.requested for base in view.bases(group)}
            old = [file for file in view.by_group.get(group, ()) if (file.completed or "~") < requested]
            because = f"the replace {requested} put no base file into {'/'.join(filter(None, group))}"
            promises: tuple[str, ...] = ("QUIET",)
            remedy = _REPLACE
            if old:
                because = f"{because}, so that its old rows are read again"
                promises = ("SNAP", "TRAVEL", "INCR", *(["RO"] if bases else []))
            if again := min((time for time in bases & {*replaces} if time > requested), default=None):
                because, remedy = f"{because} as of the times before {again}", filled(_AS_OF, instant=again)
                promises = ("TRAVEL",)
            if requested not in bases and (old or not again):
                yield Spot(timeline_file(commit.instant), because, remedy, promises=promises)


def replaced(view: TableView) -> Iterator[Spot]:
    """Yield files that were written to a replaced file group, and are therefore hidden permanently (apache/hudi#19793).
    """
    for group, commit in view.replaced.items():
        for file in view.by_group.get(group, ()):
            replacer = commit.instant.completed or ""
            if file.completed is not None and file.completed >= replacer:
                because = f"the replace {commit.instant.requested} hides its file group: no reader sees it"
                yield Spot(file.path, because, filled(_ELSEWHERE, instant=file.requested))


def first_log(view: TableView) -> Iterator[Spot]:
    """Yield uncommitted logs that are the oldest file of their file group. Hudi then hides all committed logs of the
    file group (apache/hudi#19774).
    """
    first_active = view.audit.first_active or ""
    oldest: dict[Group, LogFile] = {}
    for file in view.audit.files.values():
        group = (file.partition, file.file_id)
        if isinstance(file, LogFile) and (group not in oldest or file.requested < oldest[group].requested):
            oldest[group] = file
    for group, log in oldest.items():
        hidden = [f for f in view.by_group.get(group, ()) if f.completed]
        based = any(isinstance(f, BaseFile) for f in hidden)
        if log.completed is None and log.requested >= first_active and hidden and not based:
            because = (
                f"it is the oldest log of its group and not committed: Hudi 1.2.0 hides"
                f" {several(len(hidden), 'committed log')}"
            )
            yield Spot(log.path, because, _LET + undo(view, log.requested), "AT RISK")


_WRONG_ROWS: Final = ("SNAP", "INCR", "RO")
"""A base file that lacks rows makes every read of its file group wrong."""

RULES: Final = (
    Rule("committed-log-lost", "a committed log that no reader sees", (*_WRONG_ROWS, "PART", "QUIET"), lost, AGAIN),
    Rule("base-file-over-logs", "a bulk insert into a file group that had logs", (*_WRONG_ROWS, "PART"), covered,
         AGAIN),
    Rule("log-in-two-slices", "a log in two slices, or one that a plan must not take", ("PART", "QUIET"), twice,
         (_DROP, _COMPACT, RESTORE_COMPLETED, _COMPLETED_OR_DROP)),
    Rule("compaction-left-logs-out", "a base file that lacks logs of its plan", (*_WRONG_ROWS, "QUIET"), left_out,
         (*AGAIN, RESTORE)),
    Rule("plan-from-old-base", "a plan that starts from an old base file", (*_WRONG_ROWS, "QUIET"), old_base,
         (_DROP, _COMPACT, RESTORE_TIMELINE)),
    Rule("plan-cannot-run", "a pending plan whose inputs are missing", ("PROGRESS", "CLEAN"), cannot_run,
         (_RESTORE_OR_DROP, RESTORE_COMPLETED)),
    Rule("replaced-in-part", "a replace that left out a file group of its plan",
         ("SNAP", "TRAVEL", "INCR", "RO", "QUIET"), in_part, (_REPLACE, _AS_OF)),
    Rule("written-after-replace", "a file in a file group that a replace hides", ("SNAP", "ACK", "INCR"), replaced,
         (_ELSEWHERE,)),
    Rule("hidden-by-a-pending-log", "committed logs that Hudi hides behind a pending one", ("SNAP",), first_log,
         tuple(_LET + each for each in UNDO)),
)  # fmt: skip
