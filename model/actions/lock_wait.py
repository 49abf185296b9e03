"""A wait for the lock that ends before the lock is there: the writer gives up, nothing is published or undone.

It cannot take its instant back, which needs the lock as well. So it stops beating, and whoever rolls back what has
failed removes its files. That a live write is not published because another holds the lock is what FREE excludes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..conditions import at
from ..step import Action, Guard, Row
from . import Setting
from .writer import KIND, LEFT

ACTIONS = (
    Action("writer_stops_waiting", "has waited for the lock as long as it was told to; reports that, and beats no more",
           "{actor} gives up, having waited for the lock"),
)  # fmt: skip


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        if setting.protocol_of(me).lock_wait == "times_out":
            taken = Guard("another must hold the lock", lambda own, lock, me=me: lock not in (None, me))
            yield Row("writer_stops_waiting", me, (me, "lock"), (me,), (at(me, "written"),),
                      lambda own, lock: (own._replace(step=LEFT),), (taken,))  # fmt: skip
