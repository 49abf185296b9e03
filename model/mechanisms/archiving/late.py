"""What happens to an instant that its actor publishes, or requests, after an archiver has passed it.

Under a decision log, a stalled actor may publish its instant after another actor has published it and an archiver has
archived it. The instant is then in the archive and on the active timeline again, until an archiver removes it.

An actor that loses its lock before it puts a request may put it after an archiver has passed its requested time. No
pending instant is older than an archived one, so actors take such a write for one that was rolled back. The writer is
refused, and has to write again.
"""

from __future__ import annotations

from typing import Any

from ...kernel.publication import PUBLISHES, Publication, Publish
from ...kernel.writer import WRITER, Writer, give_up
from ...machine.composition import Composition
from ...machine.transition import Changes, Guard, preset
from ..decision_log import ALL_PUBLISHED, is_decided_by_log, is_logged
from ..lost_locks import LostLocks
from ..refusal import refuse
from ..rollback.heartbeat import WRITER_IS_REFUSED
from .rules import Archiving


def put_back_late_publications(composition: Composition) -> None:
    """Let every actor whose commits the decision log decides put its instant on the active timeline again."""
    for me, each in composition.facts(Publication).items():
        if is_decided_by_log(composition, each.kind):
            composition.select(PUBLISHES, actors=[me]).precede(preset(put_back, publish=each.publish), "removed")


def put_back(own: Any, removed: frozenset[int], publish: Publish) -> Changes:
    """Put the completed instant on the active timeline again if an archiver has removed it."""
    return {"removed": removed - {publish(own)[1].requested}}


def refuse_late_requests(composition: Composition) -> None:
    """Refuse each writer whose write is older than the archive, in worlds in which a request can come late."""
    late = composition.world[LostLocks].lock_losses and composition.protocol[Archiving].archive_bound == "pending"
    for me in composition.actors_of(WRITER) if late else ():
        refuse(composition, WRITER.name, me, NOT_OLDER_THAN_ARCHIVE, give_up)
        if is_logged(composition):
            composition.select(WRITER_IS_REFUSED, actors=[me]).require(ALL_PUBLISHED)


def is_not_older(own: Writer, archive: frozenset[int]) -> bool:
    return own.requested >= max(archive, default=0)


NOT_OLDER_THAN_ARCHIVE = Guard("its write may not be older than an archived instant", is_not_older)
