"""Diagnostics of file slices and plans. The promises PART and QUIET require that each log is in exactly one slice and
is merged exactly once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import Final

from nbcc.engine.audit.amounts import several
from nbcc.engine.file_names import in_partition, parse_base, parse_log, split_path
from nbcc.engine.files.group_files import BaseFile, Group, LogFile

from ..view import GroupPlan, View
from .diagnostic import RESTORE, Case, Rule, again, undo

_LOADS: Final = ("BULK_INSERT", "BULK_INSERT_PREPPED")
_DROP: Final = "nbcc table {table} plans --drop "


def lost(view: View) -> Iterator[Case]:
    """Yield completed logs that no compaction plan includes, although a compaction scheduled after their completion has
    completed. No reader sees their rows.

    The plans of replacing writes are ignored, because they omit all logs on purpose.
    """
    commits = view.audit.commits.values()
    covers = {split_path(path)[1]: names for commit in commits for path, names in commit.covers}
    for group, parts in view.plans.items():
        done = [part for part in parts if part.completed is not None]
        barriers = [part.barrier for part in done]  # they rise
        compactions = {*barriers}
        taken = _with_covered(covers, {name for part in parts for name in part.operation.logs})
        for log in _logs(view, group) if done else ():
            after = bisect_right(barriers, log.completed or "")
            if after == len(done) or log.requested in compactions or log.path in view.audit.rewritten:
                continue
            replaced = view.audit.plans[barriers[after]].replaces
            if not replaced and log.path.rpartition("/")[2] not in taken:
                because = (
                    f"it completed at {log.completed}, before the barrier {barriers[after]}, whose plan did not take"
                    " it: its slice is superseded and no reader sees its rows"
                )
                yield Case(log.path, because, again(view, log.path))


def _with_covered(covers: Mapping[str, tuple[str, ...]], names: set[str]) -> set[str]:
    if not covers:
        return names  # no copy of a million names for most tables
    logs, new = set[str](), names
    while new:
        logs |= new
        new = {each for name in new for each in covers.get(name, ())} - logs
    return logs


def covered(view: View) -> Iterator[Case]:
    """Yield completed logs that a bulk insert has hidden by adding a newer base file to their file group. The base file
    lacks the logs' rows.
    """
    for group, files in view.by_group.items():
        logs = [file for file in files if isinstance(file, LogFile) and file.completed]
        loaded = [b for b in view.bases(group) if logs and view.audit.commits[b.requested].operation in _LOADS]
        taken = {name for part in view.plans.get(group, ()) for name in part.operation.logs}
        for log in logs:
            over = next((b for b in loaded if log.completed and log.completed < b.requested), None)
            if over is not None and log.path.rpartition("/")[2] not in taken and log.path not in view.audit.rewritten:
                because = (
                    f"it completed at {log.completed}, before {over.path} was written over it: no reader sees its rows"
                )
                yield Case(log.path, because, again(view, log.path))


def _logs(view: View, group: Group) -> Iterator[LogFile]:
    return (f for f in view.by_group.get(group, ()) if isinstance(f, LogFile) and f.completed is not None)


def twice(view: View) -> Iterator[Case]:
    """Yield logs that a compaction plan wrongly includes: uncommitted logs, logs completed after the plan was
    requested, and logs of earlier plans.
    """
    for (partition, _), parts in view.plans.items():
        taken: dict[str, str] = {}
        barriers = {part.barrier for part in parts}
        for part in parts:
            for name in part.operation.logs:
                path = in_partition(partition, name)
                file = view.counted.get(path) or view.audit.files.get(path)
                completed = None if file is None else file.completed
                kept = file is not None and file.requested in barriers  # the deletes that a compaction kept
                if file is not None and completed is None:
                    because = f"the plan {part.barrier} takes it, and its instant {file.requested} is not completed"
                elif completed is not None and completed >= part.barrier and not kept:
                    because = (
                        f"the plan {part.barrier} takes it although it completed at {completed}: it belongs to the"
                        " slice of that plan as well"
                    )
                elif name in taken and not kept:
                    because = f"the plans {taken[name]} and {part.barrier} both take it"
                else:
                    taken[name] = part.barrier
                    continue
                yield Case(path, because, _remedy(part))


def _remedy(part: GroupPlan) -> str:
    if part.completed is None:
        return f"{_DROP}{part.barrier}"
    return "compact the file group once more (nbcc table {table} compact), and compare its rows with the source"


def cannot_run(view: View) -> Iterator[Case]:
    for (partition, _), parts in view.plans.items():
        for part in parts:
            if part.completed is not None:
                continue
            names = [*([part.operation.base_file] if part.operation.base_file else []), *part.operation.logs]
            for path in (in_partition(partition, name) for name in names):
                if path not in view.audit.listing:
                    because = f"the pending plan {part.barrier} needs it, but it is missing"
                    yield Case(path, because, f"{RESTORE}, or drop the plan: {_DROP}{part.barrier}")


def left_out(view: View) -> Iterator[Case]:
    """Yield base files into which a compaction has merged fewer or more logs than its plan lists."""
    for requested, commit in view.audit.commits.items():
        plan = view.audit.plans.get(requested)
        logs = {(each.partition, each.file_id): each.logs for each in reversed(plan.operations)} if plan else {}
        for stat in commit.stats if plan else ():
            file = view.counted.get(stat.path)
            if not isinstance(file, BaseFile) or stat.merged is None:
                continue
            planned = logs.get((file.partition, file.file_id))
            if planned is None:
                yield Case(stat.path, f"the compaction {requested} wrote it, but its plan lacks this group", RESTORE)
            elif stat.merged != len(planned) and stat.merged != len(planned) - _kept(planned, view):
                because = f"{several(stat.merged, 'log')} are in it, but its plan {requested} takes {len(planned)}"
                paths = [in_partition(file.partition, name) for name in planned]
                if not view.audit.rewritten >= {*paths}:
                    yield Case(stat.path, because, again(view, *paths))


def _kept(names: tuple[str, ...], view: View) -> int:
    """Return how many of a plan's logs were written by an earlier compaction to store tombstones."""
    return sum(name is not None and name.instant in view.audit.plans for name in map(parse_log, names))


def old_base(view: View) -> Iterator[Case]:
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
                because = f"it starts from {part.operation.base_file or 'no base file'}, but {newest} is newer"
                yield Case(f".hoodie/timeline/{part.barrier}.compaction.requested", because, _remedy(part))


def replaced(view: View) -> Iterator[Case]:
    """Yield files that were written to a replaced file group, and are therefore hidden permanently (apache/hudi#19793).
    """
    for group, commit in view.replaced.items():
        for file in view.by_group.get(group, ()):
            replacer = commit.instant.completed or ""
            if file.completed is not None and file.completed >= replacer:
                because = f"the replace {commit.instant.requested} hides its file group: no reader sees it"
                yield Case(file.path, because, f"write the rows of {file.requested} again into another file group")


def first_log(view: View) -> Iterator[Case]:
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
            yield Case(log.path, because, f"let it complete, or {undo(view, log.requested)}", "AT RISK")


RULES: Final = (
    Rule("committed-log-lost", "a committed log that no reader sees", ("SNAP", "PART", "QUIET"), lost),
    Rule("base-file-over-logs", "a bulk insert into a file group that had logs", ("SNAP", "PART"), covered),
    Rule("log-in-two-slices", "a log in two slices, or one that a plan must not take", ("PART", "QUIET"), twice),
    Rule("compaction-left-logs-out", "a base file that lacks logs of its plan", ("QUIET", "SNAP"), left_out),
    Rule("plan-from-old-base", "a plan that does not start from the newest base file", ("QUIET", "SNAP"), old_base),
    Rule("plan-cannot-run", "a pending plan whose inputs are missing", ("PROGRESS", "CLEAN"), cannot_run),
    Rule("written-after-replace", "a file in a file group that a replace hides", ("SNAP", "ACK"), replaced),
    Rule("hidden-by-a-pending-log", "committed logs that Hudi hides behind a pending one", ("SNAP",), first_log),
)
