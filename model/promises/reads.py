"""Promises about reads: SNAP (snapshots), TRAVEL (time travel), INCR (incremental queries), CDC (change logs), ATOM
(atomicity). A time T is settled if every instant that completes by T is published.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import inf

from ..kernel.merge import Fold, logs_of
from ..kernel.table import Log, Write
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.consumers import CONSUMER, time_of
from ..mechanisms.insert_overwrite import ranks_at, replaced
from ..mechanisms.restores.rules import hides
from ..model import Model
from ..variants.windows import Windows
from .columns_shown import columns_broken, columns_changed
from .compare import against_oracle, one_against_other
from .conflicts import inserted_twice, key_twice
from .promise import Promise
from .sentences import key_given, row_of, write_named
from .shape import completions_of, windows_of
from .valuations import adds_up_wrongly, changes_differ, changes_right, expected, names_for, read
from .view import (
    View,
    answered_times,
    answers,
    completions_first,
    distinct_times,
    everything,
    on_table,
    on_table_and_readers,
    settled_times,
    truths,
    view_of,
)


def snapshot_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise SNAP: the snapshot, every read as of a settled time T, and every answer of a reader merge exactly
    the writes that completed by T.
    """
    view = view_of(model, after)
    if broken := key_twice(view.done.values()) or inserted_twice(model, after):
        return broken
    settled = settled_times(model, after)
    # The snapshot is a read without a bound. The newest settled time only names it.
    here = [(f"snapshot at t{t}", view, inf, inf) for t in settled[-1:]]
    here += [(f"read as of t{t}", view, t, t) for t in distinct_times(view, answered_times(model, after))]
    for what, seen, time, until in here:
        if broken := _wrong(seen, what, time, view, until):
            return broken
    for who, t, table in answers(model, after):
        seen, what = View(model, table, view.published), f"{who}'s snapshot at t{t}"
        # A reader that was restored away meanwhile may be right about the table before or after the restore.
        found = [_wrong(seen, what, inf, right, t) for right in truths(model, after, who)]
        if all(found):
            return found[0]
    return None


def _wrong(seen: View, what: str, time: float, right: View, until: float) -> str | None:
    for group in seen.groups:
        fold, logs = seen.as_of(group, time), right.logs(group, until=until)
        if broken := against_oracle(right, what, group, fold, right=logs):
            return broken
        if broken := columns_broken(seen, what, group, fold, time):
            return broken
    return None


def same_reads(old: View, new: View, times: tuple[float, ...]) -> str | None:
    """For each time in `times`, compare the reads of two states. Return a sentence about the first read whose answer
    differs; None if there is none.
    """
    if old is new:
        return None
    for time in completions_first(old, times):
        for group in new.groups:
            change = one_against_other(new, group, old.as_of(group, time), new.as_of(group, time))
            if change := change or columns_changed(old, new, group, time):
                return f"the {'snapshot' if time == inf else f'read as of t{time}'} changed {change}"
    return None


def travel_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise TRAVEL: no step changes the answer of a read as of a settled time."""
    assert before is not None
    assert step is not None
    old, new = view_of(model, before), view_of(model, after)
    restores = model.restores(after)
    if changed := same_reads(old, new, tuple(t for t in answered_times(model, before) if not hides(restores, t))):
        return f"when {model.describe(step)}: {changed}"
    for who, time, table in answers(model, after):
        seen = View(model, table, new.published)
        for group in new.groups if not hides(restores, time) else ():
            if change := one_against_other(new, group, seen.as_of(group), new.as_of(group, time)):
                return f"when {model.describe(step)}: {who} answered at t{time}; that answer changed {change}"
    return None


def incremental_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise INCR: an incremental query merges exactly the writes that completed in its window. The state before
    the window, merged with the answer, equals the state after the window.
    """
    view = view_of(model, after)
    # The bounds of a window by requested time say nothing about completions: check what consumers read instead.
    by_bounds = model.protocol[Windows].incremental_axis == "completion" or not model.actors_of(CONSUMER)
    for start, end in (*view.windows, *view.other_windows) if by_bounds else ():
        what = f"incremental read (t{start}, t{end}]"
        for group in view.groups:
            fold, right = view.window(group, start, end), view.logs(group, start, end)
            # Looked for by itself: merging is idempotent, so that no rows show a log that is merged twice.
            if twice := next((log for log in fold.logs if fold.logs.count(log) > 1), None):
                return f"{what} in group {group} delivers {_write_of(view, twice)} twice"
            if broken := against_oracle(view, what, group, fold, right=right, deletes=True):
                return broken
            if broken := columns_broken(view, what, group, fold, end):
                return broken
            if any(group in replaced(view.done[log[0]]) for log in right):
                # A replace hides the state before its request, so the window equals the state after.
                # Rows alone do not show how much of a state between request and completion remains.
                continue
            # The right records in a window are not enough: merged into the state before it, they must give the state
            # after it.
            if broken := _does_not_add_up(view, what, group, (start, end)):
                return broken
    return consumers_served(model, after)


def _write_of(view: View, log: Log | Fold) -> str:
    requested = next(iter(logs_of(log)))[0] if isinstance(log, Fold) else log[0]
    return write_named(view.done.get(requested), requested)


def _does_not_add_up(view: View, what: str, group: int, window: tuple[float, float]) -> str | None:
    start, end = window
    folds = view.as_of(group, start), view.window(group, start, end), view.as_of(group, end)
    held = {log for fold in folds for log in logs_of(fold)}
    ranked = [log for log in view.every_log(group) if log in held]
    names = names_for((*ranked, *sorted(held.difference(ranked))))
    old, inside, new = (view.renamed(fold, names) for fold in folds)
    rows = adds_up_wrongly(old, inside, new, len(names), view.merger)
    if rows is None:
        return None
    key = key_given(view.unnamed(rows, names), view.writes)
    return f"{what} in group {group}, merged into the read as of t{start}, is not the read as of t{end} for {key}"


def consumers_served(model: Model, state: State) -> str | None:
    """Return a sentence if a consumer missed a write or received a write twice; None otherwise."""
    done = view_of(model, state).done
    for name in model.actors_of(CONSUMER):
        consumer = model.component(state, name)
        if consumer.again:
            return f"{name} has read {write_named(done.get(consumer.again), consumer.again)} in two of its windows"
        # By the axis on which its windows are cut: a checkpoint is a time of that axis.
        passed = (w for w in done.values() if time_of(w, model.protocol) <= consumer.checkpoint)
        for each in model.restores(state):
            if (undone := {*each.undone} & {*consumer.delivered}) and consumer.checkpoint >= each.requested:
                return f"{name} has read the write requested at t{min(undone)}, but not the restore that has undone it"
        if missed := [write for write in passed if write.requested not in consumer.delivered]:
            write = min(missed, key=lambda each: each.requested)
            stored = f"{name} has stored the checkpoint t{consumer.checkpoint}"
            return f"{stored}; {write_named(write, write.requested)} was in none of its windows and will be in none"
    return None


def _on_table_and_consumers(model: Model) -> tuple[str, ...]:
    return (*on_table(model), *model.actors_of(CONSUMER))


def _shape_without_consumers(model: Model, *states: State) -> Hashable | None:
    return None if model.actors_of(CONSUMER) else windows_of(model, *states)


def changes_hold(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise CDC: a change log equals the difference between the correct snapshots at the start and end of its
    window.
    """
    view = view_of(model, after)
    for window in (*view.windows, *view.other_windows):
        for group in view.groups:
            if broken := _changes_broken(view, group, window):
                return broken
    return None


def _changes_broken(view: View, group: int, window: tuple[float, float]) -> str | None:
    folds = view.changes(group, *window)
    right = [view.logs(group, until=time) for time in window]
    if changes_right((folds[0], right[0]), (folds[1], right[1]), view.merger):
        return None
    names = view.names(group, *folds, *(Fold(None, logs) for logs in right))
    before, after = (
        (view.renamed(fold, names), tuple(names[log] for log in logs))
        for fold, logs in zip(folds, right, strict=True)
    )
    rows = changes_differ(before, after, len(names), view.merger)
    if rows is None:
        return None
    own = view.unnamed(rows, names)
    is_now = [row_of(read(fold, own, view.merger, deletes=False), view.writes) for fold in folds]
    should = [row_of(expected(logs, own, view.merger, deletes=False), view.writes) for logs in right]
    return (
        f"change log (t{window[0]}, t{window[1]}] in group {group}: {key_given(own, view.writes)} goes from "
        f"{is_now[0]} to {is_now[1]}, not from {should[0]} to {should[1]}"
    )


def atomic_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise ATOM: a read sees either all files of a write, in all file groups, or none of them. A read sees no
    file of an uncompleted write.
    """
    view = view_of(model, after)
    settled = answered_times(model, after)
    reads: list[tuple[str, list[Fold]]] = [("snapshot", [view.as_of(group) for group in view.groups])]
    times, windows = distinct_times(view, settled), (*view.windows, *view.other_windows)
    reads += [(f"read as of t{t}", [view.as_of(group, t) for group in view.groups]) for t in times]
    reads += [(f"incremental read (t{a}, t{t}]", [view.window(g, a, t) for g in view.groups]) for a, t in windows]
    if broken := next((broken for what, folds in reads if (broken := _torn(view, what, folds))), None):
        return broken
    for who, time, table in answers(model, after):
        seen = View(model, table, view.published)
        folds = [seen.as_of(group) for group in view.groups]
        if broken := _torn(everything(model, after), f"{who}'s snapshot at t{time}", folds):
            return broken
    return None


def _torn(view: View, what: str, folds: list[Fold]) -> str | None:
    held = {(group, *log) for group, fold in enumerate(folds) for log in logs_of(fold)}
    for requested in sorted({log[1] for log in held}):
        write = view.done.get(requested)
        if write is None:
            group = min(log[0] for log in held if log[1] == requested)
            pending = write_named(view.writes.get(requested), requested)
            return f"{what} in group {group} holds a log of {pending}, which has not completed"
        seen = (file for file in write.files if not _is_replaced(view, write, file[0], held))
        lost = [(group, version) for group, version in seen if (group, requested, version) not in held]
        if lost:
            return (
                f"{what} holds a part of {write_named(write, requested)}: its log version {lost[0][1]} in group "
                f"{lost[0][0]} is missing"
            )
    return None


def _is_replaced(view: View, write: Write, group: int, held: set[tuple[int, int, int]]) -> bool:
    # Only by a replace that the read itself holds: one that it does not see cannot excuse a missing file.
    others = (view.done.get(requested) for in_group, requested, _ in held if in_group == group)
    rank = ranks_at(write, group) or 0
    return any(other is not None and group in replaced(other) and other.requested > rank for other in others)


def two_writes(model: Model, state: State) -> bool:
    """True if at least two writes have completed. Reads of fewer writes do not test merging."""
    return len(view_of(model, state).done) > 1


SNAP = Promise(
    name="SNAP",
    about="A snapshot at T merges the writes completed at or before T and nothing else.",
    source="RFC-66, reader expectations; docs/contract.md, SNAP",
    kind="state",
    holds=snapshot_holds,
    sometimes=two_writes,
    reads=on_table_and_readers,
    shape=completions_of,
)
TRAVEL = Promise(
    name="TRAVEL",
    about="A read at a settled T always returns the same answer.",
    source="RFC-66, time travel queries",
    kind="step",
    holds=travel_holds,
    sometimes=two_writes,
    reads=on_table_and_readers,
    shape=completions_of,
)
INCR = Promise(
    name="INCR",
    about="The window (T0, T1] is the merge of exactly the writes that completed in it.",
    source="RFC-66, incremental queries; RFC-22, incremental reads",
    kind="state",
    holds=incremental_holds,
    sometimes=two_writes,
    reads=_on_table_and_consumers,
    shape=_shape_without_consumers,
)
CDC = Promise(
    name="CDC",
    about="The change log of a window is the difference of the two snapshots.",
    source="RFC-66, incremental and CDC queries",
    kind="state",
    holds=changes_hold,
    sometimes=two_writes,
    reads=on_table,
    shape=windows_of,
)
ATOM = Promise(
    name="ATOM",
    about="A read sees all of a write or nothing of it, and nothing of a write that never completed.",
    source="RFC-22, atomic commits",
    kind="state",
    holds=atomic_holds,
    sometimes=two_writes,
    reads=on_table_and_readers,
    shape=windows_of,
)
