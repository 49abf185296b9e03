"""A writer may time out while waiting for the lock. A writer that times out neither publishes nor undoes its write.

A writer that times out cannot remove its pending instant, because the removal also requires the lock. After a timeout,
the writer stops renewing its heartbeat, so that a rollback removes the writer's files. By holding the lock for too
long, another actor can therefore prevent a live writer from publishing, which violates the promise FREE.
"""

from __future__ import annotations

from typing import Literal

from ..kernel.writer import WRITER
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Action, Guard, transition

WRITER_STOPS_WAITING = "writer_stops_waiting"

LEFT = "timed out, with a pending write left"


class LockWait(Options):
    """The option that decides how long a writer waits for the lock."""

    lock_wait: Literal["unbounded", "times_out"] = option(
        "unbounded",
        "unbounded: a writer waits for the lock until it has it; times_out: it may give up, and leaves a pending write",
        by=(WRITER.name,),
    )


def compose(composition: Composition) -> None:
    for me in composition.actors_of(WRITER):
        if composition.protocol_of(me)[LockWait].lock_wait == "times_out":
            composition.add(transition(WRITER_STOPS_WAITING, me, at="written", to=LEFT, guards=(LOCK_IS_TAKEN,)))


def another_holds_lock(lock: str | None, me: str) -> bool:
    return lock not in (None, me)


LOCK_IS_TAKEN = Guard("another must hold the lock", another_holds_lock)

MECHANISM = Mechanism(
    compose=compose,
    idle_steps={WRITER.name: (LEFT,)},
    options=LockWait,
    actions=(
        Action(WRITER_STOPS_WAITING,
               "gives up waiting for the lock, reports it, and stops renewing its heartbeat",
               "{actor} gives up, having waited for the lock"),
    ),
)  # fmt: skip
