"""Batches with an id, which commit at most once however often the user sends them.

The commit of a batch records the batch id and a digest of the batch's rows. If a batch is sent again with the same
digest, the writer returns the instant that committed the batch. If a batch is sent again with a different digest, the
writer raises `Conflict`, or optionally only warns. No batch is lost, because the writer acknowledges a batch only if
the table contains the batch's rows.

Each attempt to write a batch first puts an empty file, named after the attempt's instant, into the batch's folder. One
listing of the batch's folder shows whether the batch was written, at a cost independent of the table's history. An
empty file left by a failed attempt has no effect, because the attempt's instant never completes.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, get_args

from ..context import Context
from ..data.digest import Digest
from ..data.tasks import WrittenFile
from ..errors import BadInput, Conflict
from ..timeline import Archive, Instant
from ..timeline.history import Active

FOLDER: Final = ".hoodie/.nbcc/batches"
EXTRA: Final = "nbcc.batch_id"
"""The key of the id in a commit's extra metadata."""
DIGEST: Final = "nbcc.batch_digest"
"""Where a commit records the digest of the batch, among its extra metadata."""

ReplayDifference = Literal["refuse", "keep"]
"""What to do with a batch whose id has committed other rows: raise `Conflict`, or keep the committed rows and warn."""


class Batch(NamedTuple):
    """The id of a batch (if any), and what to do if different rows have been committed under the id."""

    id: str | None = None
    replay_difference: str = "refuse"


UNNAMED: Final = Batch()


class Repeated(Conflict):
    """Raised if the batch with the given id has already been written; `instant` is the instant that wrote it."""

    def __init__(self, batch_id: str, instant: Instant) -> None:
        super().__init__(f"write the batch {batch_id!r}", f"{instant.requested} has written it", "go on")
        self.batch_id = batch_id
        self.instant = instant


def check_batch_id(batch_id: str | None, replay_difference: str = "refuse") -> None:
    """Raise `BadInput` if `batch_id` or `replay_difference` is invalid."""
    if batch_id is not None and (not isinstance(batch_id, str) or not batch_id):
        raise BadInput(
            f"write a batch with batch_id={batch_id!r}", "an id is a text that is not empty", "give one or none"
        )
    if replay_difference not in get_args(ReplayDifference):
        raise BadInput(
            f"write a batch with the replay difference {replay_difference!r}",
            f"it is one of {', '.join(get_args(ReplayDifference))}",
            "choose one of these",
        )


def batch_metadata(batch_id: str | None, digest: Digest | None) -> dict[str, str]:
    """Return the extra metadata that a commit records about its batch: the id and the digest."""
    if batch_id is None:
        return {}
    return {EXTRA: batch_id} | ({} if digest is None else {DIGEST: digest.text})


def digest_of_files(files: Iterable[WrittenFile]) -> Digest:
    """Return the digest of the rows in the given files."""
    return sum((file.digest for file in files if file.digest is not None), Digest())


def resolve_repeated(context: Context, written: Repeated, digest: Digest, replay_difference: str) -> Instant:
    """Return the instant that committed the batch. If the committed digest differs from `digest`, raise `Conflict`, or
    only warn if `replay_difference` is "keep".

    Commits written by older nbcc releases contain no digest, so their instants are returned without a comparison.
    """
    instant = written.instant
    recorded = Digest.of_text(context.commits.commit(instant).extra.get(DIGEST, ""))
    if recorded is None or not differs(digest, recorded):
        return instant
    difference = Conflict(
        f"write the batch {written.batch_id!r} ({digest})",
        f"the instant {instant.requested} has committed other rows under this id ({recorded})",
        "give these rows an id of their own; or set the replay difference to keep if the batch is a replay whose plan"
        " may return other rows",
    )
    if replay_difference != "keep":
        raise difference
    warnings.warn(f"the committed rows are kept, and these are not written. {difference}", stacklevel=2)
    return instant


def differs(digest: Digest, recorded: Digest) -> bool:
    """Return whether two attempts at a batch have different rows, according to their digests."""
    return digest != recorded


def claim_batch(context: Context, requested: str, batch_id: str | None, owner: str = "") -> None:
    """Record that the instant requested at `requested` is an attempt by `owner` to write the batch `batch_id`. The
    caller of `claim_batch` must hold the lock under which it creates the instant's requested file.
    """
    if batch_id is not None:
        # Several tasks of one attempt may put it, all with equal content.
        context.storage.put_if_absent(f"{_folder(batch_id)}/{requested}", owner.encode())


def pending_attempt(context: Context, timeline: Active, batch_id: str, owner: str) -> Instant | None:
    """Return the pending instant with which `owner` attempts to write the batch; None if there is none. `timeline` was
    listed under the table's lock, which the caller still holds.
    """
    for entry in context.storage.list(_folder(batch_id)):
        attempt = timeline.find(entry.path.rpartition("/")[2])
        if attempt is not None and not attempt.completed and context.storage.get(entry.path) == owner.encode():
            return attempt
    return None


def repeated(context: Context, timeline: Active, batch_id: str | None) -> Repeated | None:
    """Return a `Repeated` error if an attempt at the batch has completed; otherwise None. `timeline` was listed under
    the table's lock, which the caller still holds.
    """
    if batch_id is None or context.rules.batch_ids == "ignored":
        return None
    for entry in context.storage.list(_folder(batch_id)):
        requested = entry.path.rpartition("/")[2]
        if done := _completed(context, timeline, requested):
            return Repeated(batch_id, done)
    return None


def _completed(context: Context, timeline: Active, requested: str) -> Instant | None:
    found = timeline.find(requested)
    if found is not None and found.completed:
        return found
    # Also if it is listed as pending: an archiver may have deleted its completed state during the listing.
    return Archive(context.storage).find(requested) if timeline.lacks_archived else None


def hash_of(name: str) -> str:
    """Return the name of the objects of a batch, or of a run of a query, whose own name may have any characters."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def _folder(batch_id: str) -> str:
    return f"{FOLDER}/{hash_of(batch_id)}"
