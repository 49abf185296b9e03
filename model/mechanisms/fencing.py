"""With fencing, each put carries a token, a number that increases with each acquisition of the lock. The store refuses
a put if it has already received a put with a greater token. In the model, it refuses only puts of completed instants:
it accepts every request and plan.

The component (state variable) `fence` lists the actors whose puts the store would accept, oldest acquisition of the
lock first. An actor enters when it takes the lock, and leaves when its own put or a put of a later holder arrives.
After a refused put the component also contains the pair ("refused", actor).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from ..kernel.lock import release_lock
from ..kernel.publication import PUBLISHES, TAKES_LOCK
from ..kernel.writer import REQUESTS
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Branch, Changes, Transition, go_to
from .decision_log import DECIDED
from .lost_locks import TAKES_TIME, LostLocks


class Fencing(Options):
    """The option that decides whether the store refuses puts by a former holder of the lock."""

    fencing: Literal["none", "storage"] = option(
        "none",
        "none: the store accepts every put; storage: it refuses a put whose lock was taken before the lock of a put "
        "that it has seen",
    )


def fenced(composition: Composition) -> bool:
    """True if the store can refuse a put: fencing is enabled, and locks can be lost."""
    return composition.world[LostLocks].lock_losses > 0 and composition.protocol[Fencing].fencing == "storage"


def compose(composition: Composition) -> None:
    """Make the store refuse completed instants from former holders of the lock."""
    if not fenced(composition):
        return
    composition.add_component("fence", ())
    composition.find(REQUESTS, TAKES_TIME).extend(accept_later_locks_only, "fence")
    composition.select(TAKES_LOCK).extend(note_newest_lock, "fence")
    composition.find(PUBLISHES).without(DECIDED).replace(_refusable)


def _refusable(publishes: Transition) -> Transition:
    refused = (release_lock, note_refusal, go_to("idle"))
    put = Branch(is_accepted, (note_put, *publishes.effects), refused)
    return replace(publishes, effects=(put,), changes=(*publishes.changes, "fence"))


def accept_later_locks_only() -> Changes:
    """Empty the list of actors whose puts the store accepts: a request or a plan is a put by the current holder of the
    lock, so the store refuses puts from all earlier holders.
    """
    return {"fence": ()}


def note_newest_lock(fence: tuple[Any, ...], me: str) -> Changes:
    return {"fence": (*(name for name in fence if name != me), me)}


def is_accepted(fence: tuple[Any, ...], me: str) -> bool:
    """True if the store has received no put from an actor that acquired the lock after `me`."""
    return me in fence


def note_put(fence: tuple[Any, ...], me: str) -> Changes:
    """Record that the store has received a put from `me`. From then on, the store refuses puts from earlier holders of
    the lock.
    """
    return {"fence": fence[fence.index(me) + 1 :]}


def note_refusal(fence: tuple[Any, ...], me: str) -> Changes:
    """Record that the store has refused a put from `me`, because a put from a later holder of the lock arrived first.
    """
    return {"fence": (*fence, ("refused", me))}


# After "*", so that `compose` also finds the transitions that other mechanisms add or divide: `lost_locks` makes the
# put of a plan a step of its own, and `decision_log` marks the puts of decided instants. The store never refuses those:
# the entry of the log has decided them, and an actor may put them without the lock.
MECHANISM = Mechanism(
    compose=compose, options=Fencing, after=("clocks", "decision_log", "lost_locks", "metadata_table", "*")
)
