"""Reads as definitions: what a snapshot, as-of, read-optimised, incremental or change read takes of a file group.

    as of T           the newest slice whose base file stands at T, and every log that stands at T from there on: those
                      in slices of pending plans, too
    snapshot          the same with everything that stands
    read-optimised    the newest base file, without logs
    (after, until]    the logs of the writes whose time lies in the window, merged among themselves
    changes           what differs between as of `after` and as of `until`

An instant stands at T if it completed at or before T. (RFC-66, "Time Travel Queries" and "Incremental/CDC Queries";
there as of T is cut by strictly smaller completion, the promise is at or before.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal

from . import covering
from .copy_on_write import is_copy_on_write, snapshot_of, window_of
from .fold import NOTHING, Fold
from .protocol import Protocol
from .slicing import in_order, loads, writes_by_slice
from .table import Log, Plan, Table, Write


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
        return protocol.visibility != "completed" and requested <= time
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
    return Table(standing(table.writes, time, protocol), tuple(p for p, _ in plans), done, logs, table.oldest)


def standing(writes: tuple[Write, ...], time: float, protocol: Protocol) -> tuple[Write, ...]:
    """The writes that stand at `time`."""
    return tuple(w for w in writes if stands(w.requested, w.completed, time, protocol))


def base_file(table: Table, group: int, barrier: int | None, protocol: Protocol) -> Fold | None:
    """What the group's base file with this barrier holds: a compaction's fold, or rows as they were loaded; or None."""
    loaded = next((w for w in table.writes if w.requested == barrier and group in w.loaded), None)
    if loaded is not None:
        return Fold(None, loaded.files_in(group))
    part = next((plan.of(group) for plan in table.plans if plan.requested == barrier), None)
    if part is None:
        return None
    listed = {write.requested for write in table.writes} | covering.inputs(table, group).keys()
    known = covering.ordered(table, group, (log for log in part.logs if log[0] in listed), protocol)
    # A plan that took a log of a write that is still pending names a log that no completed instant lists.
    unlisted = tuple(sorted(log for log in part.logs if log not in known))
    return _slice_fold(table, group, part.base, (*known, *unlisted), protocol)


def as_of(table: Table, group: int, time: float, protocol: Protocol) -> Fold:
    """What a read as of `time` takes of one file group; `time` = inf is a snapshot of everything that stands."""
    if is_copy_on_write(table):
        return snapshot_of(table, group, standing(table.writes, time, protocol))
    if clustering := _clustering(table, group, time, protocol):
        known = (write for write in standing(table.writes, time, protocol) if dict(write.into).get(group) == clustering)
        return _fold_of(table, group, clustering, tuple(known), protocol)
    if replaced := _replaced_for_good(table, group, time, protocol):
        return Fold(None, replaced.files_in(group))
    barrier, writes = taken(table, group, time, protocol)
    seen = table._replace(log_compactions=log_compactions_as_of(table, time, protocol))
    logs = covering.standing_in(seen, group, _logs_of(writes, group, protocol), protocol)
    return _slice_fold(table, group, barrier, logs, protocol)


def log_compactions_as_of(table: Table, time: float, protocol: Protocol) -> tuple[tuple[Plan, int | None], ...]:
    """The log compactions as a read as of `time` sees them: one that does not stand yet has covered nothing."""
    return tuple(
        (plan, done if done is not None and stands(plan.requested, done, time, protocol) else None)
        for plan, done in table.log_compactions
    )


def _clustering(table: Table, group: int, time: float, protocol: Protocol) -> int:
    """The last clustering that stands and replaced the file group by another: only who knows that one is seen. Or 0."""
    plans = zip(table.plans, table.completed, strict=True)
    done = (plan.requested for plan, c in plans if plan.clusters and c and plan.of(group) and c <= time)
    return max(done, default=0)


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


def incremental(table: Table, group: int, after: int, until: float, protocol: Protocol) -> Fold:
    """What the window (after, until] takes of one file group: logs, on base files that a write itself has put."""
    if is_copy_on_write(table):
        shape = window_of(table, group, in_window(table, after, until, protocol))
    elif protocol.window_merge == "logs":
        writes = not_replaced(in_window(table, after, until, protocol), group)
        loaded = tuple(file for write in writes if group in write.loaded for file in write.files_in(group))
        logs = _with_compacted(table, group, writes, _compacted_in(table, group, after, until, protocol), protocol)
        shape = _slice_fold(table, group, None, logs, protocol)
        shape = shape._replace(logs=(*loaded, *shape.logs))
    elif protocol.window_merge in ("slice_of_files", "slice_of_files_from"):
        shape = _slice_of_files_in(table, group, after, until, protocol)
    else:
        shape = _newest_slice_in(table, group, after, until, protocol)
    return shape._replace(deletes=protocol.window_deletes == "marked")


def _slice_of_files_in(table: Table, group: int, after: int, until: float, protocol: Protocol) -> Fold:
    """RFC-66's incremental pseudocode, word by word: the files that completed in (after, until] are sliced by their
    base files, the latest slice is merged, and of its rows those of the writes that completed in that time are kept;
    with slice_of_files_from in [after, until], which is how the text says it.
    """
    inside = in_window(table, after, until, protocol)
    bases = {p.requested: c for p, c in zip(table.plans, table.completed, strict=True) if p.of(group)}
    bases |= {write.requested: write.completed for write in table.writes if group in write.loaded}
    barrier = max((b for b, done in bases.items() if done is not None and after < done <= until), default=None)
    merged = tuple(w for w in inside if barrier is None or barrier < (w.completed or 0))
    valid = in_window(table, after - (protocol.window_merge == "slice_of_files_from"), until, protocol)
    shown = tuple(file for write in valid for file in write.files_in(group))
    return _fold_of(table, group, barrier, merged, protocol)._replace(shown=shown)


def _compacted_in(table: Table, group: int, after: int, until: float, protocol: Protocol) -> tuple[Log, ...]:
    """The logs of the log compactions of a window, which changed no row; delivered all the same if readers take what
    those have put for a write's (Apache Hudi, issue 20327)."""
    if protocol.log_compaction_window == "left_out":
        return ()
    inside = (plan.requested for plan, done in table.log_compactions if done is not None and after < done <= until)
    return tuple((at, 1) for at in inside if at in covering.inputs(table, group))


def _with_compacted(
    table: Table, group: int, writes: tuple[Write, ...], made: tuple[Log, ...], protocol: Protocol
) -> tuple[Log, ...]:
    logs = _logs_of(writes, group, protocol)
    return covering.ordered(table, group, (*logs, *made), protocol) if made else logs


def _newest_slice_in(table: Table, group: int, after: int, until: float, protocol: Protocol) -> Fold:
    """How readers make an incremental read out of their snapshot read: they find the instants that completed in the
    window, merge one slice, and keep the rows that those instants set.

    slice_of_window: of the files that these instants wrote, with the plans that are pending now as barriers; rows of
                     the base file that other instants set are left out before anything is merged with them.
    slice_of_table:  of all files by their completed barriers, the logs requested between the window's first and last
                     request, and the base file unless it was requested before them.
    """
    inside = in_window(table, after, until, protocol)
    done = zip(table.plans, table.completed, strict=True)
    compacted = {p.requested for p, c in done if c is not None and after < c <= until}
    made = _compacted_in(table, group, after, until, protocol)
    requests = [*(write.requested for write in inside), *compacted, *(log[0] for log in made)]
    if not requests:
        return NOTHING
    first, last = min(requests), max(requests)
    of_window = protocol.window_merge == "slice_of_window"
    kept = [
        (p, c)
        for p, c in zip(table.plans, table.completed, strict=True)
        if (p.requested in compacted or c is None if of_window else c is not None)
    ]
    seen = inside if of_window else standing(table.writes, inf, protocol)
    part = Table(seen, tuple(p for p, _ in kept), tuple(c for _, c in kept))
    bases = {p.requested for p, c in kept if c is not None} | loads(part, group)
    logs: tuple[Write, ...] = ()
    visited: set[int] = set()
    for barrier, members in reversed(writes_by_slice(part, group, protocol).items()):
        begin = barrier if barrier is not None else slice_begin(members, protocol)
        if begin > last:
            continue
        visited |= {write.requested for write in members}
        logs += members if of_window else tuple(w for w in members if first <= w.requested <= last)
        if barrier is None or barrier in bases:
            based = barrier if of_window or (barrier or 0) >= first else None
            shown = tuple(file for write in inside for file in write.files_in(group))
            every = _compacted_in(table, group, 0, inf, protocol)
            by_request = (log for log in every if first <= log[0] <= last)
            there = tuple(log for log in by_request if covering.covered(table, group, (log,))[-1][0] in visited)
            files = _with_compacted(table, group, logs, there, protocol)
            shape = _slice_fold(table, group, based, files, protocol)._replace(shown=shown)
            if of_window and shape.base is not None:
                shape = shape._replace(base=shape.base._replace(shown=shown))
            return shape
    return NOTHING


def in_window(table: Table, after: int, until: float, protocol: Protocol) -> tuple[Write, ...]:
    """The completed writes whose time lies in (after, until]."""
    by_completion = protocol.incremental_axis == "completion"
    return tuple(
        write
        for write in table.writes
        if write.completed is not None and after < (write.completed if by_completion else write.requested) <= until
    )


def not_replaced(writes: tuple[Write, ...], group: int) -> tuple[Write, ...]:
    """Of completed writes those that no replace among them hides in a file group."""
    since = max((write.requested for write in writes if group in write.replaced), default=0)
    return tuple(write for write in writes if (write.ranks_at(group) or 0) >= since)


def changes(table: Table, group: int, after: int, until: float, protocol: Protocol) -> tuple[Fold, Fold]:
    """The two states whose difference is the change log of (after, until]."""
    return as_of(table, group, after, protocol), as_of(table, group, until, protocol)


def _fold_of(table: Table, group: int, barrier: int | None, writes: tuple[Write, ...], protocol: Protocol) -> Fold:
    return _slice_fold(table, group, barrier, _logs_of(writes, group, protocol), protocol)


def _logs_of(writes: tuple[Write, ...], group: int, protocol: Protocol) -> tuple[Log, ...]:
    return tuple(log for write in in_order(writes, protocol) for log in write.logs(group))


def _slice_fold(table: Table, group: int, barrier: int | None, logs: tuple[Log, ...], protocol: Protocol) -> Fold:
    base, merged = base_file(table, group, barrier, protocol), covering.layers(table, group, logs)
    if base is None or protocol.fold == "rank":
        return Fold(base, merged)
    # The log that holds the base's tombstones has the compaction's own instant and takes its place among the logs.
    instant = next((i for i, plan in enumerate(table.plans) if plan.requested == barrier), None)
    if instant is None:  # loaded: there are no tombstones
        return Fold(base, merged)
    by_request = protocol.merge_order == "requested"
    own = table.plans[instant].requested if by_request else table.completed[instant] or inf
    return Fold(base, merged, sum(covering.merge_time(table, group, log, protocol) < own for log in logs))
