"""Windows as definitions: what an incremental or change read takes of a file group.

    (after, until]    the logs of the writes whose time lies in the window, merged among themselves
    changes           what differs between as of `after` and as of `until`

RFC-66, "Incremental/CDC Queries"; its pseudocode and what Hudi's readers do instead are weaker choices.
"""

from __future__ import annotations

from math import inf

from ..files import covering
from ..files.copy_on_write import is_copy_on_write, window_of
from ..files.slicing import loads, writes_by_slice
from ..merging.fold import NOTHING, Fold
from ..protocol import Protocol
from ..table import Log, Table, Write
from .definitions import as_of, logs_in_order, slice_begin, slice_fold, standing


def incremental(table: Table, group: int, after: int, until: float, protocol: Protocol) -> Fold:
    """What the window (after, until] takes of one file group: logs, on base files that a write itself has put."""
    if is_copy_on_write(table):
        shape = window_of(table, group, in_window(table, after, until, protocol))
    elif protocol.window_merge == "logs":
        writes = not_replaced(in_window(table, after, until, protocol), group)
        loaded = tuple(file for write in writes if group in write.loaded for file in write.files_in(group))
        logs = _with_compacted(table, group, writes, _compacted_in(table, group, after, until, protocol), protocol)
        shape = slice_fold(table, group, None, logs, protocol)
        shape = shape._replace(logs=(*loaded, *shape.logs)) if loaded else shape
    elif protocol.window_merge in ("slice_of_files", "slice_of_files_from"):
        shape = _slice_of_files_in(table, group, after, until, protocol)
    else:
        shape = _newest_slice_in(table, group, after, until, protocol)
    return shape if protocol.window_deletes == "marked" else shape._replace(deletes=False)


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
    logs = logs_in_order(merged, group, protocol)
    return slice_fold(table, group, barrier, logs, protocol)._replace(shown=shown)


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
    logs = logs_in_order(writes, group, protocol)
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
            shape = slice_fold(table, group, based, files, protocol)._replace(shown=shown)
            if of_window and shape.base is not None:
                shape = shape._replace(base=shape.base._replace(shown=shown))
            return shape
    return NOTHING


def in_window(table: Table, after: int, until: float, protocol: Protocol) -> tuple[Write, ...]:
    """The completed writes whose time lies in (after, until]."""
    by_completion = protocol.incremental_axis == "completion"
    return tuple([
        write
        for write in table.writes
        if write.completed is not None and after < (write.completed if by_completion else write.requested) <= until
    ])  # fmt: skip


def not_replaced(writes: tuple[Write, ...], group: int) -> tuple[Write, ...]:
    """Of completed writes those that no replace among them hides in a file group."""
    since = max([write.requested for write in writes if group in write.replaced], default=0)
    return tuple([write for write in writes if (write.ranks_at(group) or 0) >= since])


def changes(table: Table, group: int, after: int, until: float, protocol: Protocol) -> tuple[Fold, Fold]:
    """The two states whose difference is the change log of (after, until]."""
    return as_of(table, group, after, protocol), as_of(table, group, until, protocol)
