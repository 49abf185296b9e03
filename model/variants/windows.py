"""The options that select an interpretation of the RFCs' ambiguous text on incremental queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Literal

from ..kernel.merge import NOTHING, Fold
from ..kernel.reads import slice_fold, visible
from ..kernel.slicing import logs_in_order, writes_by_slice
from ..kernel.table import Log, Table, Write
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..mechanisms.log_compaction.rules import compacted_in, with_compacted, with_inputs
from ..protocol import Protocol
from ..rules import Rules
from .slicing import slice_begin

OneWindow = Callable[[Rules, Table, int, float, float], Fold]
"""(rules, table, file group, `after`, `until`) -> what an incremental query of the window (after, until] merges."""


class Windows(Options):
    """The options that decide what an incremental query returns."""

    incremental_axis: Literal["completion", "requested"] = option(
        "completion",
        "The time by which an incremental window includes writes.",
    )
    window_merge: Literal[
        "logs", "slice_of_window", "slice_of_table", "slice_of_files", "slice_of_files_from", "uncompacted_slices"
    ] = (
        option(
            "logs",
            "What a window merges. logs: its own logs. slice_of_window: the newest slice of the files of its "
            "instants, base files included. slice_of_table: the newest slice of the table that begins within it. "
            "slice_of_files: the newest slice of the files that completed in it, with base files alone as barriers "
            "(RFC-66, incremental queries). slice_of_files_from: the same, and it shows rows of writes that completed "
            "at its start again. uncompacted_slices: a window from the beginning has the slices that no completed "
            "compaction begins (Hudi's Flink reader with skip_compaction); a later window has its own logs.",
        )
    )
    window_deletes: Literal["marked", "omitted"] = option(
        "marked",
        "Whether a window shows the deletes that win in it.",
    )


def refine(protocol: Protocol) -> Iterator[type[Rules]]:
    """Yield the rules for incremental queries under the options of `Windows`."""
    options = protocol[Windows]
    if options.incremental_axis == "requested":
        yield WindowsByRequest
    if options.window_merge != "logs":
        yield merges_by(WINDOWS[options.window_merge])
    if options.window_deletes == "omitted":
        yield DeletesOmitted


class WindowsByRequest(Rules):
    """A window includes the completed writes that were requested in it."""

    def in_window(self, table: Table, after: float, until: float) -> tuple[Write, ...]:
        return tuple([w for w in table.writes if w.completed is not None and after < w.requested <= until])


class DeletesOmitted(Rules):
    """An incremental query omits keys whose winning record is a delete."""

    def incremental(self, table: Table, group: int, after: float, until: float) -> Fold:
        return super().incremental(table, group, after, until)._replace(deletes=False)


def merges_by(merge_window: OneWindow) -> type[Rules]:
    """Return the rules under which `merge_window` decides which files an incremental query merges."""

    class MergesBy(Rules):
        def incremental(self, table: Table, group: int, after: float, until: float) -> Fold:
            return merge_window(self, table, group, after, until)

    return MergesBy


def slice_of_files(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Read an incremental window exactly as stated in RFC-66's pseudocode for incremental queries.

    Merge only the newest base file that completed in the window, and the window's logs that completed after the base
    file's requested time. The answer contains only rows of writes that completed in (after, until].
    """
    return _slice_of_files(rules, table, group, (after, until), rules.in_window(table, after, until))


def slice_of_files_from(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Read an incremental window as in RFC-66's pseudocode, but include rows of writes that completed exactly at
    `after`, as stated in the text of RFC-66.
    """
    return _slice_of_files(rules, table, group, (after, until), rules.in_window(table, after - 1, until))


def _slice_of_files(
    rules: Rules, table: Table, group: int, window: tuple[float, float], valid: tuple[Write, ...]
) -> Fold:
    after, until = window
    done = [(at, completed) for at, completed in rules.bases(table, group) if completed is not None]
    barrier = max((at for at, completed in done if after < completed <= until), default=None)
    inside = rules.in_window(table, after, until)
    merged = (write for write in inside if barrier is None or barrier < (write.completed or 0))
    shown = tuple(file for write in valid for file in write.files_in(group))
    return slice_fold(rules, table, group, barrier, logs_in_order(rules, merged, group))._replace(shown=shown)


def slice_of_window(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Read an incremental window like a snapshot of a table that contains only the files of instants completed in the
    window.

    Only the newest base file in the window is merged, together with the window's logs in its slice and in newer slices.
    As in a snapshot, pending plans begin slices. Base-file rows whose writes did not complete in the window are removed
    before the merge.
    """
    inside = rules.in_window(table, after, until)
    compacted, first, last = _requests(rules, table, group, (after, until), inside)
    part = _part(table, inside, lambda requested, completed: requested in compacted or completed is None)
    logs: tuple[Write, ...] = ()
    visited: set[int] = set()
    for barrier, members, is_base in _slices_until(rules, part, group, last):
        visited |= {write.requested for write in members}
        logs += members
        if is_base:
            files = _with_log_compactions(rules, table, group, logs, visited, (first, last))
            fold = _shown(slice_fold(rules, table, group, barrier, files), inside, group)
            return fold if fold.base is None else fold._replace(base=_shown(fold.base, inside, group))
    return NOTHING


def slice_of_table(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Read an incremental window as one file slice of the table: the newest slice that begins at or before the greatest
    requested time in the window. For this query, pending plans do not begin slices.

    Logs are merged if they were requested between the smallest and the greatest requested time of the window's
    instants. The base file of the slice is not merged if its instant was requested before all instants of the window.
    """
    inside = rules.in_window(table, after, until)
    _, first, last = _requests(rules, table, group, (after, until), inside)
    part = _part(table, visible(rules, table.writes, inf), lambda requested, completed: completed is not None)
    logs: tuple[Write, ...] = ()
    visited: set[int] = set()
    for barrier, members, is_base in _slices_until(rules, part, group, last):
        visited |= {write.requested for write in members}
        logs += tuple(write for write in members if first <= write.requested <= last)
        if is_base:
            based = barrier if (barrier or 0) >= first else None
            files = _with_log_compactions(rules, table, group, logs, visited, (first, last))
            return _shown(slice_fold(rules, table, group, based, files), inside, group)
    return NOTHING


def uncompacted_slices(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Read a window from the beginning as a scan of the table whose timeline lacks the completed compactions.

    The scan does not return slices that a completed compaction begins, and so loses the logs in them. A later window
    merges the logs of its own instants.
    """
    done = (plan for plan, at in zip(table.plans, table.completed, strict=True) if at is not None)
    # The plan of a replace has no input files.
    compacted = {plan.requested for plan in done for part in plan.groups if part.group == group and part.logs}
    slices = writes_by_slice(rules, table, group).items() if after <= 0 else ()
    left_out = {write.requested for barrier, members in slices if barrier in compacted for write in members}
    scanned = table._replace(writes=tuple(write for write in table.writes if write.requested not in left_out))
    plain: Rules = rules.under(window_merge="logs")
    return plain.incremental(scanned, group, after, until)


def _requests(
    rules: Rules, table: Table, group: int, window: tuple[float, float], inside: tuple[Write, ...]
) -> tuple[set[int], float, float]:
    after, until = window
    done = zip(table.plans, table.completed, strict=True)
    compacted = {plan.requested for plan, at in done if at is not None and after < at <= until}
    log_compactions = compacted_in(rules, table, group, after, until)
    requests = [*(write.requested for write in inside), *compacted, *(log[0] for log in log_compactions)]
    return compacted, min(requests, default=inf), max(requests, default=-inf)


def _part(table: Table, writes: tuple[Write, ...], keeps: Callable[[int, int | None], bool]) -> Table:
    plans = [(p, done) for p, done in zip(table.plans, table.completed, strict=True) if keeps(p.requested, done)]
    return Table(writes, tuple(plan for plan, _ in plans), tuple(done for _, done in plans))


def _slices_until(
    rules: Rules, part: Table, group: int, last: float
) -> Iterator[tuple[int | None, tuple[Write, ...], bool]]:
    bases = {at for at, completed in rules.bases(part, group) if completed is not None}
    for barrier, members in reversed(writes_by_slice(rules, part, group).items()):
        if (barrier if barrier is not None else slice_begin(rules, members)) <= last:
            yield barrier, members, barrier is None or barrier in bases


def _with_log_compactions(
    rules: Rules,
    table: Table,
    group: int,
    writes: tuple[Write, ...],
    visited: set[int],
    between: tuple[float, float],
) -> tuple[Log, ...]:
    first, last = between
    candidates = (log for log in compacted_in(rules, table, group, 0, inf) if first <= log[0] <= last)
    inside = tuple(log for log in candidates if with_inputs(table, group, (log,))[-1][0] in visited)
    return with_compacted(rules, table, group, logs_in_order(rules, writes, group), inside)


def _shown(fold: Fold, inside: tuple[Write, ...], group: int) -> Fold:
    return fold._replace(shown=tuple(file for write in inside for file in write.files_in(group)))


WINDOWS: Mapping[str, OneWindow] = {
    "slice_of_window": slice_of_window,
    "slice_of_table": slice_of_table,
    "slice_of_files": slice_of_files,
    "slice_of_files_from": slice_of_files_from,
    "uncompacted_slices": uncompacted_slices,
}

MECHANISM = Mechanism(options=Windows, rules=refine)
