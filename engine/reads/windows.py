"""The windows (after, until] of incremental reads, and the tasks that read the writes of a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import BaseInput, ChangedBase, WindowTask
from ..errors import BadInput, Unsupported
from ..file_names import in_partition
from ..files.group_files import BaseFile, Group
from ..files.window import WindowFiles, window_files
from ..names import Generation, bucket_file_id, bucket_of
from ..timeline import WriteStat, completion_of
from ..timeline.history import Whole
from ..timeline.resize_plans import generation_made, resizes
from .retention import refuse_archived_window, refuse_cleaned, refuse_undone
from .tasks import base_input, log_inputs, slices_as_of
from .times import BEGINNING, Time, instant_of
from .travel import list_again, settled, settled_at

ASKED = "read a window"


class Window(NamedTuple):
    """The window (after, until] of an incremental read, and a timeline with every instant that completed in the window.
    """

    timeline: Whole
    after: str
    until: str


@dataclass(frozen=True, slots=True)
class ReplacedPartition:
    """A completed replacing write (insert overwrite or delete partition) of one partition. Reads as of `completed` or
    later ignore writes to `partition` that completed before `requested`. `partition` is the path of a partition; it is
    '' in an unpartitioned table.
    """

    partition: str
    requested: str
    completed: str


def replaced_partitions(context: Context, window: Window) -> list[ReplacedPartition]:
    """Return the partitions replaced in the window, by completion time and partition."""
    found = []
    for instant in window.timeline.completed:
        done = completion_of(instant)
        if instant.writes and window.after < done <= window.until:
            commit = context.commits.commit(instant)
            partitions = {stat.partition for stat in commit.stats} if commit.replaces else ()
            found += [ReplacedPartition(partition, instant.requested, done) for partition in partitions]
    return sorted(found, key=lambda each: (each.completed, each.partition))


def settled_window(context: Context, after: Time, until: Time | None, asked: str) -> Window:
    """Return the window (after, until] of an incremental read; all completion times in the window are final. If `until`
    is None, the window ends at the table's newest completion time, and is empty if `after` is later than that time.

    Raises `BadInput` if a time is invalid or in the future, or if `after` is later than `until`.
    """
    start = instant_of(after, f"{asked} after")
    if until is not None:
        end = instant_of(until, f"{asked} until")
        if start > end:
            raise BadInput(f"{asked} after {start} until {end}", "the start is after the end", "exchange the two")
        return Window(settled_at(context, end, f"{asked} until"), start, end)
    timeline = settled(context)
    end = timeline.greatest_completion or BEGINNING
    if any(plan.requested == end for plan in timeline.restores):
        # The restore may have been planned between the two listings. Then they omit what completed before its request.
        timeline = list_again(context, timeline, end)
    if start > end:
        return Window(settled_at(context, start, f"{asked} after"), start, start)
    return Window(timeline, start, end)


def window_tasks(context: Context, config: TableConfig, window: Window) -> dict[Group, WindowTask]:
    """Return one task for each file group to which writes in the window have added files. Each task merges only the
    files written in the window. If a resize has completed in the window, a task merges all file groups that can hold
    the same keys (`groups_joined`).

    Raises `Unsupported` if partitions were replaced in the window.
    """
    refuse_unanswerable(context, window)
    group_of = groups_joined(context, config, window)
    files = window_files(window.timeline, context.commits, context.rules, window.after, window.until, group_of)
    # Windows of a merge-on-read table rarely have base files, and the search for them reads all slices.
    there = _bases(context, window) if any(group.bases for group in files) else {}
    named = _previous_base_files(context, window) if config.own and there else {}
    shape = table_shape(config, context.rules)
    return {
        (group.partition, group.file_id): WindowTask(
            shape, log_inputs(group.logs), _base_inputs(group, there, named, with_before=not config.merge_on_read)
        )
        for group in files
    }


def groups_joined(context: Context, config: TableConfig, window: Window) -> Callable[[str, str], Group]:
    """Return a function that maps the file groups of a window which can hold the same key to one name: a file id that
    states all their keys. If no resize has completed in the window, a file group keeps its own name.
    """
    made = [(completion_of(instant), each) for instant, each in resizes(context.commits, window.timeline.completed)]
    inside = [each for completed, each in made if window.after < completed <= window.until]
    if not inside:
        return lambda partition, file_id: (partition, file_id)
    before = [each.buckets for completed, each in made if completed <= window.after] or [config.buckets or 1]
    # Groups with equal numbers modulo the common divisor are all that can share a key, in each generation of the
    # window.
    width = gcd(before[-1], *(each.buckets for each in inside))

    def group_of(partition: str, file_id: str) -> Group:
        return partition, bucket_file_id((bucket_of(file_id) or 0) % width, Generation(inside[-1].number, width))

    return group_of


def refuse_unanswerable(context: Context, window: Window) -> None:
    """Raise `Cleaned` or `Unsupported` if the table no longer records all writes of the window."""
    refuse_cleaned(context, window.timeline, window.after, f"{ASKED} after")
    # Only at the two ends. If the savepoint's instant and the request of a restore are both inside the window, the
    # restore has undone only what completed between them or was pending, and the timeline no longer shows that. So the
    # window still has what changed between the states at its ends (tests/engine/test_reads_during_restores.py).
    refuse_undone(window.timeline, window.after, f"{ASKED} after")
    refuse_undone(window.timeline, window.until, f"{ASKED} until")
    refuse_archived_window(context, window.timeline, window.after, ASKED)
    refuse_replacements(context, window, clustering=False)


def refuse_replacements(context: Context, window: Window, *, clustering: bool) -> None:
    """Raise `Unsupported` if file groups were replaced in the window, because a replacecommit does not list the changed
    rows.

    If `clustering` is True, `Unsupported` is also raised for a clustering in the window, because clustering moves rows
    to other file groups. A resize is never refused, because its file groups state their keys.
    """
    for instant in window.timeline.completed:
        if instant.action != "replacecommit" or not window.after < completion_of(instant) <= window.until:
            continue
        commit = context.commits.commit(instant)
        if (clustering or commit.operation != "CLUSTER") and generation_made(commit) is None:
            raise Unsupported(
                f"{ASKED} after {window.after} until {window.until}",
                f"{instant.file_name} replaces whole file groups, which does not list changed rows",
                f"end one window before {instant.completed}, read a snapshot there, and start the next one after it",
            )


def _bases(context: Context, window: Window) -> dict[Group, list[BaseFile]]:
    """Return all base files of each file group up to the end of the window, oldest first. Under rules that use
    requested times, a window may contain writes that completed after `until`.
    """
    by_completion = context.rules.incremental_axis == "completion"
    until = window.until if by_completion else window.timeline.greatest_completion or window.until
    found: dict[Group, list[BaseFile]] = {}
    for piece in slices_as_of(context, window.timeline, until):
        if piece.base:
            found.setdefault(piece.group, []).append(piece.base)
    return found


def _previous_base_files(context: Context, window: Window) -> dict[str, BaseInput | None]:
    """Map each base file to the previous base file that it replaces, as recorded in the commit of the new file."""
    stats = [
        stat
        for instant in window.timeline.completed
        if instant.writes
        for stat in context.commits.commit(instant).stats
    ]
    sizes = {stat.path: stat.size for stat in stats}

    def before(stat: WriteStat) -> BaseInput | None:
        if not stat.prev_base_file:
            return None
        path = in_partition(stat.partition, stat.prev_base_file)
        return BaseInput(path, sizes.get(path))

    return {stat.path: before(stat) for stat in stats}


def _base_inputs(
    group: WindowFiles, there: dict[Group, list[BaseFile]], named: dict[str, BaseInput | None], with_before: bool
) -> tuple[ChangedBase, ...]:
    """Return the base files written in the window, each with the base file that it replaced. A copy-on-write file does
    not contain deleted rows, so only a comparison with the replaced base file finds them.
    """

    def before(base: BaseFile) -> BaseInput | None:
        if base.path in named:
            return named[base.path] if with_before else None
        older = [old for old in there.get((group.partition, base.file_id), ()) if old.requested < base.requested]
        return base_input(older[-1]) if older and with_before else None

    return tuple(ChangedBase(base_input(base), base.requested, before(base)) for base in group.bases)
