"""Batches with an id of their own, which commit at most once however often they are sent.

Each attempt at a batch leaves an empty file under the batch's name, called by its instant, before it writes a row. So
to ask whether a batch was written is one listing, in a long history as in a short one. Of an attempt that came to
nothing the file stays: its instant never completes.
"""

from __future__ import annotations

import hashlib
from typing import Final

from ..context import Context
from ..errors import BadInput, Conflict
from ..timeline import Archive, Instant, Timeline

FOLDER: Final = ".hoodie/.nbcc/batches"
EXTRA: Final = "nbcc.batch_id"
"""Where a commit keeps the id, among its extra metadata."""


class Repeated(Conflict):
    """The batch is written: `instant` is the completed one."""

    def __init__(self, batch_id: str, instant: Instant) -> None:
        super().__init__(f"write the batch {batch_id!r}", f"{instant.requested} has written it", "go on")
        self.instant = instant


def check(batch_id: str | None) -> None:
    """`BadInput` for an id that is none."""
    if batch_id is not None and (not isinstance(batch_id, str) or not batch_id):
        raise BadInput(
            f"write a batch with batch_id={batch_id!r}", "an id is a text that is not empty", "give one or none"
        )


def claim(context: Context, requested: str, batch_id: str | None) -> None:
    """Say that an instant is an attempt at a batch. Under the lock that put its request."""
    if batch_id is not None:
        context.storage.put_if_absent(f"{_folder(batch_id)}/{requested}", b"")


def repeated(context: Context, timeline: Timeline, batch_id: str | None) -> Repeated | None:
    """The completed attempt at a batch, of a timeline that was listed under the lock; None if there is none."""
    if batch_id is None or context.rules.batch_ids == "ignored":
        return None
    for entry in context.storage.list(_folder(batch_id)):
        requested = entry.path.rpartition("/")[2]
        if done := _completed(context, timeline, requested):
            return Repeated(batch_id, done)
    return None


def _completed(context: Context, timeline: Timeline, requested: str) -> Instant | None:
    found = timeline.find(requested)
    if found is not None:
        return found if found.completed else None
    archived = Archive(context.storage).find(requested) if timeline.archived else None
    return None if archived is None else archived.instant


def _folder(batch_id: str) -> str:
    return f"{FOLDER}/{hashlib.sha256(batch_id.encode()).hexdigest()[:32]}"
