"""Complaints about slices and plans: PART and QUIET ask that each log is in one slice, and merged exactly once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import Final

from nbcc.engine.file_names import in_partition, parse_base, parse_log
from nbcc.engine.files.group_files import BaseFile, Group, LogFile

from ..view import GroupPlan, View
from .diagnostic import RESTORE, Found, Rule, again, undo

_LOADS: Final = ("BULK_INSERT", "BULK_INSERT_PREPPED")
_DROP: Final = "nbcc table {table} plans --drop "


def lost(view: View) -> Iterator[Found]:
    """A completed log behind a base file whose plan did not take it: no reader sees it, no compaction will.

    A replace is to hide what came before it, and takes nothing.
    """
    covers = dict(made for commit in view.found.commits.values() for made in commit.covers)
    for group, parts in view.plans.items():
        done = [part for part in parts if part.completed is not None]
        barriers = [part.barrier for part in done]  # they rise
        compactions = {*barriers}
        taken = _with_covered(covers, {name for part in parts for name in part.operation.logs})
        for log in _logs(view, group) if done else ():
            after = bisect_right(barriers, log.completed or "")
            if after == len(done) or log.requested in compactions or log.path in view.found.rewritten:
                continue
            replaced = view.found.plans[barriers[after]].replaces
            if not replaced and log.path.rpartition("/")[2] not in taken:
                because = (
                    f"it completed at {log.completed}, before the barrier {barriers[after]}, whose plan did not take"
                    " it: its slice is superseded and no reader sees its rows"
                )
                yield Found(log.path, because, again(view, log.path))


def _with_covered(covers: Mapping[str, tuple[str, ...]], names: set[str]) -> set[str]:
    """These logs and those that log compactions have put together in them."""
    if not covers:
        return names  # as in most tables, and there may be a million
    found, new = set[str](), names
    while new:
        found |= new
        new = {each for name in new for each in covers.get(name, ())} - found
    return found


def covered(view: View) -> Iterator[Found]:
    """A base file that a write, and no compaction, put over logs that had completed: it does not hold their rows."""
    for group, files in view.by_group.items():
        logs = [file for file in files if isinstance(file, LogFile) and file.completed]
        given = [b for b in view.bases(group) if logs and view.found.commits[b.requested].operation in _LOADS]
        taken = {name for part in view.plans.get(group, ()) for name in part.operation.logs}
        for log in logs:
            over = next((b for b in given if log.completed and log.completed < b.requested), None)
            if over is not None and log.path.rpartition("/")[2] not in taken and log.path not in view.found.rewritten:
                because = (
                    f"it completed at {log.completed}, before {over.path} was put over it: no reader sees its rows"
                )
                yield Found(log.path, because, again(view, log.path))


def _logs(view: View, group: Group) -> Iterator[LogFile]:
    return (f for f in view.by_group.get(group, ()) if isinstance(f, LogFile) and f.completed is not None)


def twice(view: View) -> Iterator[Found]:
    """A plan that took what is not of its slice: the log is merged into the base file, and again onto it."""
    for (partition, _), parts in view.plans.items():
        taken: dict[str, str] = {}
        barriers = {part.barrier for part in parts}
        for part in parts:
            for name in part.operation.logs:
                path = in_partition(partition, name)
                file = view.counted.get(path) or view.found.files.get(path)
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
                yield Found(path, because, _remedy(part))


def _remedy(part: GroupPlan) -> str:
    if part.completed is None:
        return f"{_DROP}{part.barrier}"
    return "compact the file group once more (nbcc table {table} compact), and compare its rows with the source"


def cannot_run(view: View) -> Iterator[Found]:
    for (partition, _), parts in view.plans.items():
        for part in parts:
            if part.completed is not None:
                continue
            names = [*([part.operation.base_file] if part.operation.base_file else []), *part.operation.logs]
            for path in (in_partition(partition, name) for name in names):
                if path not in view.found.listing:
                    because = f"the pending plan {part.barrier} is to merge it, and it is gone"
                    yield Found(path, because, f"{RESTORE}, or give the plan up: {_DROP}{part.barrier}")


def left_out(view: View) -> Iterator[Found]:
    """What a compaction says that it merged, against its plan: a log that it forgot is behind its base file."""
    for requested, commit in view.found.commits.items():
        plan = view.found.plans.get(requested)
        logs = {(each.partition, each.file_id): each.logs for each in reversed(plan.operations)} if plan else {}
        for stat in commit.stats if plan else ():
            file = view.counted.get(stat.path)
            if not isinstance(file, BaseFile) or stat.merged is None:
                continue
            planned = logs.get((file.partition, file.file_id))
            if planned is None:
                yield Found(stat.path, f"the compaction {requested} wrote it, and its plan has not this group", RESTORE)
            elif stat.merged != len(planned) and stat.merged != len(planned) - _kept(planned, view):
                because = f"{stat.merged} logs were merged into it, and its plan {requested} takes {len(planned)}"
                paths = [in_partition(file.partition, name) for name in planned]
                if not view.found.rewritten >= {*paths}:
                    yield Found(stat.path, because, again(view, *paths))


def _kept(names: tuple[str, ...], view: View) -> int:
    """How many of a plan's logs hold the deletes of an earlier compaction: nbcc counts them as part of its base."""
    return sum(name is not None and name.instant in view.found.plans for name in map(parse_log, names))


def old_base(view: View) -> Iterator[Found]:
    """A pending plan that starts from another base file than the newest would bring an old state back."""
    for group, parts in view.plans.items():
        bases = sorted(base.requested for base in view.bases(group))
        for part in parts:
            if view.found.plans[part.barrier].replaces:
                continue  # it takes nothing: that is what it is for
            before = bisect_left(bases, part.barrier)
            parsed = parse_base(part.operation.base_file) if part.operation.base_file else None
            newest = bases[before - 1] if before else None
            if newest is not None and newest != (parsed.instant if parsed else None):
                because = f"it starts from {part.operation.base_file or 'no base file'}, and the newest is of {newest}"
                yield Found(f".hoodie/timeline/{part.barrier}.compaction.requested", because, _remedy(part))


def replaced(view: View) -> Iterator[Found]:
    """A replace hides a file group by its id, for ever, whatever is written to it later (apache/hudi#19793)."""
    for group, commit in view.replaced.items():
        for file in view.by_group.get(group, ()):
            replacer = commit.instant.completed or ""
            if file.completed is not None and file.completed >= replacer:
                because = f"its file group was replaced by {commit.instant.requested}; it is seen by no reader"
                yield Found(file.path, because, f"write the rows of {file.requested} again into another file group")


def first_log(view: View) -> Iterator[Found]:
    """Hudi keys the slice of a group without base file by its oldest log, committed or not (apache/hudi#19774)."""
    first_active = view.found.first_active or ""
    oldest: dict[Group, LogFile] = {}
    for file in view.found.files.values():
        group = (file.partition, file.file_id)
        if isinstance(file, LogFile) and (group not in oldest or file.requested < oldest[group].requested):
            oldest[group] = file
    for group, log in oldest.items():
        hidden = [f for f in view.by_group.get(group, ()) if f.completed]
        based = any(isinstance(f, BaseFile) for f in hidden)
        if log.completed is None and log.requested >= first_active and hidden and not based:
            because = (
                f"it is the oldest log of its group and not committed: Hudi 1.2.0 hides {len(hidden)} committed logs"
            )
            yield Found(log.path, because, f"let it complete, or {undo(view, log.requested)}", "AT RISK")


RULES: Final = (
    Rule("committed-log-lost", "a committed log that no reader sees", ("SNAP", "PART", "QUIET"), lost),
    Rule("base-file-over-logs", "a bulk insert into a file group that had logs", ("SNAP", "PART"), covered),
    Rule("log-in-two-slices", "a log that two slices hold, or that a plan must not take", ("PART", "QUIET"), twice),
    Rule("compaction-left-logs-out", "a base file that lacks logs of its plan", ("QUIET", "SNAP"), left_out),
    Rule("plan-from-old-base", "a plan that does not start from the newest base file", ("QUIET", "SNAP"), old_base),
    Rule("plan-cannot-run", "a pending plan whose inputs are gone", ("PROGRESS", "CLEAN"), cannot_run),
    Rule("written-after-replace", "a file in a file group that a replace has hidden", ("SNAP", "ACK"), replaced),
    Rule("hidden-by-a-pending-log", "committed logs that Hudi hides behind a pending one", ("SNAP",), first_log),
)
