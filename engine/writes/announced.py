"""Announces instants, and waits until an entry of the decision log has decided them (`writes.deciding`).

A writer announces its instant after its last data file. From then on any actor may decide and publish it, so the
instant completes even if its writer has died. With ``decision="shared"`` the holder of the table's lock decides for all
writers; one that waits for the lock returns as soon as it finds its instant published. With ``decision="free"`` each
writer tries to create the next entry, without the lock.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from ..context import Context
from ..data.tasks import WrittenFile
from ..errors import Conflict
from ..lock import held_unless
from ..storage import together
from ..timeline import Instant
from ..timeline.announcements import (
    Announced,
    Announcement,
    Footprint,
    announced_instants,
    forget_announcements,
    load_announcement,
    put_announcement,
)
from .attempts import delete_other_attempts, delete_own_files, files_of_other_attempts, forget_markers
from .commit_protocol import stop_heartbeat_on_error, undo_own_write
from .deciding import create_entry, decide_announced, publish_entry
from .decision_log import announces, decides_without_lock
from .looking_ahead import Outlook, entry_of

Cleanup = Sequence[Callable[[], None]]
"""Requests that remain after a write is published."""

STORM_SECONDS: Final = 0.02
"""The longest first pause after a create that failed because another author was faster; it doubles with each."""


def is_announced(context: Context, requested: str, action: str) -> bool:
    """Return whether the completion of a write is announced, so that any actor may decide it."""
    names = announced_instants(context.storage) if announces(context) else ()
    return any((name.requested, name.action) == (requested, action) for name in names)


def complete_announced(
    context: Context,
    requested: str,
    action: str,
    *,
    files: Sequence[WrittenFile],
    commit: bytes,
    batch_id: str | None = None,
    footprint: Footprint | None = None,
    outlook: Outlook | None = None,
    is_shared: bool = True,
) -> Instant:
    """Announce the completion of a write, and return the completed instant after this or another actor has decided and
    published it.

    `footprint` is given if the write is optimistic. If the write conflicts with another one, or another attempt has
    committed the batch `batch_id`, the write is undone, and `Conflict` or `Repeated` is raised. If another error is
    raised, such as `LockTimeout`, another actor may still decide and publish the instant. `outlook` is what a lone
    writer has seen of the decision log in advance. `is_shared` states whether another process may attempt the instant.
    """
    if context.rules.batch_ids != "checked":
        batch_id = None
    name = Announced(requested, action, is_checked=batch_id is not None or footprint is not None)
    own = Announcement(name, commit, context.names.write_token(), batch_id, footprint)
    forget = partial(forget_markers, context, requested, None if is_shared else files)
    cleanup = [forget, partial(context.heartbeats.stop, requested)]
    with stop_heartbeat_on_error(context, requested):
        if outlook is not None and outlook.is_fresh and not name.is_checked:
            outcome = _announced_and_created(context, own, files, outlook, cleanup)
        elif not _announce(context, own, files):
            raise _announced_by_another(requested)
        elif decides_without_lock(context):
            outcome = _without_lock(context, own, cleanup=cleanup)
        else:
            outcome = _under_lock(context, own)
            together(context.storage, cleanup if isinstance(outcome, Instant) else [])
    if isinstance(outcome, Conflict):
        undo_own_write(context, requested, action)
        raise outcome
    return outcome


def _announced_by_another(requested: str) -> Conflict:
    return Conflict(
        f"publish the instant {requested}",
        "another attempt at it has announced other files",
        "run the operation again",
    )


def _announced_and_created(
    context: Context, own: Announcement, files: Sequence[WrittenFile], outlook: Outlook, cleanup: Cleanup
) -> Instant | Conflict:
    """Announce the completion and create its entry at the same time, which a lone writer may do (`looking_ahead`). If
    another author is faster, go on like any writer.
    """
    entry, created, announced = entry_of(context, outlook, own), list[bool](), list[bool]()
    steps: list[Callable[[], object]] = [lambda: announced.append(_announce(context, own, files))]
    if entry is not None:
        steps.append(lambda: created.append(create_entry(context, entry)))
    together(context.storage, steps)
    if announced != [True]:
        raise _announced_by_another(own.name.requested)
    if entry is None or created != [True]:
        return _without_lock(context, own, cleanup=cleanup)
    publish_entry(context, entry)
    forget = partial(forget_announcements, context.storage, [own.name])
    _together(context, forget, cleanup)
    return entry.items[0].instant


def complete_plan(
    context: Context,
    requested: str,
    action: str,
    *,
    files: Sequence[WrittenFile],
    commit: bytes,
    by_another: Callable[[], Instant | Conflict | None],
) -> Instant:
    """Announce the result of a plan, and return the completed instant. Several processes may run a plan: the first
    announcement is completed, and the files of the others are deleted. Raises the `Conflict` that `by_another` returns
    if the plan was removed.
    """
    own = Announcement(Announced(requested, action), commit, context.names.write_token())
    outcome = by_another()
    if outcome is None:
        try:
            is_first = _announce(context, own, files, by_another)
        except Conflict:  # another attempt has removed these files, which it does after its announcement
            is_first = False
        outcome = _without_lock(context, own if is_first else None, own.name)
        if is_first and isinstance(outcome, Instant):
            forget_markers(context, requested)
            return outcome
    if isinstance(outcome, Conflict):
        undo_own_write(context, requested, action)
        raise outcome
    delete_own_files(context, requested, files)
    return outcome


def plan_announced(context: Context, own: Announcement) -> Instant | None:
    """Announce a plan, and return its instant once an entry has decided it; None if another plan was faster."""
    if not put_announcement(context.storage, own):
        return None
    outcome = _without_lock(context, own)
    if isinstance(outcome, Instant):
        return outcome
    forget_announcements(context.storage, [own.name])
    return None


def _announce(
    context: Context,
    own: Announcement,
    files: Sequence[WrittenFile],
    by_another: Callable[[], Instant | Conflict | None] = lambda: None,
) -> bool:
    """Announce a completion, and delete the files of other attempts at it. Returns False if another attempt was first.

    Readers that list folders must find only the announced files. The files of other attempts are deleted after the
    announcement, which decides between the attempts; a writer that dies before it has deleted them leaves orphans.
    """
    requested, others, announced = own.name.requested, list[str](), list[bool]()
    steps: list[Callable[[], object]] = [
        lambda: others.extend(files_of_other_attempts(context, requested, files, context.storage)),
        lambda: announced.append(put_announcement(context.storage, own)),
    ]
    together(context.storage, steps)
    # An announcement that was published and deleted meanwhile leaves the name free, and its files are committed.
    if announced == [True] and others and by_another() is not None:
        return False
    if announced == [True]:
        delete_other_attempts(context, requested, others)
    return announced == [True]


def _under_lock(context: Context, own: Announcement) -> Instant | Conflict:
    """Wait for the lock, and decide all announced instants, this writer's among them. If another holder of the lock
    publishes the instant first, return it without the lock.
    """
    garbage: list[Announced] = []

    def release_by(release: Callable[[], None]) -> None:
        steps: list[Callable[[], None]] = [release, partial(forget_announcements, context.storage, garbage)]
        together(context.storage, steps)

    with held_unless(context.lock, partial(_published, context, own.name), release_by) as outcome:
        found: Instant | Conflict | None = outcome
        while found is None:
            decided = decide_announced(context, own)
            found, garbage = decided.outcome(own.name), decided.garbage
    return found


def _published(context: Context, name: Announced) -> Instant | None:
    """Return the instant if another actor has published it and has deleted its announcement, which is cheaper to ask
    for than the timeline.
    """
    if load_announcement(context.storage, name) is not None:
        return None
    found = context.active().find(name.requested, name.action)
    return found if found is not None and found.completed else None


def _together(context: Context, forget: Callable[[], None], cleanup: Cleanup) -> None:
    steps: list[Callable[[], None]] = [forget, *cleanup]
    together(context.storage, steps)


def _without_lock(
    context: Context, own: Announcement | None, name: Announced | None = None, cleanup: Cleanup = ()
) -> Instant | Conflict:
    """Decide all announced instants until the instant `name` (default: `own`) is decided and published. Then run
    `cleanup`, unless a `Conflict` is returned.

    A live writer fails at most two creates: the author of the second entry has listed its announcement. A failed create
    is followed by a pause of random length, so that the losers do not all try again at the same moment.
    """
    wanted = name or (own.name if own is not None else None)
    assert wanted is not None, "an instant is announced"
    longest = STORM_SECONDS
    while True:
        decided = decide_announced(context, own, wanted=wanted)
        if (outcome := decided.outcome(wanted)) is not None:
            forget = partial(forget_announcements, context.storage, decided.garbage)
            _together(context, forget, cleanup if isinstance(outcome, Instant) else ())
            return outcome
        if decided.undecided:
            context.clock.pause(random.uniform(0, longest))
            longest *= 2


def decide_all_announced(context: Context) -> None:
    """Decide and publish all announced instants that can be decided."""
    while (decided := decide_announced(context)).undecided:
        pass
    # Last: an announcement is deleted only after its instant is published or can never be decided.
    forget_announcements(context.storage, decided.garbage)
