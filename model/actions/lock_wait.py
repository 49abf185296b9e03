"""A wait for the lock that ends before the lock is there: the writer gives up, nothing is published or undone.

It cannot take its instant back, which needs the lock as well. So it stops beating, and whoever rolls back what has
failed removes its files. That a live write is not published because another holds the lock is what FREE excludes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..machine.transition import Action, Guard, Transition, transition
from . import Setting
from .writer import KIND, LEFT

ACTIONS = (
    Action("writer_stops_waiting", "has waited for the lock as long as it was told to; reports that, and beats no more",
           "{actor} gives up, having waited for the lock"),
)  # fmt: skip


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        if setting.protocol_of(me).lock_wait == "times_out":
            taken = Guard("another must hold the lock", another_holds_lock)
            yield transition("writer_stops_waiting", me, at="written", to=LEFT, guards=(taken,))


def another_holds_lock(lock: str | None, me: str) -> bool:
    return lock not in (None, me)

