"""Maybe committed: the put of a completed instant happens and its answer is lost; asked again, the store says "exists".

A store's client that gets no answer asks again by itself, so that put-if-absent refuses the very file that it has put.
Whoever takes that for a failure tells its caller that a write failed which every reader sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kernel.lock import HOLDS_LOCK
from ..kernel.table import Write
from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..protocol import Protocol
from ..timeline.publication import READY
from ..world import World
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


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of("writer") if setting.world.lost_answers else ():
        yield transition("answer_is_lost", me, at=READY, to=UNSURE, guards=(HOLDS_LOCK, ANSWER_LEFT),
                         effect=put_without_answer, changes=("own", "published", "lost_answers"))  # fmt: skip
        own = Guard("the file that exists must be its own, and looked at", recognises_own)
        yield transition("writer_recognises_instant", me, at=UNSURE, guards=(HOLDS_LOCK, own), effect=report_done,
                         changes=("own", "lock", "reported_done"))  # fmt: skip
        not_own = Guard("the file must be another's, or not be looked at", takes_for_another)
        yield transition("writer_reports_failure", me, at=UNSURE, guards=(HOLDS_LOCK, not_own), effect=report_failed,
                         changes=("own", "lock", "reported_failed"))  # fmt: skip


def answer_is_left(lost_answers: int, world: World) -> bool:
    return lost_answers < world.lost_answers


ANSWER_LEFT = Guard("an answer must be left that can be lost", answer_is_left, limit=True)


def put_without_answer(own: Writer, me: str, world: World, published: tuple[Any, ...], lost_answers: int) -> Changes:
    """The completed instant is put; the store's client asks again, and the answer is that the file exists."""
    entry = written(world, me, own)
    return {"published": put(published, entry), "lost_answers": lost_answers + 1}


def recognises_own(own: Writer, protocol: Protocol, published: tuple[Any, ...]) -> bool:
    return protocol.lost_answer == "recognised" and its_own(published, own.requested)


def takes_for_another(own: Writer, protocol: Protocol, published: tuple[Any, ...]) -> bool:
    return not recognises_own(own, protocol, published)


def report_done(own: Writer, reported_done: tuple[int, ...]) -> Changes:
    """The writer reads its own content: its write is committed, and its caller is told so."""
    return {"own": Writer(number=own.number), "lock": None, "reported_done": (*reported_done, own.requested)}


def report_failed(own: Writer, reported_failed: tuple[int, ...]) -> Changes:
    """The writer reports a failure, although every reader sees its write."""
    return {"own": Writer(number=own.number), "lock": None, "reported_failed": (*reported_failed, own.requested)}
