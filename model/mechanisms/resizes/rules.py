"""Decides which logs a read merges after a resize has given the keys to other file groups.

Fix one key. The file groups that hold it, one after the other, are one file group with changing names. The barriers of
that group are the requested times of its compactions and of its resizes, so the slices of RFC-66 apply unchanged. The
model therefore numbers the *finest* ranges of hashes that a table ever has, and calls each a file group: a group of
the table holds one range or several adjacent ones. In this folder, `group` is a range, and `world.buckets` counts the
ranges of a partition. A plain `buckets` counts the file groups of the table in a partition. A *generation* is the
requested time of the resize that made the groups of the table; the first groups have generation 0. (The engine numbers
its generations.)

Three designs keep every write (option `resizing`). By `cut_over`, a writer that finds another mapping under the lock
moves its logs, and the resizer copies the logs that complete between the resize's request and its completion. By
`by_range`, readers look for late logs in the groups that the resize replaced. By `dual_write`, writers put their logs
into the groups of both mappings.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Literal, NamedTuple

from ...kernel.table import GroupPlan, Log, Plan, Plans, Table, Write
from ...machine.marks import in_shapes, mark
from ...machine.options import Limits, Options, limit, option
from ...machine.transition import Args
from ...rules import Rules
from ...world import World


class Resizing(Options):
    """The options that decide how a table stays correct if a resize runs concurrently with writers."""

    resizing: Literal["cut_over", "by_range", "dual_write"] = option(
        "cut_over",
        "cut_over: a writer that finds another mapping of keys moves its logs, and the resizer copies the logs that "
        "complete before it does. by_range: readers merge the late logs of replaced file groups. dual_write: writers "
        "put their logs into the file groups of both mappings (RFC-42)",
    )
    mapping_check: Literal["under_lock", "at_open"] = option(
        "under_lock",
        "when a writer learns which file groups hold its keys. under_lock: once more under the lock that covers its "
        "publication; at_open: only when it begins to write",
    )
    sorted_home: Literal["holder", "value"] = option(
        "holder",
        "which new file group gets a record after a resize that sorts. holder: the one whose base file of the resize "
        "has its key, or the heir named in the plan if none has it. value: the one whose part of the order has its "
        "value of the sort column",
    )


class ResizeLimits(Limits):
    """The limits of resizes, and the number of buckets of a table before its first resize."""

    resizes: int = limit(0, "how many resizes may be planned")
    cancelled_resizes: int = limit(0, "how many pending resizes may be cancelled")
    first_buckets: int = limit(
        0, "the file groups of a partition before its first resize; 0: one for each bucket", section="table"
    )
    sort_order: int = limit(
        0, "1: a resize gives keys to file groups by the order of their rows, 0: by their hash", section="table"
    )


@in_shapes("buckets", "copied", "kind")
class Resizes(NamedTuple):
    """A record attached to a plan that is a resize: the number of file groups that it makes in each partition.
    `copied` is the completion time up to which late logs of the replaced groups are copied into the new ones.
    """

    buckets: int = 0
    copied: int = 0
    kind: str = "resizes"


@in_shapes("made_by", "kind")
class Generations(NamedTuple):
    """A record attached to a write: the generations of the file groups in which it has logs; () stands for (0,)."""

    made_by: tuple[int, ...] = ()
    kind: str = "generations"


def resize_of(plan: Plan) -> Resizes | None:
    """Return what a plan says about its resize; None if the plan is not a resize."""
    found = mark(plan, Resizes) if plan.marks else None
    return found if found is not None and found.buckets else None


def is_resized(table: Table) -> bool:
    """True if the table has a pending or completed resize."""
    return any(resize_of(plan) for plan in table.plans)


def generations(write: Write) -> tuple[int, ...]:
    """Return the generations of the file groups in which a write has logs."""
    return written_in(mark(write, Generations)) if write.marks else (0,)


def written_in(mapping: Generations) -> tuple[int, ...]:
    return mapping.made_by or (0,)


def generations_shown(table: Table, time: float) -> tuple[int, ...]:
    """Return the generations whose groups a read as of `time` opens: those that no resize completed by then has
    replaced. The tuple has one element, because a resize is planned only if no other one is pending.
    """
    resizes = resizes_in(table)
    if not resizes:
        return (0,)
    done = {made: at for made, at in resizes if at and at <= time}
    replaced = {max((made for made, at in done.items() if at < requested), default=0) for requested in done}
    return tuple(sorted({0, *done} - replaced))


def resizes_in(table: Table) -> tuple[tuple[int, int | None], ...]:
    """Return the requested time and the completion time of each resize of a table."""
    plans = zip(table.plans, table.completed, strict=True)
    return tuple([(plan.requested, completed) for plan, completed in plans if plan.marks and resize_of(plan)])


def buckets_of(plans: tuple[Plan, ...], generation: int, world: World) -> int:
    """Return the number of file groups that each partition has in one generation."""
    resizes = (resize_of(plan) for plan in plans if plan.requested == generation)
    first = world[ResizeLimits].first_buckets or world.buckets
    # Generation 0 has no plan, and neither has a cancelled resize.
    return next((resize.buckets for resize in resizes if resize), first)


def other_bucket_counts(plans: Plans, world: World) -> Iterable[Args]:
    """Yield every number of file groups that a resize planned now may make in each partition."""
    now = buckets_of(plans, max((plan.requested for plan in plans if resize_of(plan)), default=0), world)
    sorts = world[ResizeLimits].sort_order  # into as many file groups as possible, also if there are as many now
    counts = [world.buckets] if sorts else (count for count in range(1, world.buckets + 1) if count != now)
    # Divisors alone: a group of the table holds whole ranges, and the model has no finer ones.
    return ((("buckets", count),) for count in counts if world.buckets % count == 0)


def ranges_in_bucket(group: int, buckets: int, world: World) -> tuple[int, ...]:
    """Return the ranges (groups of the model) that share a file group with `group`, if a partition has `buckets` of
    them.
    """
    width = world.buckets // buckets
    first = group - group % world.buckets % width
    return tuple(range(first, first + width))


class ReadsResized(Rules):
    """A read of a resized table. Unless readers look for late logs by range, a read of a file group merges the logs in
    that group alone, as in Apache Hudi.
    """

    compares_requested_times = False

    def merged_logs(self, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
        shown = generations_shown(table, time)[-1]
        if shown or any(write.marks for write in writes):
            opens = found_by_range if self[Resizing].resizing == "by_range" else in_own_group
            writes = tuple([write for write in writes if opens(table, write, shown)])
        return super().merged_logs(table, group, writes, time)

    def base_and_writes(self, table: Table, group: int, time: float) -> tuple[int | None, tuple[Write, ...]]:
        """Leave out the base files of replaced groups that are newer than those of the resize. No compactor plans
        any, because the pending plan of the resize includes every group (`may_plan`). The rule says what a read does
        if there are some.
        """
        if not (shown := generations_shown(table, time)[-1]):
            return super().base_and_writes(table, group, time)
        during = dict(resizes_in(table))[shown] or 0
        plans = zip(table.plans, table.completed, strict=True)
        # Strictly between: the resize itself begins the group, and a compaction that is planned later is one of the new
        # group.
        kept = [(plan, done) for plan, done in plans if not shown < plan.requested < during]
        if len(kept) < len(table.plans):
            table = table._replace(plans=tuple(p for p, _ in kept), completed=tuple(done for _, done in kept))
        return super().base_and_writes(table, group, time)

    def window_logs(self, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
        """Return the logs of the writes in the window, one for each file that the commit of a write names."""
        writes = {write.requested: write for write in table.writes if write.marks}
        logs = super().window_logs(table, group, after, until)
        if not writes:
            return logs  # before the option is read: worlds without a resize do not depend on it
        dual = self[Resizing].resizing == "dual_write"
        return tuple([log for log in logs for _ in files_taken(table, writes.get(log[0]), dual)])


def files_taken(table: Table, write: Write | None, dual: bool) -> tuple[int, ...]:
    """Return the generations whose logs of a write are delivered. Of two logs with equal rows, which a writer puts if
    `dual` is True, a window delivers that in the groups which readers opened when the write completed.
    """
    if write is None:
        return (0,)
    shown = generations_shown(table, write.completed or inf)
    return tuple([each for each in generations(write) if not dual or each in shown])


def copied_until(table: Table, generation: int) -> int:
    """Return the completion time up to which the resize that made a generation has copied late logs."""
    resizes = (resize_of(plan) for plan in table.plans if plan.requested == generation)
    return next((resize.copied for resize in resizes if resize), 0)


def in_own_group(table: Table, write: Write, generation: int) -> bool:
    """True if the groups of a generation hold the rows of a write: in their base files, a copy, or its own logs."""
    completed = write.completed or inf
    copied = copied_until(table, generation)
    return completed < generation or completed <= copied or generation in generations(write)


def found_by_range(table: Table, write: Write, generation: int) -> bool:
    """True if a read of the groups of a generation takes the logs of a write. A reader by range takes those of every
    generation: early logs in the groups of a pending resize, late ones in replaced groups, and those in the groups of a
    cancelled resize, because a file id says which range it has.
    """
    return True


def resize_inputs(rules: Rules, table: Table, groups: int) -> tuple[GroupPlan, ...]:
    """Return the inputs of a resize that is planned now: of every range, what a snapshot merges.

    A compaction that is pending there stays pending. The resize leaves its base file out, and so does every later read.
    """
    found = []
    for group in range(groups):
        base, writes = rules.base_and_writes(table, group, inf)
        found.append(GroupPlan(group, base, rules.merged_logs(table, group, writes, inf)))
    return tuple(found)
