"""Reads as definitions: what a snapshot, as-of or read-optimised read takes of a file group (windows: `windows.py`).

    as of T           the newest slice whose base file stands at T, and every log that stands at T from there on: those
                      in slices of pending plans, too
    snapshot          the same with everything that stands
    read-optimised    the newest base file, without logs

An instant stands at T if it completed at or before T. (RFC-66, "Time Travel Queries"; there as of T is cut by
strictly smaller completion, the promise is at or before.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Literal

from ..files import covering
from ..files.copy_on_write import is_copy_on_write, snapshot_of
from ..files.slicing import in_order, writes_by_slice
from ..merging.fold import NOTHING, Fold
from ..merging.foreign import rules_of, rules_on
from ..protocol import Protocol
from ..table import Log, Plan, Table, Write


@dataclass(frozen=True, slots=True)
class Query:
    """A read. `until` is the T of as_of and the end of a window, `after` the window's excluded start (None: 0)."""

    kind: Literal["snapshot", "as_of", "incremental", "changes", "read_optimized"] = "snapshot"
    after: int | None = None
    until: int | None = None

    @property
    def begins(self) -> int | None:
        """The oldest state that the answer rests on: the start of a window, the T of an as-of; None: what is now."""
        if self.kind in ("incremental", "changes"):
            return self.after or 0
        return self.until if self.kind == "as_of" else None


def stands(requested: int, completed: int | None, time: float, protocol: Protocol) -> bool:
    """Whether a read as of `time` counts an instant."""
    if completed is None:
        return protocol.shows_pending and requested <= time
    at = completed if protocol.as_of_axis == "completion" else requested
    return at < time if protocol.as_of_bound == "before" else at <= time


def is_refused(table: Table, time: float, protocol: Protocol) -> bool:
    """Whether a read as of `time` gets no answer: a pending write could still change it by its requested time."""
    pending = (write.requested for write in table.writes if write.completed is None)
    return protocol.as_of_pending == "refused" and any(requested <= time for requested in pending)


def table_as_of(table: Table, time: float, protocol: Protocol) -> Table:
    """The table as it stood: a plan that was made by then and whose base files do not stand yet is pending."""
    plans = [(p, c) for p, c in zip(table.plans, table.completed, strict=True) if p.requested <= time]
    done = tuple(c if c and stands(p.requested, c, time, protocol) else None for p, c in plans)
    logs = log_compactions_as_of(table, time, protocol)
    standing_now = standing(table.writes, time, protocol)
    return Table(standing_now, tuple(p for p, _ in plans), done, logs, table.oldest, table.schemas, table.altered)


def standing(writes: tuple[Write, ...], time: float, protocol: Protocol) -> tuple[Write, ...]:
    """The writes that stand at `time`."""
    return tuple([w for w in writes if stands(w.requested, w.completed, time, protocol)])


@lru_cache(maxsize=1 << 12)
def base_file(table: Table, group: int, barrier: int | None, protocol: Protocol) -> Fold | None:
    """What the group's base file with this barrier holds: a compaction's fold, or rows as they were loaded; or None."""
    loaded = next((w for w in table.writes if w.requested == barrier and group in w.loaded), None)
    if loaded is not None:
        return Fold(None, loaded.files_in(group))
    plan = next((plan for plan in table.plans if plan.requested == barrier), None)
    part = plan.of(group) if plan is not None else None
    if plan is None or part is None:
        return None
    rules = rules_of(table, plan, group, protocol)
    listed = {write.requested for write in table.writes} | covering.inputs(table, group).keys()
    known = covering.ordered(table, group, (log for log in part.logs if log[0] in listed), rules)
    # A plan that took a log of a write that is still pending names a log that no completed instant lists.
    unlisted = tuple(sorted(log for log in part.logs if log not in known))
    made = slice_fold(table, group, part.base, (*known, *unlisted), protocol, by=rules)
    return made._replace(columns=plan.columns, foreign=plan.unmarked)


def as_of(table: Table, group: int, time: float, protocol: Protocol) -> Fold:
    """What a read as of `time` takes of one file group; `time` = inf is a snapshot of everything that stands."""
    if is_copy_on_write(table):
        return snapshot_of(table, group, standing(table.writes, time, protocol))
    if clustering := _clustering(table, group, time, protocol):
        known = (write for write in standing(table.writes, time, protocol) if dict(write.into).get(group) == clustering)
        return slice_fold(table, group, clustering, logs_in_order(tuple(known), group, protocol), protocol)
    if replaced := _replaced_for_good(table, group, time, protocol):
        return Fold(None, replaced.files_in(group))
    barrier, writes = taken(table, group, time, protocol)
    seen = table
    if table.log_compactions:
        seen = table._replace(log_compactions=log_compactions_as_of(table, time, protocol))
    rules = rules_on(table, group, barrier, protocol)
    logs = covering.standing_in(seen, group, logs_in_order(writes, group, rules), rules)
    return slice_fold(table, group, barrier, logs, protocol)


def log_compactions_as_of(table: Table, time: float, protocol: Protocol) -> tuple[tuple[Plan, int | None], ...]:
    """The log compactions as a read as of `time` sees them: one that does not stand yet has covered nothing."""
    return tuple(
        (plan, done if done is not None and stands(plan.requested, done, time, protocol) else None)
        for plan, done in table.log_compactions
    )


def _clustering(table: Table, group: int, time: float, protocol: Protocol) -> int:
    """The last clustering that stands and replaced the file group by another: only who knows that one is seen. Or 0."""
    plans = zip(table.plans, table.completed, strict=True)
    return max([plan.requested for plan, c in plans if plan.clusters and c and plan.of(group) and c <= time], default=0)


def _replaced_for_good(table: Table, group: int, time: float, protocol: Protocol) -> Write | None:
    """The last replace that named the file group, whose own rows are in another: no other write is seen any more."""
    if protocol.replacing == "plan":
        return None
    found = [write for write in standing(table.writes, time, protocol) if group in write.replaced]
    return found[-1] if found else None


def taken(table: Table, group: int, time: float, protocol: Protocol) -> tuple[int | None, tuple[Write, ...]]:
    """The barrier of the base file that a read as of `time` starts from, and the writes whose logs it merges."""
    if protocol.barriers == "base_files":
        return _one_slice(table, group, time, protocol)
    files = {
        plan.requested
        for plan, completed in zip(table.plans, table.completed, strict=True)
        if completed and stands(plan.requested, completed, time, protocol)
    }
    files |= {write.requested for write in standing(table.writes, time, protocol) if group in write.loaded}
    writes: tuple[Write, ...] = ()
    for barrier, members in _newest_first(table, group, time, protocol):
        writes += standing(members, time, protocol)
        if barrier in files:
            return barrier, writes
    return None, writes


def _one_slice(table: Table, group: int, time: float, protocol: Protocol) -> tuple[int | None, tuple[Write, ...]]:
    """The newest slice of which any file completed by `time`, its base file whenever that completed (RFC-66, Time
    Travel: latestFileSliceThatIsOverlappingWithCompletionTime)."""
    done = {write.requested: write.completed for write in table.writes if group in write.loaded}
    done |= dict(zip((plan.requested for plan in table.plans), table.completed, strict=True))
    for barrier, members in reversed(writes_by_slice(table, group, protocol).items()):
        completed = [write.completed for write in members] + ([done[barrier]] if barrier is not None else [])
        if any(each is not None and stands(each, each, time, protocol) for each in completed):
            return barrier, standing(members, time, protocol)
    return None, ()


def _newest_first(
    table: Table, group: int, time: float, protocol: Protocol
) -> Iterator[tuple[int | None, tuple[Write, ...]]]:
    """The slices that a read as of `time` looks at, newest first.

    By completion times that is all of them: what stands lies before every later barrier anyway. By requested times the
    slices that begin after `time` are left alone, with the late logs in them, and the slice without barrier begins with
    its earliest log (RFC-66, get_file_slice_barriers). A plan made after `time` is no barrier as long as its base file
    is not there; with requested_slices it is, and takes the late logs out of the answer.
    """
    if protocol.as_of_axis == "requested":
        kept = [(p, done) for p, done in zip(table.plans, table.completed, strict=True) if done or p.requested <= time]
        table = table._replace(plans=tuple(p for p, _ in kept), completed=tuple(done for _, done in kept))
    for barrier, members in reversed(writes_by_slice(table, group, protocol).items()):
        begin = barrier if barrier is not None else slice_begin(members, protocol)
        if protocol.as_of_axis == "completion" or begin <= time:
            yield barrier, members


def slice_begin(members: tuple[Write, ...], protocol: Protocol) -> int:
    """The request with which a slice without barrier begins; 0 if it is empty."""
    earliest = members[0] if protocol.first_slice == "first_completed" and members else None
    return earliest.requested if earliest else min((write.requested for write in members), default=0)


def read_optimized(table: Table, group: int, time: float, protocol: Protocol) -> Fold:
    """The group's newest base file as of `time`, without the tombstones it kept: its rows alone."""
    shape = as_of(table, group, time, protocol)
    return Fold(shape.base, ()) if shape.base is not None else NOTHING


def logs_in_order(writes: tuple[Write, ...], group: int, protocol: Protocol) -> tuple[Log, ...]:
    """The logs of some writes in one file group, as readers merge them."""
    return tuple([log for write in in_order(writes, group, protocol) for log in write.logs(group)])


def slice_fold(
    table: Table,
    group: int,
    barrier: int | None,
    logs: tuple[Log, ...],
    protocol: Protocol,
    *,
    by: Protocol | None = None,
) -> Fold:
    """The base file with this barrier, if there is one, and the logs that are merged with it.

    `by`: the rules of whoever merges, where they are not the table's.
    """
    rules = by or protocol
    base, merged = base_file(table, group, barrier, protocol), covering.layers(table, group, logs)
    if base is None or rules.fold == "rank" or base.foreign:  # another engine's base file keeps no tombstones
        return Fold(base, merged)
    # The log that holds the base's tombstones has the compaction's own instant and takes its place among the logs.
    instant = next((i for i, plan in enumerate(table.plans) if plan.requested == barrier), None)
    if instant is None:  # loaded: there are no tombstones
        return Fold(base, merged)
    by_request = rules.merge_order == "requested"
    own = table.plans[instant].requested if by_request else table.completed[instant] or inf
    return Fold(base, merged, sum(covering.merge_time(table, group, log, rules) < own for log in logs))
