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
from ..file_names import marked_file, marker, marker_folder, split_path
from ..lock import held
from ..storage import Storage, listed_ahead, together
from ..timeline import Instant, Timeline, decode_rollback_plan, load, put_completed, put_inflight, put_requested
from ..timeline.decisions import FOLDER as DECISIONS
from ..timeline.decisions import Decision, remember_cut
from ..timeline.instant import PENDING
from ..timeline.timeline import FOLDER
from .claims import learn, new_time
from .decision_log import catch_up, decide, uses_decision_log, withdraw
from .idempotency import Repeated, claim, repeated

ROLLBACK: Final = "rollback"
PLAN: Final = "compaction"
"""The pending action of a replacing write. Its writer may withdraw its plan although a log has decided it."""


def take_time(context: Context, timeline: Timeline) -> str:
    """Return a new time, greater than all times on the timeline. The caller of `take_time` must hold the table's lock.
    """
    learn(context, timeline)
    return context.clock.take()


def request(
    context: Context, action: str, batch_id: str | None = None, *, starts: bool = False
) -> tuple[str, Timeline]:
    """Publish the requested state of a new instant as ``<now>.<action>.requested``. Returns the requested time, and the
    timeline listed under the lock, which the conflict check later compares with the current timeline (RFC-22).

    If `starts` is True, the inflight state is also published: during the lock's release in an object store, after the
    release on a file system. Raises `Repeated` and publishes nothing if the batch with the id `batch_id` has already
    been written.
    """
    after: list[Callable[[], object]] = []
    failures: list[Exception] = []
    with held(context.lock, lambda release: together(context.storage, [release, *after])):
        sealed = load(context.storage)
        if there := repeated(context, sealed, batch_id):
            raise there
        requested = put_request(context, sealed, action)
        with stop_heartbeat_on_error(context, requested):
            claim(context, requested, batch_id)
        if starts:
            after.append(partial(_start, context, requested, action, failures))
    for failure in failures:
        with undo_on_error(context, requested, action):
            raise failure
    return requested, sealed


def _start(context: Context, requested: str, action: str, failures: list[Exception]) -> None:
    """Publish the inflight state of a requested instant. An exception is appended to `failures`, because the caller's
    thread must handle it.
    """
    with stop_heartbeat_on_error(context, requested):
        try:
            put_inflight(context.storage, requested, action)
        except Exception as error:  # any error is raised again
            failures.append(error)


def put_request(context: Context, timeline: Timeline, action: str) -> str:
    """Publish the requested state of a new instant; the caller holds the table's lock. The heartbeat starts no later
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
    for path in marked_files(context, requested):
        context.storage.delete(path)
    forget_markers(context, requested)
    with lock_or_leave(context, requested):
        if action == PLAN:
            withdraw(context, requested)
        remove_pending(context, requested, action)


@contextmanager
def lock_or_leave(context: Context, requested: str) -> Iterator[None]:
    """Hold the table's lock while the `with` block completes or undoes an instant. If the lock is unavailable or the
    `with` block fails, the heartbeat stops, and a rollback may then undo the instant.
    """
    with stop_heartbeat_on_error(context, requested), held(context.lock):
        yield


def remove_pending(context: Context, requested: str, action: str) -> None:
    """Delete the timeline files and the heartbeat of a pending instant. The caller must already have deleted the
    instant's data files.
    """
    for state in PENDING:
        context.storage.delete(f"{FOLDER}/{Instant(requested, action, state).file_name}")
    context.heartbeats.stop(requested)


def _nothing(timeline: Timeline | None) -> None:
    ...


def complete(
    context: Context,
    requested: str,
    action: str,
    *,
    files: Sequence[WrittenFile],
    commit: bytes,
    completed_by_another: Callable[[], Instant | Conflict | None] = lambda: None,
    refused_by: Callable[[Timeline | None], Conflict | None] = _nothing,
    batch_id: str | None = None,
    may_ask_early: bool = False,
    beats: bool = True,
) -> Instant:
    """Publish the completed state of an instant with a new completion time under the lock, then delete its markers.

    With a decision log, the commit is first put into the log as the next entry. If another writer puts the next log
    entry first, all checks are repeated.

    `completed_by_another` is called before all other checks. If `completed_by_another` returns a completed instant,
    `complete` deletes `files` and returns that instant. If another attempt has committed the batch `batch_id`, the
    instant is undone and `Repeated` is raised. `refused_by` is called as the last check before publication. The
    argument of `refused_by` is the timeline listed under the lock, or None if the timeline was not listed. If
    `refused_by` returns a `Conflict`, the instant is undone and the `Conflict` is raised. With
    `Rules(conflict_check="before_lock")` and `may_ask_early`, `refused_by` is called before the lock is taken, not as
    the last check. If `beats` is True, the instant has a heartbeat, which must not have expired.
    """
    context.clock.not_before(requested)  # another process may have asked for it, by a clock that is ahead of ours
    if may_ask_early and context.rules.conflict_check == "before_lock":
        if refusal := refused_by(None):
            undo_own_write(context, requested, action)
            raise refusal
        refused_by = _nothing
    early = context.clock.take() if takes_time_early(context) else None
    instant = refusal = None
    with lock_or_leave(context, requested):
        while instant is None and refusal is None:
            # These requests depend on the lock only, so that an object store answers them at the same time.
            if uses_decision_log(context):
                remember_cut(context.storage)
            storage = listed_ahead(context.storage, *_folders(context, requested, beats))
            last = catch_up(context, storage) if uses_decision_log(context) else None
            there = completed_by_another()
            if isinstance(there, Instant):
                _delete_attempt(context, requested, files)
                return there
            timeline = load(storage) if beats else None
            dead = publication_conflict(context, timeline, requested, action) if timeline is not None else None
            refusal = there or dead or twice(context, timeline, batch_id) or refused_by(timeline)
            if refusal is None:
                late = late_attempts(context, requested, files, storage)
                if last is None:
                    delete_attempts(context, requested, late)
                instant = _published(context, requested, action, early or new_time(context), commit, last, late)
    if instant is None:
        assert refusal is not None, "the loop ends with one of the two"
        undo_own_write(context, requested, action)
        raise refusal
    stop = [partial(context.heartbeats.stop, requested)] if beats else []
    together(context.storage, [partial(forget_markers, context, requested), *stop])
    return instant


def _published(
    context: Context, requested: str, action: str, time: str, commit: bytes, last: Decision | None, late: Sequence[str]
) -> Instant | None:
    """Publish the completed instant; return None if another writer has meanwhile added an entry after `last` to the
    decision log.

    With a decision log, the files of other attempts (`late`) are deleted only after the log entry has been created. If
    the files were deleted earlier, a writer that has lost the lock could delete files that another writer publishes.
    """
    if last is None:
        return put_completed(context.storage, requested, time, action, commit)
    entry = Decision(last.number + 1, "commit", requested, action, time, commit)
    decided = decide(context, entry, lambda: delete_attempts(context, requested, late))
    return entry.instant if decided else None


def _folders(context: Context, requested: str, beats: bool) -> list[str]:
    return [
        marker_folder(requested),
        *([FOLDER] if beats else []),
        *([DECISIONS] if uses_decision_log(context) else []),
    ]


def _delete_attempt(context: Context, requested: str, files: Sequence[WrittenFile]) -> None:
    """Delete the files and markers of an attempt at an instant that another attempt has completed. The files of
    different attempts have different write tokens, so no committed file is deleted.
    """
    for file in files:
        context.storage.delete(file.path)
        context.storage.delete(marker(requested, *split_path(file.path)))


def publication_conflict(context: Context, timeline: Timeline, requested: str, action: str) -> Conflict | None:
    """Return a `Conflict` if a write must not be published because another process may have started to roll it back.
    The caller must hold the table's lock.

    Rollbacks are planned under the lock that also covers publication, so a write is either published or rolled back
    (RFC-22).
    """
    there = timeline.find(requested, action)
    undone = there is None or older_than_archive(context, timeline, requested) or _undone(context, timeline, requested)
    if not undone and context.heartbeats.is_alive(requested):
        return None
    return Conflict(
        f"publish the write {requested}",
        "it has been rolled back" if undone else "its heartbeat stopped for longer than others wait for it",
        "write the batch again; if this happens often, check for long pauses of the writer's process",
    )


def _undone(context: Context, timeline: Timeline, requested: str) -> bool:
    """Return whether the timeline contains a rollback of the write requested at `requested`. The timeline is checked
    because a paused writer may put its instant's file again after the rollback has removed it.
    """
    rollbacks = (each for each in timeline.instants if each.action == ROLLBACK and each.requested > requested)
    plans = (context.commits.requested_content(Instant(each.requested, ROLLBACK, "requested")) for each in rollbacks)
    return any(plan is not None and decode_rollback_plan(plan).target == requested for plan in plans)


def older_than_archive(context: Context, timeline: Timeline, requested: str) -> bool:
    """Return whether an uncompleted write was requested before some archived instant, which proves that the write was
    rolled back.

    The archiver never archives an instant that is newer than a pending one. The caller must hold the table's lock.
    """
    return context.rules.archive_bound == "pending" and requested < timeline.newest_archived


def twice(context: Context, timeline: Timeline | None, batch_id: str | None) -> Repeated | None:
    """Return a `Repeated` error if another attempt at the batch `batch_id` has completed; otherwise None. The caller
    must hold the table's lock.
    """
    if timeline is None or context.rules.batch_ids != "checked":
        return None
    return repeated(context, timeline, batch_id)


def takes_time_early(context: Context) -> bool:
    """Return whether a writer takes its completion time before it acquires the lock for publishing, which can lose
    rows.
    """
    return context.rules.completion_time == "outside_lock" and not uses_decision_log(context)


def late_attempts(
    context: Context, requested: str, files: Sequence[WrittenFile], storage: Storage | None = None
) -> list[str]:
    """Return the data files that other attempts to complete the same instant have written.

    Raises `Conflict` if another attempt has deleted the markers of this attempt.
    """
    ours = {file.path for file in files}
    found = set(marked_files(context, requested, storage))
    if lost := sorted(ours - found):
        raise Conflict(
            f"publish the instant {requested}",
            f"another attempt at it has removed {len(lost)} of the files, the first being {lost[0]}",
            "run the operation again",
        )
    return sorted(found - ours)


def delete_attempts(context: Context, requested: str, paths: Sequence[str]) -> None:
    """Before an instant is published, delete the files that other attempts wrote for it.

    Readers that list directories must not find two files of one instant in a file group. A file's marker is deleted
    first, so that an attempt that is still running notices the deletion.
    """
    for path in paths:
        context.storage.delete(marker(requested, *split_path(path)))
        context.storage.delete(path)


def marked_files(context: Context, requested: str, storage: Storage | None = None) -> list[str]:
    """Return the data files named by the markers of all attempts at an instant, whether or not the files exist."""
    entries = (storage or context.storage).list(marker_folder(requested))
    return [path for entry in entries if (path := marked_file(requested, entry.path)) is not None]


def forget_markers(context: Context, requested: str) -> None:
    """Delete the markers of an instant, which only a rollback of the instant would need."""
    entries = context.storage.list(marker_folder(requested))
    together(context.storage, [partial(context.storage.delete, entry.path) for entry in entries])
