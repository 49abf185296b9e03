"""Decides which files a clean may delete: the files of slices that no read at or after the horizon needs.

The horizon H is the oldest completion time that can be read. In each file group, a read as of a time T needs only the
newest base file completed by T and later files. Reads as of H or later therefore need no slice older than the newest
base file completed by H. The inputs of a pending compaction plan are the newest base file and the logs of its slice, so
the plan needs no older slice. A replace or a resize is different: it may begin a slice while a log compaction or a
compaction of older logs is pending, so a clean keeps the inputs of these plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Literal, NamedTuple

from ...answers import Query
from ...kernel.slicing import BySlice
from ...kernel.table import GroupPlan, Table
from ...machine.marks import in_shapes, mark, with_mark
from ...machine.options import Limits, Options, limit, option
from ...rules import Rules
from ..bulk_insert.rules import loaded
from ..log_compaction.rules import log_plans_of, with_inputs
from ..resizes.rules import is_resized


class Cleaning(Options):
    """The options of cleaning, such as which files a clean deletes."""

    retention: Literal["completion", "barrier", "any_barrier"] = option(
        "completion",
        "the base file whose older slices a clean deletes. completion: the newest that was complete at the horizon; "
        "barrier: the newest complete one whose barrier is at or before the horizon; any_barrier: as barrier, but its "
        "compaction may be pending",
    )
    horizon: Literal["before_delete", "after_delete"] = option(
        "before_delete",
        "when readers learn the horizon of a clean. before_delete: with its plan; after_delete: when it is complete",
    )


class Cleans(Limits):
    """The limits of cleaning: the number of cleans, and the number of commits that a clean retains."""

    cleans: int = limit(0, "how many cleans may be planned", in_random_worlds=(2,), needs="cleaner")
    commits_retained: int = limit(
        0,
        "of how many newest writes a clean keeps the state after each; every later state is kept as well",
        by=("cleaner",),
        in_random_worlds=(1, 2),
        needs="cleaner",
    )


class DataFile(NamedTuple):
    """A data file, identified by its file group, the requested time of its instant, and a version. A base file has
    version 0.
    """

    group: int
    requested: int
    version: int


def taken_files(part: GroupPlan) -> tuple[DataFile, ...]:
    base = () if part.base is None else (DataFile(part.group, part.base, 0),)
    return (*base, *(DataFile(part.group, *log) for log in part.logs))


class Victims(NamedTuple):
    """The files of one file group that a clean deletes."""

    group: int
    files: tuple[DataFile, ...]


class Clean(NamedTuple):
    """A planned clean. By default, reads before `horizon` are refused as soon as the clean is planned. `runner` is the
    actor that runs the clean.
    """

    requested: int
    horizon: int
    runner: str
    inflight: bool
    groups: tuple[Victims, ...]


@in_shapes("requested", "completed", "actor")
class CompletedClean(NamedTuple):
    """The completed instant of a clean; `requested` is the requested time of the clean's plan."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "clean"


class Oldest(NamedTuple):
    """A record attached to a table with a cleaning horizon: the barrier of the oldest visible slice of each file group.
    A barrier of 0 means that all slices of the file group are visible.
    """

    barriers: tuple[int, ...] = ()
    kind: str = "oldest"


class SlicesSinceHorizon(Rules):
    """File slices older than the cleaning horizon are invisible."""

    compares_requested_times = False

    def slices(self, table: Table, group: int) -> BySlice:
        members = super().slices(table, group)
        oldest = mark(table, Oldest).barriers if table.marks else ()
        if not oldest:
            return members
        # The slice without barrier counts as 0, the oldest.
        return {barrier: writes for barrier, writes in members.items() if (barrier or 0) >= oldest[group]}


def horizon(table: Table, retained: int) -> int | None:
    """Return the completion time of the oldest of the last `retained` completed writes; None if there are fewer."""
    done = sorted(write.completed for write in table.writes if write.completed is not None)
    # Writes and not instants: a compaction changes no state that a user may want to return to.
    return done[-retained] if len(done) >= retained else None


COUNTS: Mapping[str, Callable[[int, int | None, int], bool]] = {
    "completion": lambda barrier, completed, at: completed is not None and completed <= at,
    "barrier": lambda barrier, completed, at: completed is not None and barrier <= at,
    "any_barrier": lambda barrier, completed, at: barrier <= at,
}
"""By `retention`: whether a base file lets a clean with the horizon `at` delete older files."""


def oldest_kept(rules: Rules, table: Table, group: int, at: int) -> int:
    """For one file group, return the barrier (start time) of the oldest slice that a clean with the horizon `at`
    retains; 0 if it retains all.
    """
    counts = COUNTS[rules[Cleaning].retention]
    return max((barrier for barrier, done in rules.bases(table, group) if counts(barrier, done, at)), default=0)


def since(rules: Rules, table: Table, groups: int, at: int) -> Table:
    """Return the table without the file slices that a clean deletes if its horizon is `at`. If `at` is 0, there is no
    horizon, and the table is returned unchanged.
    """
    if not at:
        return table
    oldest = Oldest(tuple(oldest_kept(rules, table, group, at) for group in range(groups)))
    return table._replace(marks=with_mark(table.marks, oldest))


def superseded(rules: Rules, table: Table, groups: int, at: int, deleted: frozenset[DataFile]) -> tuple[Victims, ...]:
    """Return the files of each file group that a clean with the horizon `at` deletes: the files of slices before the
    oldest retained slice, except those in `deleted` and the inputs of pending log compactions.
    """
    stay = deleted | planned_inputs(table)
    victims = (Victims(group, _files(rules, table, group, at, stay)) for group in range(groups))
    return tuple(each for each in victims if each.files)


def _files(rules: Rules, table: Table, group: int, at: int, stay: frozenset[DataFile]) -> tuple[DataFile, ...]:
    oldest = oldest_kept(rules, table, group, at)
    slices = [each for each in rules.file_slices(table, group) if (each.barrier or 0) < oldest]
    bases = [DataFile(group, each.base, 0) for each in slices if each.base is not None]
    logs = [DataFile(group, *log) for each in slices for log in with_inputs(table, group, each.logs)]
    # In one order, because the plan is part of the state.
    return tuple(sorted({*bases, *logs} - stay))


def needed(rules: Rules, table: Table, group: int, time: float) -> frozenset[DataFile]:
    """Return the files that a read of the file group as of `time` opens. For a snapshot query, `time` is infinity."""
    barrier, writes = rules.base_and_writes(table, group, time)
    base = () if barrier is None else (DataFile(group, barrier, 0),)
    logs = rules.merged_logs(table, group, writes, time)
    return frozenset((*base, *(DataFile(group, *log) for log in logs)))


def opened(rules: Rules, table: Table, group: int, query: Query, until: float) -> frozenset[DataFile]:
    """Return the files that `query` reads in one file group. `until` is the time of an as-of read, or the end of an
    incremental window.
    """
    match query.kind:
        case "incremental":
            writes = rules.in_window(table, query.after or 0, until)
            files = ((file, group in loaded(write)) for write in writes for file in write.files_in(group))
            return frozenset(DataFile(group, requested, 0 if base else version) for (requested, version), base in files)
        case "changes":
            # A file group without a write in the window has no change, so that neither of its two states is read.
            if not any(write.files_in(group) for write in rules.in_window(table, query.after or 0, until)):
                return frozenset()
            begin = needed(rules, table, group, query.after or 0)
            return begin | needed(rules, table, group, until)
        case "read_optimized":
            # Version 0 is the base file.
            return frozenset(file for file in needed(rules, table, group, inf) if not file.version)
        case "as_of":
            return needed(rules, table, group, until)
    return needed(rules, table, group, inf)


def planned_inputs(table: Table) -> frozenset[DataFile]:
    """Return the inputs of pending plans whose file slice may be older than the oldest that a read needs: of all
    pending log compactions, whose slice a replacing write may have hidden, and in a resized table of all pending
    compactions, because a resize may begin a slice while they are pending.
    """
    plans = (*log_plans_of(table), *(zip(table.plans, table.completed, strict=True) if is_resized(table) else ()))
    pending = (plan for plan, done in plans if done is None)
    return frozenset(file for plan in pending for part in plan.groups for file in taken_files(part))


def needed_by_plans(table: Table) -> frozenset[DataFile]:
    """Return the input files of pending compaction and log compaction plans."""
    # Promises call this function. It does not call `planned_inputs`, so that they detect a cleaner whose rule is wrong.
    plans = (*zip(table.plans, table.completed, strict=True), *log_plans_of(table))
    return frozenset(file for plan, done in plans if done is None for part in plan.groups for file in taken_files(part))


def published_horizon(rules: Rules, cleans: tuple[Clean, ...], published: tuple[Any, ...]) -> int:
    """Return the cleaning horizon, before which reads are refused; 0 if there is none. Depending on the option
    `horizon`, the horizon of a clean takes effect when the clean is planned or when it completes.
    """
    done = {entry.requested for entry in published}
    early = rules[Cleaning].horizon == "before_delete"
    return max((clean.horizon for clean in cleans if early or clean.requested in done), default=0)
