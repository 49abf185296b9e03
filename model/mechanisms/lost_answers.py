"""Lost answers: a put of a completed instant succeeds, but the store's answer does not arrive.

The store's client repeats the put, and put-if-absent refuses it because the file exists. A writer that takes this for a
failure reports a write as failed although every reader sees it.
"""

from __future__ import annotations

from typing import Any, Literal

from ..kernel.publication import READY
from ..kernel.timeline import Published
from ..kernel.writer import Writer, write_of
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, transition
from ..protocol import Protocol
from ..world import World
from .crashes import HOLDS_LOCK

UNSURE = "informed that its instant exists"


class LostAnswers(Options):
    """The option for how a writer reacts to the answer that its completed instant exists."""

    lost_answer: Literal["recognised", "reported_failed"] = option(
        "recognised",
        "what a writer does if its completed instant exists. recognised: it reads the instant, and finds that it is "
        "its own; reported_failed: it reports that the write failed",
    )


class Answers(Limits):
    """The limit on lost answers."""

    lost_answers: int = limit(0, "how often the answer to a put of a completed instant is lost")


def compose(composition: Composition) -> None:
    """Add the components, and the transitions of every writer.

    `reported_done`, `reported_failed`: the requested times of writes whose answers were lost, by the report that their
    callers got.
    """
    if not composition.world[Answers].lost_answers:
        return
    composition.add_component("lost_answers", 0)
    for name in ("reported_done", "reported_failed"):
        composition.add_component(name, ())
    for me in composition.actors_of("writer"):
        composition.add(
            transition("answer_is_lost", me, at=READY, to=UNSURE, guards=(HOLDS_LOCK, ANSWER_LEFT),
                       effect=put_without_answer, changes=("published", "lost_answers", "own")),
            transition("writer_recognises_instant", me, at=UNSURE, guards=(HOLDS_LOCK, IS_OWN), effect=report_done,
                       changes=("own", "lock", "reported_done")),
            transition("writer_reports_failure", me, at=UNSURE, guards=(HOLDS_LOCK, IS_NOT_OWN), effect=report_failed,
                       changes=("own", "lock", "reported_failed")),
        )  # fmt: skip


def answer_is_left(lost_answers: int, world: World) -> bool:
    return lost_answers < world[Answers].lost_answers


def recognises_own(own: Writer, protocol: Protocol, published: Published) -> bool:
    """Whether the writer reads the existing instant and recognises it as its own."""
    return protocol[LostAnswers].lost_answer == "recognised" and is_there(published, own.requested)


def is_there(published: Published, requested: int) -> bool:
    """Whether the instant of a write is published."""
    return any(entry.requested == requested for entry in published)


ANSWER_LEFT = Guard("an answer must be left that can be lost", answer_is_left, limit=True)
IS_OWN = Guard("the existing file must be its own, and the writer must read it", recognises_own)
IS_NOT_OWN = Guard("the existing file must belong to another writer, or not be read", recognises_own, negated=True)


def put_without_answer(own: Writer, me: str, world: World, published: Published, lost_answers: int) -> Changes:
    """Put the completed instant. The store's client repeats the put, and gets the answer that the file exists."""
    return {"published": (*published, write_of(world, me, own)), "lost_answers": lost_answers + 1}


def report_done(own: Writer, reported_done: tuple[Any, ...]) -> Changes:
    """The writer reports that its write is committed, and releases the lock."""
    return {"own": Writer(number=own.number), "lock": None, "reported_done": (*reported_done, own.requested)}


def report_failed(own: Writer, reported_failed: tuple[Any, ...]) -> Changes:
    """The writer reports a failure, although every reader sees its write, and releases the lock."""
    return {"own": Writer(number=own.number), "lock": None, "reported_failed": (*reported_failed, own.requested)}


MECHANISM = Mechanism(
    compose=compose,
    options=LostAnswers,
    limits=Answers,
    actions=(
        Action("answer_is_lost", "its completed instant is put, and the store answers that the file exists already",
               "{actor} publishes, and the store answers that the file exists already"),
        Action("writer_recognises_instant", "reads the existing file and finds its own instant; releases the lock",
               "{actor} recognises its own instant"),
        Action("writer_reports_failure", "takes the existing file for another writer's; releases the lock",
               "{actor} reports that its write has failed"),
    ),
)  # fmt: skip
