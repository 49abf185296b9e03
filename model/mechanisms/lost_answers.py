"""Models lost answers: a put that commits a write succeeds, but the response of the object store does not arrive.

The put that commits a write creates the completed instant, or an entry of the decision log. The client of the store
repeats the put, and the store refuses the repeated put because the file exists. A writer that misinterprets this
refusal reports its write as failed, although readers see the write.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from ..kernel.lock import released
from ..kernel.publication import READY
from ..kernel.timeline import Published
from ..kernel.writer import WRITER, Writer, published_write, write_of
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, limit_left, preset, transition
from ..protocol import Protocol
from ..world import World
from .crashes import HOLDS_LOCK
from .decision_log import READY_TO_DECIDE, Decisions, Seen, is_logged, number_is_taken, publish_own_decision

ANSWER_IS_LOST = "answer_is_lost"
ANSWER_TO_DECISION_IS_LOST = "answer_to_decision_is_lost"

UNSURE = "informed that its instant exists"


class LostAnswers(Options):
    """The option that decides what a writer does if the store reports that the completed instant already exists."""

    lost_answer: Literal["recognised", "reported_failed"] = option(
        "recognised",
        "what a writer does if its completed instant exists. recognised: it reads the instant, and finds that it is "
        "its own; reported_failed: it reports that the write failed",
    )


class LostAnswerLimits(Limits):
    """The limit on the number of lost storage responses."""

    lost_answers: int = limit(0, "how often the answer to a put that commits a write is lost")


def compose(composition: Composition) -> None:
    """Allow the store's response to any writer's commit to be lost.

    If the store's response to a commit is lost, the writer adds the requested time to the component (state variable)
    `reported_done` or `reported_failed`.
    """
    if not composition.world[LostAnswerLimits].lost_answers:
        return
    composition.add_component("lost_answers", 0)
    for name in ("reported_done", "reported_failed"):
        composition.add_component(name, ())
    for me in composition.actors_of(WRITER):
        if is_logged(composition):
            _entry(composition, me)
            continue
        composition.add(
            transition(ANSWER_IS_LOST, me, at=READY, to=UNSURE, guards=(HOLDS_LOCK, ANSWER_LEFT),
                       effect=put_without_answer, changes=("published", "lost_answers", "own")),
            transition("writer_recognises_instant", me, at=UNSURE, guards=(HOLDS_LOCK, IS_OWN), effect=report_done,
                       changes=("own", "lock", "reported_done")),
            transition("writer_reports_failure", me, at=UNSURE, guards=(HOLDS_LOCK, IS_NOT_OWN), effect=report_failed,
                       changes=("own", "lock", "reported_failed")),
        )  # fmt: skip


def _entry(composition: Composition, me: str) -> None:
    composition.add(
        transition(ANSWER_TO_DECISION_IS_LOST, me, at=READY_TO_DECIDE, to=UNSURE, effect=decide_without_answer,
                   guards=(NUMBER_IS_FREE, ANSWER_LEFT), changes=("own", "decisions", "lost_answers")),
        transition("writer_recognises_decision", me, at=UNSURE, guards=(IS_OWN_ENTRY,),
                   effect=preset(publish_own_decision, publish=partial(published_write, composition.world, me)),
                   changes=("own", "lock", "published")),
        transition("writer_reports_failure", me, at=UNSURE, guards=(~IS_OWN_ENTRY,), effect=report_undecided,
                   changes=("own", "lock", "reported_failed")),
    )  # fmt: skip


def recognises_own(own: Writer, protocol: Protocol, published: Published) -> bool:
    """True if the writer reads the existing instant and recognises its own write."""
    return protocol[LostAnswers].lost_answer == "recognised" and is_there(published, own.requested)


def recognises_entry(own: Writer, protocol: Protocol, decisions: Decisions) -> bool:
    """True if the writer recognises its own entry in the decision log."""
    written = [entry for entry in decisions if not isinstance(entry, int)]
    return protocol[LostAnswers].lost_answer == "recognised" and is_there(tuple(written), own.requested)


def is_there(published: Published, requested: int) -> bool:
    """True if `published` contains an instant with this requested time."""
    return any(entry.requested == requested for entry in published)


ANSWER_LEFT = limit_left(
    "an answer must be left that can be lost", "lost_answers", lambda world: world[LostAnswerLimits].lost_answers
)
IS_OWN = Guard("the existing file must be its own, and the writer must read it", recognises_own)
IS_NOT_OWN = Guard("the existing file must belong to another writer, or not be read", recognises_own, negated=True)
NUMBER_IS_FREE = Guard("the next number of the decision log must be free", number_is_taken, negated=True)
IS_OWN_ENTRY = Guard("the existing entry must be its own, and the writer must read it", recognises_entry)


def decide_without_answer(own: Writer, me: str, world: World, decisions: Decisions, lost_answers: int) -> Changes:
    """Put the entry in the decision log, although the store's response does not arrive. The store's client repeats the
    put, which fails because the entry already exists.
    """
    entry = write_of(world, me, own)
    return {"own_seen": Seen(), "decisions": (*decisions, entry), "lost_answers": lost_answers + 1}


def report_undecided(own: Writer, me: str, lock: str | None, reported_failed: tuple[Any, ...]) -> Changes:
    """Let the writer report a failure and release the lock, although the decision log contains the write."""
    failed = (*reported_failed, own.requested)
    return {"own": Writer(number=own.number), "lock": released(lock, me), "reported_failed": failed}


def put_without_answer(own: Writer, me: str, world: World, published: Published, lost_answers: int) -> Changes:
    """Put the completed instant, although the store's response does not arrive. The store's client repeats the put,
    which fails because the file already exists.
    """
    return {"published": (*published, write_of(world, me, own)), "lost_answers": lost_answers + 1}


def report_done(own: Writer, reported_done: tuple[Any, ...]) -> Changes:
    """Let the writer report the write as committed, and release the lock."""
    return {"own": Writer(number=own.number), "lock": None, "reported_done": (*reported_done, own.requested)}


def report_failed(own: Writer, reported_failed: tuple[Any, ...]) -> Changes:
    """Let the writer report a failure and release the lock, although readers see the write."""
    return {"own": Writer(number=own.number), "lock": None, "reported_failed": (*reported_failed, own.requested)}


MECHANISM = Mechanism(
    compose=compose,
    options=LostAnswers,
    limits=LostAnswerLimits,
    actions=(
        Action(ANSWER_IS_LOST, "its completed instant is put, and the store answers that the file exists already",
               "{actor} publishes, and the store answers that the file exists already"),
        Action("writer_recognises_instant", "reads the existing file and finds its own instant; releases the lock",
               "{actor} recognises its own instant"),
        Action(ANSWER_TO_DECISION_IS_LOST,
               "its entry of the decision log is put, and the store answers that it exists",
               "{actor} decides, and the store answers that the number is taken"),
        Action("writer_recognises_decision",
               "reads the existing entry of the decision log and finds its own; publishes it and releases the lock",
               "{actor} recognises its own decision, and publishes"),
        Action("writer_reports_failure", "takes the existing file for another writer's; releases the lock",
               "{actor} reports that its write has failed"),
    ),
)  # fmt: skip
