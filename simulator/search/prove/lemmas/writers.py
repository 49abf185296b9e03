"""Writers request an instant, write logs, and complete the instant under the lock. The lock of a crashed writer
expires.
"""

from __future__ import annotations

from nbcc.model.mechanisms.crashes import ACTOR_CRASHES, LOCK_EXPIRES

from ..logic import at, both, choose, implies, no
from ..system import Move
from .options import Relations
from .state import (
    IDLE,
    LOCKED,
    LOG,
    PUBLISHED,
    READY,
    REQUESTED,
    WRITE,
    WRITING,
    all_stored,
    tick,
)  # fmt: skip


class WriterLemmas(Relations):
    """Builds the actions of writers in a transition relation."""

    def writers(self) -> tuple[Move, ...]:
        return (*self.writing(), *self.completing_writes(), *self.dying_writers())

    def writing(self) -> tuple[Move, ...]:
        return (
            Move(
                "writer requests instant", (WRITE,),
                lambda s, w: both(
                    self.can_write(s, w, IDLE), self.lock_is_free(s),
                    s.every(WRITE, lambda v: implies(s.earlier(v, w), self.is_over(s, v))),
                ),
                lambda s, w: {
                    **tick(s), "requested": at(s.requested, w, to=s.clock() + 1), "phase": at(s.phase, w, to=REQUESTED)
                },
            ),
            Move(
                "writer starts writing", (WRITE,), lambda s, w: self.can_write(s, w, REQUESTED),
                lambda s, w: {"phase": at(s.phase, w, to=WRITING)},
            ),
            Move(
                "writer writes log", (LOG,),
                lambda s, log: both(
                    self.can_write(s, s.write_of(log), WRITING), no(s.stored(log)),
                    s.every(LOG, lambda other: implies(s.put_before(other, log), s.stored(other))),
                ),
                lambda s, log: {"stored": at(s.stored, log, to=True)},
            ),
        )  # fmt: skip

    def completing_writes(self) -> tuple[Move, ...]:
        """Return the actions by which a writer takes the lock, takes a completion time, and publishes its instant."""
        outside = self.outside
        return (
            Move(
                "writer takes lock", (WRITE,),
                lambda s, w: both(
                    self.can_write(s, w, READY if outside else WRITING), self.lock_is_free(s), all_stored(s, w)
                ),
                lambda s, w: {
                    "writer_locks": at(s.writer_locks, w, to=True), "phase": at(s.phase, w, to=LOCKED)
                },
            ),
            Move(
                "writer takes completion time", (WRITE,),
                lambda s, w: both(self.can_write(s, w, WRITING if outside else LOCKED), all_stored(s, w),
                                  outside or s.writer_locks(w)),
                lambda s, w: {
                    **tick(s), "completed": at(s.completed, w, to=s.clock() + 1), "phase": at(s.phase, w, to=READY)
                },
            ),
            Move(
                "writer publishes instant", (WRITE,),
                lambda s, w: both(self.can_write(s, w, LOCKED if outside else READY), s.writer_locks(w)),
                lambda s, w: {
                    "writer_locks": at(s.writer_locks, w, to=False), "phase": at(s.phase, w, to=PUBLISHED)
                },
            ),
        )  # fmt: skip

    def dying_writers(self) -> tuple[Move, ...]:
        outside = self.outside
        return (
            Move(
                "writer crashes", (WRITE,),
                lambda s, w: both(s.phase(w) > IDLE, s.phase(w) < PUBLISHED, no(s.dead_writer(w))),
                lambda s, w: {
                    "dead_writer": at(s.dead_writer, w, to=True),
                    "phase": at(s.phase, w, to=choose(s.phase(w) == LOCKED, READY if outside else WRITING, s.phase(w))),
                },
                (ACTOR_CRASHES,),
            ),
            Move(
                "lock of a dead writer expires", (WRITE,), lambda s, w: both(s.dead_writer(w), s.writer_locks(w)),
                lambda s, w: {"writer_locks": at(s.writer_locks, w, to=False)}, (LOCK_EXPIRES,),
            ),
        )  # fmt: skip
