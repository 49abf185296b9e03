"""The steps shared by all writing operations: request an instant, delete the files of other attempts at the instant,
and complete the instant.

Each function accesses the storage, the lock and the clock in a fixed order. A writing operation calls the functions of
this module in sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from ..context import Context
from ..data.tasks import WrittenFile
from ..errors import Conflict
from ..file_names import marker_folder
from ..lock import held
from ..storage import Storage, listed_ahead, together
from ..timeline import Instant, decode_rollback_plan, put_completed, put_inflight, put_requested
from ..timeline.announcements import Announced, forget_announcements
from ..timeline.decisions import FOLDER as DECISIONS
from ..timeline.decisions import Decision, LogEntry, remember_cut
from ..timeline.history import Active
from ..timeline.instant import PENDING
from ..timeline.timeline import FOLDER
from .attempts import delete_other_attempts, delete_own_files, files_of_other_attempts, forget_markers, marked_files
from .claims import new_time
from .decision_log import announces, catch_up, decide, in_order, uses_decision_log, withdraw
from .idempotency import claim_batch, repeated

ROLLBACK: Final = "rollback"
REPLACING: Final = "compaction"
"""The action under which a replacing write is pending, because its plan is a compaction plan (`services.replacing`).
With a decision log, that plan is an entry of the log, so a writer that undoes its replacing write withdraws the entry.
"""


class LeavesLock(Exception):
    """Raised by a check under the lock whose caller has more files to put before it completes the instant."""


def request(context: Context, action: str, batch_id: str | None = None, *, starts: bool = False) -> tuple[str, Active]:
    """Put the requested state of a new instant as ``<now>.<action>.requested``. Returns the requested time, and the
    timeline listed under the lock, which the conflict check later compares with the current timeline (RFC-22).

    If `starts` is True, the inflight state is also put: during the lock's release in an object store, after the release
    on a file system. Raises `Repeated` and puts nothing if the batch with the id `batch_id` has already been written.
    """
    after: list[Callable[[], object]] = []
    failures: list[Exception] = []
    with held(context.lock, lambda release: together(context.storage, [release, *after])):
        at_request = context.active()
        if written := repeated(context, at_request, batch_id):
            raise written
        requested = put_request(context, at_request, action)
        with stop_heartbeat_on_error(context, requested):
            claim_batch(context, requested, batch_id)
        if starts:
            after.append(partial(_start, context, requested, action, failures))
    # Raised only now: while the lock was being released, an undo would have taken it again.
    for failure in failures:
        with undo_on_error(context, requested, action):
            raise failure
    return requested, at_request


def _start(context: Context, requested: str, action: str, failures: list[Exception]) -> None:
    """Put the inflight state of a requested instant. An exception is appended to `failures`, because the caller's
    thread must handle it.
    """
    with stop_heartbeat_on_error(context, requested):
        try:
            put_inflight(context.storage, requested, action)
        except Exception as error:  # any error is raised again
            failures.append(error)


def put_request(context: Context, timeline: Active, action: str) -> str:
    """Put the requested state of a new instant; the caller holds the table's lock. The heartbeat starts no later
    than the put of the requested file, because a pending instant without a heartbeat counts as failed.
    """
    requested = new_time(context, timeline)
    # Hudi ignores the content of a requested write, so it can hold a token of the writer.
    token = context.names.write_token().encode()
    steps: list[Callable[[], object]] = [
        partial(context.heartbeats.start, requested),
        partial(put_requested, context.storage, requested, action, token),
    ]
    with stop_heartbeat_on_error(context, requested):
        together(context.storage, steps)
    return requested


@contextmanager
def stop_heartbeat_on_error(context: Context, requested: str) -> Iterator[None]:
    """Stop renewing the instant's heartbeat if the `with` block fails or is interrupted; a rollback may then undo the
    instant.

    The files of the pending instant are not changed.
    """
    try:
        yield
    except LeavesLock:
        raise
    except (Exception, KeyboardInterrupt):
        context.heartbeats.stop_renewing(requested)
        raise


@contextmanager
def undo_on_error(context: Context, requested: str, action: str) -> Iterator[None]:
    """If the `with` block (the data phase of a write) fails, delete the files and the instant of the write.

    The instant must not be completed inside the `with` block, because a completion that raises an error may still have
    published the instant. If the process crashes or is interrupted, the files and the pending instant remain. Readers
    ignore the files of a pending instant, and a rollback deletes them.
    """
    with stop_heartbeat_on_error(context, requested):
        try:
            yield
        except Exception:  # any error of the data phase reaches the caller
            undo_own_write(context, requested, action)
            raise


def undo_own_write(context: Context, requested: str, action: str) -> None:
    """Delete the files of this process's instant, then the instant itself. The instant is removed under the lock, so
    that all later holders of the lock list the timeline without it.
    """
    # Files before their markers: if this process dies in between, a rollback still finds what is left.
    for path in marked_files(context, requested):
        context.storage.delete(path)
    forget_markers(context, requested)
    with stop_heartbeat_on_error(context, requested), in_order(context):
        if action == REPLACING:
            withdraw(context, requested)
        remove_pending(context, requested, action)


@contextmanager
def lock_or_leave(context: Context, requested: str) -> Iterator[None]:
    """Hold the table's lock while the `with` block completes an instant. If the lock is unavailable or the `with` block
    fails, the heartbeat stops, and a rollback may then undo the instant.
    """
    with stop_heartbeat_on_error(context, requested), held(context.lock):
        yield


def remove_pending(context: Context, requested: str, action: str) -> None:
    """Delete the timeline files and the heartbeat of a pending instant. The caller must already have deleted the
    instant's data files.
    """
    if announces(context):
        names = [Announced(requested, action, is_checked=is_checked) for is_checked in (False, True)]
        forget_announcements(context.storage, names)
    # Inflight before requested: a reader must never see an inflight state without a request.
    for state in PENDING:
        context.storage.delete(f"{FOLDER}/{Instant(requested, action, state).file_name}")
    context.heartbeats.stop(requested)


def _nothing(active: Active | None) -> None: ...


def complete(
    context: Context,
    requested: str,
    action: str,
    *,
    files: Sequence[WrittenFile],
    commit: bytes,
    completed_by_another: Callable[[], Instant | Conflict | None] = lambda: None,
    refused_by: Callable[[Active | None], Conflict | None] = _nothing,
    check_under_lock: Callable[[Active | None], Conflict | None] = _nothing,
    batch_id: str | None = None,
    may_check_early: bool = False,
    has_heartbeat: bool = True,
    is_shared: bool = True,
) -> Instant:
    """Publish the completed state of an instant with a new completion time under the lock, then delete its markers.

    With a decision log, the commit is first put into the log as the next entry. If another writer has put that entry,
    one of the two has lost the lock, which no longer excludes the other. All checks are then repeated, and the log
    alone decides: a round reads the last entry before it checks, and its put fails if anything was decided after that.

    `completed_by_another` is called before all other checks. If it returns a completed instant, `complete` deletes
    `files` and returns that instant. If another attempt has committed the batch `batch_id`, the instant is undone and
    `Repeated` is raised. The last two checks are `check_under_lock`, always under the lock, and `refused_by`. Both get
    the timeline listed under the lock, or None. If one returns a `Conflict`, the instant is undone and the `Conflict`
    is raised. Either may raise `LeavesLock`: the instant stays pending. With `Rules(conflict_check="before_lock")` and
    `may_check_early`, `refused_by` is called before the lock is taken. If `has_heartbeat` is True, the instant has a
    heartbeat, which must not have expired. If `is_shared` is True, another process may attempt the instant.
    """
    context.clock.not_before(requested)  # another process may have asked for it, by a clock that is ahead of ours
    if may_check_early and context.rules.conflict_check == "before_lock":
        if refusal := refused_by(None):
            undo_own_write(context, requested, action)
            raise refusal
        refused_by = _nothing
    early = context.clock.take() if takes_time_early(context) else None
    instant = refusal = None
    with lock_or_leave(context, requested):
        while instant is None and refusal is None:
            storage, last = _listed_to_publish(context, requested, has_heartbeat)
            by_another = completed_by_another()
            if isinstance(by_another, Instant):
                delete_own_files(context, requested, files)
                return by_another
            timeline = context.active(storage) if has_heartbeat else None
            refusal = by_another or _refusal(context, timeline, requested, action, batch_id)
            refusal = refusal or check_under_lock(timeline) or refused_by(timeline)
            if refusal is None:
                others = files_of_other_attempts(context, requested, files, storage)
                if last is None:
                    delete_other_attempts(context, requested, others)
                completed = early or _completion_time(context)
                instant = _published(context, requested, action, completed, commit, last, others)
    if instant is None:
        assert refusal is not None, "the loop ends with one of the two"
        undo_own_write(context, requested, action)
        raise refusal
    stop = [partial(context.heartbeats.stop, requested)] if has_heartbeat else []
    together(context.storage, [partial(forget_markers, context, requested, None if is_shared else files), *stop])
    return instant


def _completion_time(context: Context) -> str:
    """Return the completion time of a write, taken under the lock or after the last entry of the decision log was read.
    Otherwise the write could complete at a time up to which a reader has already read, or a compaction has already
    taken the logs (RFC-66).
    """
    # No timeline is passed: each earlier holder of the lock waited until all clocks had passed its time, and with a
    # decision log `catch_up` has advanced the clock past the last entry.
    return new_time(context)


def _listed_to_publish(context: Context, requested: str, has_heartbeat: bool) -> tuple[Storage, LogEntry | None]:
    """Return the storage with the listings that a publication needs, and the last entry of the decision log, if any.
    The listings do not depend on each other, so that an object store answers them at the same time. With a decision
    log, the timeline is listed after the log (`last_entry`). If it does not show the instant of the last entry,
    `catch_up` drops the listings, and the checks list again.
    """
    markers = marker_folder(requested)
    if not uses_decision_log(context):
        return listed_ahead(context.storage, markers, *([FOLDER] if has_heartbeat else [])), None
    remember_cut(context.storage)
    storage = listed_ahead(context.storage, markers, DECISIONS)
    return storage, catch_up(context, storage)


def _refusal(
    context: Context, timeline: Active | None, requested: str, action: str, batch_id: str | None
) -> Conflict | None:
    """Return the error if a write must not be published because it is rolled back, or because another attempt has
    committed its batch. `timeline` was listed under the table's lock, or after the last entry of the decision log was
    read.
    """
    if timeline is None:
        return None
    conflict = publication_conflict(context, timeline, requested, action)
    checked = context.rules.batch_ids == "checked"
    return conflict or (repeated(context, timeline, batch_id) if checked else None)


def _published(
    context: Context, requested: str, action: str, time: str, commit: bytes, last: LogEntry | None,
    others: Sequence[str],
) -> Instant | None:  # fmt: skip
    """Publish the completed instant; return None if another writer has meanwhile added an entry after `last` to the
    decision log.

    Without a decision log, the files of other attempts (`others`) have been deleted. With one, they are deleted only
    after the log entry has been created. If the files were deleted earlier, a writer that has lost the lock could
    delete files that another writer publishes.
    """
    if last is None:
        # If the lock is a lease, the put fails unless it ends before the lease (`storage.under_lease`). Nothing else
        # protects from a lock lost since the time was taken: the write then completes at a time up to which a reader
        # may have read or a plan may have taken logs, which loses rows (docs/locks.md). The decision log prevents it.
        return put_completed(context.storage, requested, time, action, commit)
    entry = Decision(last.number + 1, "commit", requested, action, time, commit)
    decided = decide(context, entry, lambda: delete_other_attempts(context, requested, others))
    return entry.instant if decided else None


def publication_conflict(context: Context, timeline: Active, requested: str, action: str) -> Conflict | None:
    """Return a `Conflict` if a write must not be published because another process may have started to roll it back.
    `timeline` was listed under the table's lock, or after the last entry of the decision log was read.

    Rollbacks are planned under the lock that also covers publication, or by an entry of the same decision log, so a
    write is either published or rolled back (RFC-22).
    """
    if undone := undone_conflict(context, timeline, requested, action):
        return undone
    if context.heartbeats.is_alive(requested):
        return None
    return _not_published(requested, "its heartbeat stopped for longer than others wait for it")


def undone_conflict(context: Context, timeline: Active, requested: str, action: str) -> Conflict | None:
    """Return a `Conflict` if the timeline proves that a pending write was or will be rolled back."""
    pending = timeline.find(requested, action)
    undone = pending is None or is_passed(context, timeline, requested) or _undone(context, timeline, requested)
    return _not_published(requested, "it has been rolled back") if undone else None


def _not_published(requested: str, because: str) -> Conflict:
    remedy = "write the batch again; if this happens often, check for long pauses of the writer's process"
    return Conflict(f"publish the write {requested}", because, remedy)


def _undone(context: Context, timeline: Active, requested: str) -> bool:
    """Return whether the timeline contains a rollback of the write requested at `requested`. The timeline is checked
    because a paused writer may put its instant's file again after the rollback has removed it.
    """
    rollbacks = (each for each in timeline.instants if each.action == ROLLBACK and each.requested > requested)
    plans = (context.commits.requested_content(Instant(each.requested, ROLLBACK, "requested")) for each in rollbacks)
    return any(plan is not None and decode_rollback_plan(plan).target == requested for plan in plans)


def is_passed(context: Context, timeline: Active, requested: str) -> bool:
    """Return whether an archiver or a restorer has passed an uncompleted write, although no rollback names it."""
    return older_than_archive(context, timeline, requested) or older_than_restore(context, timeline, requested)


def older_than_restore(context: Context, timeline: Active, requested: str) -> bool:
    """Return whether an uncompleted write was requested before some restore, which has therefore undone it. A request
    without the lock may have been put after the restorer had listed the pending instants.
    """
    undoes_pending = context.rules.restore_pending == "undone"
    return undoes_pending and any(requested < plan.requested for plan in timeline.restores)


def older_than_archive(context: Context, timeline: Active, requested: str) -> bool:
    """Return whether an uncompleted write was requested before some archived instant, which proves that the write was
    rolled back.

    The archiver never archives an instant that is newer than a pending one. `timeline` was listed under the table's
    lock, or after the last entry of the decision log was read.
    """
    return context.rules.archive_bound == "pending" and requested < timeline.newest_archived


def takes_time_early(context: Context) -> bool:
    """Return whether a writer takes its completion time before it acquires the lock, which can lose rows."""
    return context.rules.completion_time == "outside_lock" and not uses_decision_log(context)
