"""Writers request an instant, write logs, and complete the instant under the lock. The lock of a crashed writer
expires.
"""

from __future__ import annotations

from ..logic import at, both, choose, implies, no
from ..system import Action
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


class Writers(Relations):
    """Builds the actions of writers in a transition relation."""

    def writers(self) -> tuple[Action, ...]:
        return (*self.writing(), *self.completing_writes(), *self.dying_writers())

    def writing(self) -> tuple[Action, ...]:
        return (
            Action(
                "writer requests instant", (WRITE,),
                lambda s, w: both(
                    self.can_write(s, w, IDLE), self.lock_is_free(s),
                    s.every(WRITE, lambda v: implies(s.earlier(v, w), self.is_over(s, v))),
                ),
                lambda s, w: {
                    **tick(s), "requested": at(s.requested, w, to=s.clock() + 1), "phase": at(s.phase, w, to=REQUESTED)
                },
                ("writer_requests_instant",),
            ),
            Action(
                "writer starts writing", (WRITE,), lambda s, w: self.can_write(s, w, REQUESTED),
                lambda s, w: {"phase": at(s.phase, w, to=WRITING)}, ("writer_starts_writing",),
            ),
            Action(
                "writer writes log", (LOG,),
                lambda s, log: both(
                    self.can_write(s, s.write_of(log), WRITING), no(s.stored(log)),
                    s.every(LOG, lambda other: implies(s.put_before(other, log), s.stored(other))),
                ),
                lambda s, log: {"stored": at(s.stored, log, to=True)}, ("writer_writes_log",),
            ),
        )  # fmt: skip

    def completing_writes(self) -> tuple[Action, ...]:
        """Return the actions by which a writer takes the lock, takes a completion time, and publishes its instant."""
        outside = self.outside
        return (
            Action(
                "writer takes lock", (WRITE,),
                lambda s, w: both(
                    self.can_write(s, w, READY if outside else WRITING), self.lock_is_free(s), all_stored(s, w)
                ),
                lambda s, w: {
                    "writer_locks": at(s.writer_locks, w, to=True), "phase": at(s.phase, w, to=LOCKED)
                },
                ("writer_takes_lock",),
            ),
            Action(
                "writer takes completion time", (WRITE,),
                lambda s, w: both(self.can_write(s, w, WRITING if outside else LOCKED), all_stored(s, w),
                                  outside or s.writer_locks(w)),
                lambda s, w: {
                    **tick(s), "completed": at(s.completed, w, to=s.clock() + 1), "phase": at(s.phase, w, to=READY)
                },
                ("writer_takes_completion_time",),
            ),
            Action(
                "writer publishes instant", (WRITE,),
                lambda s, w: both(self.can_write(s, w, LOCKED if outside else READY), s.writer_locks(w)),
                lambda s, w: {
                    "writer_locks": at(s.writer_locks, w, to=False), "phase": at(s.phase, w, to=PUBLISHED)
                },
                ("writer_publishes_instant",),
            ),
        )  # fmt: skip

    def dying_writers(self) -> tuple[Action, ...]:
        outside = self.outside
        return (
            Action(
                "writer crashes", (WRITE,),
                lambda s, w: both(s.phase(w) > IDLE, s.phase(w) < PUBLISHED, no(s.dead_writer(w))),
                lambda s, w: {
                    "dead_writer": at(s.dead_writer, w, to=True),
                    "phase": at(s.phase, w, to=choose(s.phase(w) == LOCKED, READY if outside else WRITING, s.phase(w))),
                },
                ("actor_crashes",),
            ),
            Action(
                "lock of a dead writer expires", (WRITE,), lambda s, w: both(s.dead_writer(w), s.writer_locks(w)),
                lambda s, w: {"writer_locks": at(s.writer_locks, w, to=False)}, ("lock_expires",),
            ),
        )  # fmt: skip
