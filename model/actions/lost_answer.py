"""Maybe committed: the put of a completed instant happens and its answer is lost; asked again, the store says "exists".

A store's client that gets no answer asks again by itself, so that put-if-absent refuses the very file that it has put.
Whoever takes that for a failure tells its caller that a write failed which every reader sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..conditions import at, holds_lock
from ..step import Action, Guard, Row
from ..table import Write
from ..timeline.publication import READY
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
    """What callers were told of the writes whose answers were lost: requested times."""
    return {"lost_answers": 0, "reported_done": (), "reported_failed": ()} if setting.world.lost_answers else {}


def put(published: tuple[Any, ...], write: Write) -> tuple[Any, ...]:
    """The put happens; it is its answer that is lost."""
    return (*published, write)


def its_own(published: tuple[Any, ...], requested: int) -> bool:
    """Whether the file that exists holds what the writer has put."""
    return any(entry.requested == requested for entry in published)


def rows(setting: Setting) -> Iterator[Row]:
    most = setting.world.lost_answers
    left = Guard("an answer must be left that can be lost", lambda own, lock, done, lost: lost < most, budget=True)
    for me in setting.of("writer") if most else ():

        def puts(own: Writer, lock: str, published: tuple[Any, ...], lost: int, me: str = me) -> tuple[Any, ...]:
            return own._replace(step=UNSURE), put(published, written(setting.world, me, own)), lost + 1

        def reports(own: Writer, lock: str, published: tuple[Any, ...], told: tuple[int, ...]) -> tuple[Any, ...]:
            return Writer(number=own.number), None, (*told, own.requested)

        def recognised(own: Writer, lock: str, published: tuple[Any, ...], told: Any, me: str = me) -> bool:
            return setting.protocol_of(me).lost_answer == "recognised" and its_own(published, own.requested)

        own = Guard("the file that exists must be its own, and looked at", recognised)
        not_own = Guard("the file must be another's, or not be looked at", lambda *values, f=recognised: not f(*values))

        yield Row("answer_is_lost", me, (me, "lock", "published", "lost_answers"), (me, "published", "lost_answers"),
                  (at(me, READY),), puts, (holds_lock(me), left))  # fmt: skip
        yield Row("writer_recognises_instant", me, (me, "lock", "published", "reported_done"),
                  (me, "lock", "reported_done"), (at(me, UNSURE),), reports, (holds_lock(me), own))  # fmt: skip
        yield Row("writer_reports_failure", me, (me, "lock", "published", "reported_failed"),
                  (me, "lock", "reported_failed"), (at(me, UNSURE),), reports, (holds_lock(me), not_own))  # fmt: skip
