"""Commits instants under the table's lock alone, or by putting the next entry of the decision log (`Rules.decision`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ..config.coordination import mode_of
from ..context import Context
from ..errors import Conflict
from ..lock import held
from ..storage import Storage
from ..timeline.cuts import is_cut, put_cut
from ..timeline.decisions import (
    Decision,
    LogEntry,
    carry_out,
    forget_before,
    is_carried_out,
    last_entry,
    put_decision,
    put_entry,
)

NOTHING: Final = LogEntry(0)
"""Before the first decision."""


def uses_decision_log(context: Context) -> bool:
    """Return whether commits are decided by entries of a decision log rather than by the lock."""
    return context.rules.decision != "lock"


def announces(context: Context) -> bool:
    """Return whether a writer announces its instant, so that another actor may decide it (`writes.announced`)."""
    return context.rules.decision in ("shared", "free")


def decides_without_lock(context: Context) -> bool:
    """Return whether entries of the decision log alone order what is decided, so that no writer takes the table's lock.
    """
    return context.rules.decision == "free"


def is_parallel(context: Context) -> bool:
    """Return whether the instants of one entry are published at the same time."""
    return decides_without_lock(context) and context.rules.publication == "parallel"


@contextmanager
def in_order(context: Context) -> Iterator[None]:
    """Hold the table's lock during the `with` block, unless the decision log alone orders what is decided."""
    if decides_without_lock(context):
        yield
        return
    with held(context.lock):
        yield


def need_lock(context: Context) -> None:
    """Raise `Unsupported` before anything is written if an operation needs the table's lock and writers take none."""
    if decides_without_lock(context):
        with held(context.lock):
            return


def learn_tail(context: Context) -> LogEntry:
    """Return the last entry of the decision log, whether or not its instants are on the timeline."""
    decoded = context.commits.decoded
    last = last_entry(context.storage, decoded.tail)
    refuse_converted(context, last)
    decoded.tail = last
    return NOTHING if last is None else last


def catch_up(context: Context, listed: Storage | None = None) -> LogEntry:
    """Carry out the last entry of the decision log if that was not done yet, and return the entry. On return, the
    timeline contains every instant in the log, and the clock has passed the time of the last entry.

    `listed` is a storage with prefetched listings; the default is the storage of `context`.
    """
    storage = listed or context.storage
    while (last := last_entry(storage)) is not None and not is_carried_out(storage, last):
        # Its writer has died or paused before it put the timeline file. In the meantime another may decide more.
        carry_out(context.storage, last)
        # The prefetched listings are older than the instant that was just put.
        storage.forget_listings()
    if last is None:
        return NOTHING
    refuse_converted(context, last)
    context.clock.not_before(last.time)
    return last


def refuse_converted(context: Context, last: LogEntry | None) -> None:
    """Raise `Conflict` if the table was converted to another `nbcc.decision` after this process had opened it
    (`actions.convert`). An entry that reserves no time was put under a lock.
    """
    if last is None:
        return
    is_other = last.decision not in ("", mode_of(context.rules.decision, context.rules.publication))
    if is_other or (decides_without_lock(context) and not last.reserved):
        raise Conflict(
            f"write to the table {context.storage.url} with nbcc.decision={context.rules.decision}",
            f"it was converted to nbcc.decision={last.decision or 'log or shared'}",
            "open the table again; if that does not help, its conversion was interrupted: convert it again",
        )


def decide(context: Context, decision: Decision, before_publication: Callable[[], None] = lambda: None) -> bool:
    """Put `decision` into the decision log, then put its instant onto the timeline. Returns False and decides nothing
    if another writer has already put a log entry with the same number, even if that entry has been deleted since.
    """
    if not put_decision(context.storage, decision):
        return False
    if is_cut(context.storage, decision.number):
        return _took_effect(context, decision)
    # Between the entry and the timeline file: the entry has decided for this attempt, and no reader sees the instant
    # yet.
    before_publication()
    carry_out(context.storage, LogEntry(decision.number, (decision,)))
    return True


def _took_effect(context: Context, decision: Decision) -> bool:
    """Return whether an entry that was created, and whose number has been cut, was the first with its number.

    Everything before a cut is carried out. So if the writer paused only after it had created a valid entry, another
    actor has put its instant. Otherwise the number was free because its entry had been deleted. An entry that only
    reserves a time leaves no trace: its writer reserves another. `before_publication` is not called, because the
    instant is on the timeline: files of other attempts at it stay, as orphans (`repair.orphans`).
    """
    if decision.kind == "time":
        return False
    there = context.commits.history(context.active()).at(decision.requested)
    return bool(there) if decision.kind == "plan" else decision.instant in there


def cut(context: Context, last: LogEntry | None) -> None:
    """Put a cut of the decision log just before the last entry, and delete older entries.

    The caller must hold the table's lock. The entry `last` and all earlier entries must already be carried out.
    """
    # The last entry always stays: its time and number bound the next entry.
    if last is not None and last.number > 1:
        # The cut before the deletion, so that a late writer that finds a number free also finds the cut.
        put_cut(context.storage, last.number - 1)
        forget_before(context.storage, last.number - 1)


def withdraw(context: Context, requested: str) -> None:
    """Before a plan is removed from the timeline, ensure that the plan is not the last entry of the decision log.

    If the removed plan were the last entry of the decision log, the next writer would put it again.
    """
    while uses_decision_log(context) and (last := catch_up(context)).item(requested) is not None:
        taken = context.clock.take()
        if decides_without_lock(context):
            put_entry(context.storage, last._replace(number=last.number + 1, items=(), reserved=taken))
        else:
            put_decision(context.storage, Decision(last.number + 1, "time", taken, "", taken))
