"""The steps that writing operations share: request an instant, remove late attempts, complete the instant.

Every function is a few accesses to storage, lock and clock in a fixed order. An operation is a sequence of these
functions.
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
from ..timeline.decisions import Decision, remember_checkpoint
from ..timeline.instant import PENDING
from ..timeline.timeline import FOLDER
from .claims import learn, new_time
from .decision_log import catch_up, decide, uses_decision_log, withdraw
from .idempotency import Repeated, claim, repeated

ROLLBACK: Final = "rollback"
PLAN: Final = "compaction"
"""The pending action of a replacing write. Its writer may withdraw its plan although a log has decided it."""


def take_time(context: Context, timeline: Timeline) -> str:
    """A time greater than all on the timeline, which no instant will carry. Called under the lock."""
    learn(context, timeline)
    return context.clock.take()


def request(
    context: Context, action: str, batch_id: str | None = None, *, starts: bool = False
) -> tuple[str, Timeline]:
    """Publish ``<now>.<action>.requested``. Returns that time, and the timeline under the lock, with which OCC later
    compares (RFC-22).

    `starts`: also publish the inflight state, after the lock is released. An object store does both at the same time.
    Raises `Repeated`, with nothing published, if the batch with that id has been written.
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
    """Publish the inflight state. An error is added to `failures`, because it must be undone in the caller's thread."""
    with stop_heartbeat_on_error(context, requested):
        try:
            put_inflight(context.storage, requested, action)
        except Exception as error:  # any error is raised again
            failures.append(error)


def put_request(context: Context, timeline: Timeline, action: str) -> str:
    """Publish the request; the caller holds the lock. The heartbeat starts first, or at the same time: an instant
    without one counts as failed.
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
    """Stop renewing the instant's heartbeat if the body fails or is interrupted: a rollback may then undo the instant.

    The pending instant itself does not change. The process may continue with other work.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        context.heartbeats.stop_renewing(requested)
        raise


@contextmanager
def undo_on_error(context: Context, requested: str, action: str) -> Iterator[None]:
    """Delete the files and the instant of a data phase that fails.

    Only errors before completion are covered: an instant stays as it is once its completion was attempted. After a
    crash or an interrupt everything stays. The instant never completes, and readers ignore its files until a rollback
    deletes them.
    """
    with stop_heartbeat_on_error(context, requested):
        try:
            yield
        except Exception:  # any error of the data phase reaches the caller
            undo_own_write(context, requested, action)
            raise


def undo_own_write(context: Context, requested: str, action: str) -> None:
    """Delete the files of an instant, then the instant itself. The deletion runs under the lock because it changes
    listings.
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
    """Hold the lock while an instant is completed or undone. If the lock is unavailable or the body fails, the
    heartbeat stops and a rollback may undo the instant.
    """
    with stop_heartbeat_on_error(context, requested), held(context.lock):
        yield


def remove_pending(context: Context, requested: str, action: str) -> None:
    """Delete a pending instant and its heartbeat. The caller has deleted its data files."""
    for state in PENDING:
        context.storage.delete(f"{FOLDER}/{Instant(requested, action, state).file_name}")
    context.heartbeats.stop(requested)


def _nothing(timeline: Timeline | None) -> None:
    """The check that never refuses."""


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
    """Take the completion time and publish, as two accesses under one lock; then delete the markers.

    With a decision log, an entry is put between the two. If another actor took its number, all checks run again.

    `completed_by_another`: Called first. If it returns a completed instant, this attempt deletes its files; a
        `Conflict` is raised.
    `batch_id`: If another attempt at the batch has completed, the instant is undone and `Repeated` is raised.
    `refused_by`: Called last, with the timeline under the lock (None: unknown). If it returns a `Conflict`, the instant
        is undone.
    `may_ask_early`: Whether `refused_by` may be called before the lock, if `Rules.conflict_check` is "before_lock".
    `beats`: Whether the instant has a heartbeat, which must not have expired.
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
                remember_checkpoint(context.storage)
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
                remove_late_attempts(context, requested, files, storage)
                time = early or new_time(context)
                if last is None:
                    instant = put_completed(context.storage, requested, time, action, commit)
                else:
                    entry = Decision(last.number + 1, "commit", requested, action, time, commit, last.begun)
                    instant = entry.instant if decide(context, entry) else None
    if instant is None:
        assert refusal is not None, "the loop ends with one of the two"
        undo_own_write(context, requested, action)
        raise refusal
    steps = [
        partial(forget_markers, context, requested),
        *([partial(context.heartbeats.stop, requested)] if beats else []),
    ]
    together(context.storage, steps)
    return instant


def _folders(context: Context, requested: str, beats: bool) -> list[str]:
    """The folders that `complete` lists."""
    return [
        marker_folder(requested),
        *([FOLDER] if beats else []),
        *([DECISIONS] if uses_decision_log(context) else []),
    ]


def _delete_attempt(context: Context, requested: str, files: Sequence[WrittenFile]) -> None:
    """Delete the files of a slower attempt and their markers. The files that the commit lists have other tokens."""
    for file in files:
        context.storage.delete(file.path)
        context.storage.delete(marker(requested, *split_path(file.path)))


def publication_conflict(context: Context, timeline: Timeline, requested: str, action: str) -> Conflict | None:
    """The reason why a stalled write must not be published: another actor may have begun to undo it. Called under the
    lock.

    A rollback is planned under the same lock, so that a write is either published or undone (RFC-22).
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
    """Whether a rollback of a write is on the timeline. The writer of a rolled back instant may have put the instant
    again after a pause.
    """
    rollbacks = (each for each in timeline.instants if each.action == ROLLBACK and each.requested > requested)
    plans = (context.commits.requested_content(Instant(each.requested, ROLLBACK, "requested")) for each in rollbacks)
    return any(plan is not None and decode_rollback_plan(plan).target == requested for plan in plans)


def older_than_archive(context: Context, timeline: Timeline, requested: str) -> bool:
    """Whether a pending instant is older than an archived one. An instant older than the archive was rolled back, and
    its rollback is archived too.

    No instant is archived past a pending one, so this one was not on the timeline at that time. Called under the lock.
    """
    return context.rules.archive_bound == "pending" and requested < timeline.newest_archived


def twice(context: Context, timeline: Timeline | None, batch_id: str | None) -> Repeated | None:
    """The completed attempt of another writer at the same batch, if there is one. Called under the lock."""
    if timeline is None or context.rules.batch_ids != "checked":
        return None
    return repeated(context, timeline, batch_id)


def takes_time_early(context: Context) -> bool:
    """Whether the completion time is taken outside the lock that covers its publication (a rule that loses rows)."""
    return context.rules.completion_time == "outside_lock" and not uses_decision_log(context)


def remove_late_attempts(
    context: Context, requested: str, files: Sequence[WrittenFile], storage: Storage | None = None
) -> None:
    """Delete the files that other attempts at this instant have written. Called before the instant is published.

    Readers that list directories would otherwise count two files of one instant in a group. nbcc's readers use commits.
    The marker is deleted before the file. A running attempt detects the missing marker and raises the `Conflict` below.
    """
    ours = {file.path for file in files}
    found = set(marked_files(context, requested, storage))
    if lost := sorted(ours - found):
        raise Conflict(
            f"publish the instant {requested}",
            f"another attempt at it has removed {len(lost)} of the files, the first being {lost[0]}",
            "run the operation again",
        )
    for path in sorted(found - ours):
        context.storage.delete(marker(requested, *split_path(path)))
        context.storage.delete(path)


def marked_files(context: Context, requested: str, storage: Storage | None = None) -> list[str]:
    """The data files that attempts at this instant have announced, whether or not they exist."""
    entries = (storage or context.storage).list(marker_folder(requested))
    return [path for entry in entries if (path := marked_file(requested, entry.path)) is not None]


def forget_markers(context: Context, requested: str) -> None:
    """Remove the markers of an instant that no rollback needs."""
    entries = context.storage.list(marker_folder(requested))
    together(context.storage, [partial(context.storage.delete, entry.path) for entry in entries])
