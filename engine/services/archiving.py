"""Selects the instants to archive: the oldest completed instants that no reader or writer needs on the active timeline.

Instants are archived in the order of their requested times, so that every instant older than the active timeline has
completed, as Hudi's readers assume. An instant is not archived if it was requested or completed after a pending instant
was requested. A pending optimistic writer therefore finds every concurrent write on the active timeline. Instants
requested after a savepoint are not archived, because a restore can undo only instants of the active timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from ..context import Context
from ..errors import BadInput, Damaged
from ..files.slices import FileSlice, to_read
from ..storage import NotFound
from ..timeline import Archived, Instant, completion_of, decode_commit, decode_plan
from ..timeline.cleans import decode_clean_plan
from ..timeline.container import decode_record
from ..timeline.decisions import LogEntry
from ..timeline.history import Active, History
from ..timeline.instant import COMPLETES_AS, PENDING
from ..timeline.timeline import FOLDER
from .replaced_groups import not_cleaned

RETAINED = 20
"""How many writes stay on the active timeline (hoodie.keep.min.commits)."""


def refuse_retained(retained: int) -> None:
    """Raise `BadInput` unless archiving retains at least one write. Other engines treat an active timeline without
    writes as an empty table.
    """
    if not isinstance(retained, int) or isinstance(retained, bool) or retained < 1:
        raise BadInput(
            f"archive and retain {retained!r} writes",
            "at least the newest write stays on the active timeline",
            "retain a whole number from 1 on",
        )


def archivable(
    context: Context, history: History, slices: Iterable[FileSlice], retained: int, last: LogEntry | None,
    floor: str = "~",
) -> tuple[Instant, ...]:  # fmt: skip
    """Return the instants of the active timeline that may be archived, ordered by requested time: those that completed
    at or before the `floor`. The caller of `archivable` holds the table's lock, or `history` has nothing that completed
    after `last`. `last` is the newest entry of the decision log; None without a decision log. `slices` are those of
    `history.current`.
    """
    timeline = history.active
    stay = _stay(context, history, slices, retained, last)
    waits = context.rules.archive_bound == "pending"
    bound = min((i.requested for i in (*timeline.pending, *timeline.savepoints) if waits), default="~")
    found = []
    for instant in sorted(timeline.completed, key=lambda i: (i.requested, i.action)):
        if instant.requested >= bound:
            break
        stays = instant in stay or completion_of(instant) >= bound or completion_of(instant) > floor
        # Only a write ends the archiving: the newest clean and all restores stay, and would block it permanently.
        if stays and instant.writes:
            break
        if not stays:
            found.append(instant)
    return tuple(found)


def _stay(
    context: Context, history: History, slices: Iterable[FileSlice], retained: int, last: LogEntry | None
) -> frozenset[Instant]:
    """Return the completed instants that must remain on the active timeline.

    The newest writes are not archived, and neither is the newest clean, which records the horizon (the oldest readable
    time). Restores are not archived, because they record the undone instants. Writes with uncompacted logs are not
    archived, because hudi-rs does not read the archive and would miss their rows (docs/hudi-format.md). A resize is not
    archived while its replaced file groups have files. The instant of the last decision-log entry is not archived,
    because the next writer looks it up on the active timeline.
    """
    timeline = history.active
    newest = [instant for instant in timeline.completed if instant.writes][-retained:]
    cleans = [instant for instant in timeline.completed if instant.action == "clean"][-1:]
    restores = [instant for instant in timeline.completed if instant.action == "restore"]
    decided = [instant for instant in timeline.completed if last and last.item(instant.requested)]
    live = (log for piece in to_read(slices, context.rules) for log in piece.logs)
    logs = {each.requested for log in live for each in log.files}
    with_logs = (instant for instant in timeline.completed if instant.writes and instant.requested in logs)
    return frozenset((*newest, *cleans, *restores, *decided, *with_logs, *not_cleaned(context, history)))


def pending_files(timeline: Active, instants: Iterable[Instant]) -> Iterator[str]:
    """Return the file names of the requested and inflight states of completed instants, whether or not the files exist.
    """
    for instant in instants:
        for state in PENDING:
            yield Instant(instant.requested, begun_as(timeline, instant), state).file_name


def begun_as(timeline: Active, instant: Instant) -> str:
    """Return the action that a completed instant had while pending, such as `compaction` for a `commit`."""
    return timeline.begun_as.get(instant.key, instant.action)


def to_archived(context: Context, timeline: Active, instant: Instant) -> Archived:
    """Convert a completed instant to an archive entry with the contents of its completed timeline file and its plan, if
    any.

    Raises `NotATable` if the content of the instant or of its plan cannot be decoded.
    """
    action = begun_as(timeline, instant)
    plan = None
    if action in COMPLETES_AS or action in ("clean", "replacecommit"):
        requested = Instant(instant.requested, action, "requested")
        plan = context.commits.requested_content(requested)
        if plan == b"" and action == "replacecommit":  # other engines may put nothing into it
            plan = None
        if plan is not None:
            # Decoded only to be checked, before the files on the timeline are deleted.
            _PLANS.get(action, decode_record)(plan, requested.file_name)
    content = context.commits.content(instant)
    (decode_commit if instant.writes else decode_record)(content, instant.file_name)
    return Archived(instant.requested, completion_of(instant), instant.action, content, plan)


_PLANS: Final[Mapping[str, Callable[[bytes, str], object]]] = {
    "compaction": decode_plan,
    "logcompaction": decode_plan,
    "clean": decode_clean_plan,
}


def refuse_different(context: Context, archived: Iterable[Archived]) -> None:
    """Raise `Damaged` if the archive and the active timeline have different content for one instant."""
    for row in archived:
        name = row.instant.file_name
        try:
            there = context.storage.get(f"{FOLDER}/{name}")
        except NotFound:
            continue  # another archiver has just deleted it
        if there != row.metadata:
            raise Damaged(
                f"delete the archived instant {name}",
                "the archive holds another content of it, so that one of the two is damaged",
                "compare the two, and restore the archive from a copy if the file on the timeline is whole",
            )
