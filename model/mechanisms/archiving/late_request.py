"""An actor that loses its lock before it puts a request may put it after an archiver has passed its requested time.

No pending instant is older than an archived one, so actors take such a write for one that was rolled back. The writer
is refused, and has to write again.
"""

from __future__ import annotations

from ...kernel.writer import Writer
from ...machine.composition import Composition
from ...machine.transition import Changes, Guard
from ..decision_log import ALL_PUBLISHED, is_logged
from ..lost_locks import LostLocks
from ..refusal import refuse
from .options import Archiving


def compose(composition: Composition) -> None:
    """Refuse each writer whose write is older than the archive, in worlds in which a request can come late."""
    late = composition.world[LostLocks].lock_losses and composition.protocol[Archiving].archive_bound == "pending"
    for me in composition.actors_of("writer") if late else ():
        refuse(composition, "writer", me, NOT_OLDER_THAN_ARCHIVE, give_up)
        if is_logged(composition):
            composition.select("writer_is_refused", actors=[me]).require(ALL_PUBLISHED)


def is_not_older(own: Writer, archive: frozenset[int]) -> bool:
    return own.requested >= max(archive, default=0)


NOT_OLDER_THAN_ARCHIVE = Guard("its write may not be older than an archived instant", is_not_older)


def give_up(own: Writer) -> Changes:
    """Delete the files of the write, and then, under the lock, its pending instant."""
    return {"own": Writer(number=own.number)}
