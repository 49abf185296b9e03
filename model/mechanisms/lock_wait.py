"""A writer that waits for the lock may give up. A writer that gives up publishes nothing and undoes nothing.

A writer that gives up cannot remove the pending instant, because the removal needs the lock as well. A writer that
gives up stops renewing its heartbeat, and a rollbacker removes the writer's files. Therefore another actor that holds
the lock can prevent a live writer from publishing, which breaks the promise FREE.
"""

from __future__ import annotations

from typing import Literal

from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Action, Guard, transition

LEFT = "timed out, with a pending write left"


class LockWait(Options):
    """The option that decides how long a writer waits for the lock."""

    lock_wait: Literal["unbounded", "times_out"] = option(
        "unbounded",
        "unbounded: a writer waits for the lock until it has it; times_out: it may give up, and leaves a pending write",
        by=("writer",),
    )


def compose(composition: Composition) -> None:
    """Add the transition by which a writer stops waiting for the lock."""
    for me in composition.actors_of("writer"):
        if composition.protocol_of(me)[LockWait].lock_wait == "times_out":
            composition.add(transition("writer_stops_waiting", me, at="written", to=LEFT, guards=(LOCK_IS_TAKEN,)))


def another_holds_lock(lock: str | None, me: str) -> bool:
    return lock not in (None, me)


LOCK_IS_TAKEN = Guard("another must hold the lock", another_holds_lock)

MECHANISM = Mechanism(
    compose=compose,
    idle_steps={"writer": (LEFT,)},
    options=LockWait,
    actions=(
        Action("writer_stops_waiting",
               "gives up waiting for the lock, reports it, and stops renewing its heartbeat",
               "{actor} gives up, having waited for the lock"),
    ),
)  # fmt: skip
