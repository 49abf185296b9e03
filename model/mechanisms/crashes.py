"""Crashes: an actor may die between any two steps; its lock expires, and another actor resumes its plan.

A crashed actor stays dead, and its files stay on storage. The instant of a crashed writer stays pending. A plan fixes
the work of a service, so another runner can continue the plan. The mechanism `rollback` rolls back failed writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.plans import Runner, Start, start_plan
from ..machine.transition import DEAD, Action, ActorState, Changes, Component, Guard, preset, transition
from ..world import World

DONE = "instants_known_done"
"""The view of the instants whose plans need no runner any more."""


class LockExpiry(Options):
    """The option that decides what happens to the lock of a dead actor."""

    lock_expiry: Literal["expires", "never"] = option(
        "expires",
        "whether the lock of a dead holder expires. If it never does, no other actor can publish after the crash",
    )


class Crashes(Limits):
    """The limit on the number of crashes."""

    crashes: int = limit(0, "how many actors may crash", in_random_worlds=(0, 0, 1))


def compose(composition: Composition) -> None:
    """Add crashes to every actor. Add to every runner of plans a transition that resumes the plans of dead runners."""
    composition.add_component("crashes", 0)
    composition.map_view(DONE, published_instants)
    composition.refine_facts(Runner, partial(resumes, composition))
    everyone = [(kind, me) for kind, actors in composition.actors.items() for me in actors]
    for kind, me in everyone if composition.world[Crashes].crashes else ():
        busy = preset(is_busy, idle_steps=composition.idle_steps[kind])
        guards = (Guard("{me} must be alive and have begun an operation", busy), CRASH_LEFT)
        composition.add(transition("actor_crashes", me, guards=guards, effect=crash, changes=("own", "crashes")))
        if composition.protocol[LockExpiry].lock_expiry != "never":
            composition.add(transition("lock_expires", me, guards=(IS_DEAD, HOLDS_LOCK), effect=expire_lock,
                                       changes=("lock",)))  # fmt: skip


def is_busy(own: ActorState, idle_steps: tuple[str, ...]) -> bool:
    return own.step != DEAD and own.step not in idle_steps


def is_dead(own: ActorState) -> bool:
    return own.step == DEAD


def has_lock(lock: str | None, me: str) -> bool:
    return lock == me


def crash_is_left(crashes: int, world: World) -> bool:
    return crashes < world[Crashes].crashes


IS_DEAD = Guard("{me} must be dead", is_dead)
HOLDS_LOCK = Guard("{me} must hold the lock", has_lock)
CRASH_LEFT = Guard("a crash must be left", crash_is_left, limit=True)


def crash(own: ActorState, crashes: int) -> Changes:
    """Let the actor die. The files that the actor has put stay on storage."""
    return {"own": own._replace(step=DEAD), "crashes": crashes + 1}


def expire_lock() -> Changes:
    """Free the lock that a dead actor held."""
    return {"lock": None}


def published_instants(published: tuple[Any, ...]) -> tuple[Any, ...]:
    return published


def resumes(composition: Composition, each: Runner) -> None:
    """Add the transition by which an idle actor resumes the oldest pending plan whose runner died."""
    peers = Component(f"every_{each.kind}")
    parameters = {"plans": Component(each.plans), "peers": peers, "completes": each.completes}
    pending = Guard(f"a {each.what} must be pending whose runner died", preset(orphan, **parameters))
    resume = preset(resume_plan, **parameters, start=each.start, component=each.plans)
    composition.add(transition(each.resumes, each.actor, at="idle", guards=(pending,), changes=("own", each.plans),
                               effect=resume, tags=(RESUMES_PLAN,)))  # fmt: skip


RESUMES_PLAN = "resumes plan"


def orphan(
    me: str, instants_known_done: tuple[Any, ...], plans: tuple[Any, ...], peers: Mapping[str, ActorState],
    completes: type[Any],
) -> Any:  # fmt: skip
    """Return the oldest pending plan whose runner died; None if there is no such plan."""
    dead = {name for name, peer in peers.items() if peer.step == DEAD and name != me}
    theirs = [plan for plan in plans if plan.runner in dead]
    done = {each.requested for each in instants_known_done if isinstance(each, completes)} if theirs else ()
    return next((plan for plan in theirs if plan.requested not in done), None)


def resume_plan(
    own: Any, me: str, instants_known_done: tuple[Any, ...], plans: tuple[Any, ...], peers: Mapping[str, ActorState],
    completes: type, start: Start, component: str,
) -> Changes:  # fmt: skip
    """Run the plan of a dead runner, from the beginning."""
    plan = orphan(me, instants_known_done, plans, peers, completes)
    return start_plan(own, me, plan, plans, start, component)


MECHANISM = Mechanism(
    compose=compose,
    options=LockExpiry,
    limits=Crashes,
    service=True,
    actions=(
        Action("compactor_resumes_plan", "resumes the oldest pending plan whose runner died",
               "{actor} resumes the plan of a dead compactor"),
        Action("actor_crashes", "dies between two steps of an operation", "{actor} crashes"),
        Action("lock_expires", "the lock of a dead holder expires", "the lock of the dead {actor} expires"),
    ),
)  # fmt: skip
