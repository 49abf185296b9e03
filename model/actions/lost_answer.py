"""Maybe committed: the put of a completed instant happens and its answer is lost; asked again, the store says "exists".

A store's client that gets no answer asks again by itself, so that put-if-absent refuses the very file that it has put.
Whoever takes that for a failure tells its caller that a write failed which every reader sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..conditions import at, holds_lock
from ..publication import READY
from ..step import Action, Guard, Row
from . import Setting
from .writer import Writer, written

ACTIONS = (
    Action("answer_is_lost", "its completed instant is put, and it is told that the file exists already",
           "{actor} publishes, and is told that the file exists already"),
    Action("writer_recognises_instant", "reads the file that exists: it is its own; gives the lock back",
           "{actor} recognises its own instant"),
    Action("writer_reports_failure", "takes the file that exists for another's; gives the lock back",
           "{actor} reports that its write has failed"),
)  # fmt: skip

UNSURE = "told that its instant exists"


def components(setting: Setting) -> dict[str, Any]:
    return {"lost_answers": 0, "reported_failed": ()} if setting.world.lost_answers else {}


def rows(setting: Setting) -> Iterator[Row]:
    most = setting.world.lost_answers
    left = Guard("an answer must be left that can be lost", lambda own, lock, done, lost: lost < most, budget=True)
    for me in setting.of("writer") if most else ():

        def puts(own: Writer, lock: str, published: tuple[Any, ...], lost: int, me: str = me) -> tuple[Any, ...]:
            return own._replace(step=UNSURE), (*published, written(setting.world, me, own)), lost + 1

        def reports(own: Writer, lock: str, failed: tuple[int, ...]) -> tuple[Any, ...]:
            return Writer(number=own.number), None, (*failed, own.requested)

        yield Row("answer_is_lost", me, (me, "lock", "published", "lost_answers"), (me, "published", "lost_answers"),
                  (at(me, READY),), puts, (holds_lock(me), left))  # fmt: skip
        if setting.protocol_of(me).lost_answer == "recognised":
            yield Row("writer_recognises_instant", me, (me, "lock"), (me, "lock"), (at(me, UNSURE),),
                      lambda own, lock: (Writer(number=own.number), None), (holds_lock(me),))  # fmt: skip
        else:
            yield Row("writer_reports_failure", me, (me, "lock", "reported_failed"), (me, "lock", "reported_failed"),
                      (at(me, UNSURE),), reports, (holds_lock(me),))  # fmt: skip
