"""How a plan is put: at once under the lock; in two steps where locks can be lost; by a number where a log decides.

In the first of the two steps the actor looks and takes the time of its plan; in the second it puts the plan. Where
decisions are logged the plan takes the next number: an actor that finds the number taken has looked at an old timeline.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..actions import Setting
from ..kernel.lock import LOCK_IS_FREE
from ..machine.transition import Changes, Choice, Component, Effect, Guard, Transition, given, transition
from .clock import clock_readings
from .decisions import ALL_PUBLISHED, Decisions
from .publication import noted_by_store, release_lock, take_lock
from .waiting import reading

TIMED = "given a time for its plan"


class Planning(NamedTuple):
    """How one kind of actor plans.

    `actions`: the one step; or the look and the put. `look` gives the actor all that its plan says, and changes the
    clock. `put` puts the plan into the component `plans`, and changes what `changes` names besides. `requested` is the
    field with the plan's time. `too_late` is the effect on an actor that may not put its plan any more.
    `timed`: the step between the look and the put.
    """

    actions: tuple[str, str, str]
    guards: tuple[Guard, ...]
    look: Effect
    put: Effect
    plans: str
    requested: str
    too_late: Effect
    changes: tuple[str, ...] = ()
    arguments: Any = clock_readings
    timed: str = TIMED


def planning(me: str, setting: Setting, plan: Planning) -> Iterator[Transition]:
    """The transitions by which an idle actor puts a plan."""
    logged = setting.protocol.decision == "log"
    guards = (LOCK_IS_FREE, *plan.guards, *((ALL_PUBLISHED,) if logged else ()))
    changed = tuple(dict.fromkeys(("own", plan.plans, *plan.changes)))
    number = (given(take_number, field=plan.requested),) if logged else ()
    log = ("decisions",) if logged else ()
    looks = transition(plan.actions[0], me, at="idle", guards=guards, arguments=plan.arguments, effect=plan.look,
                       changes=("own", "clock"))  # fmt: skip
    if not setting.world.lock_losses:
        at_once = looks.extend(plan.put, *changed)
        yield at_once.extend(*number, *log) if logged else at_once
        return
    timed = looks.extend(note_decisions) if logged else looks
    timed = noted_by_store(setting, timed.extend(take_lock, "lock"))
    yield reading(setting, timed.renamed(plan.actions[1], to=plan.timed))
    there = given(plan_is_there, plans=Component(plan.plans), field=plan.requested)
    late = given(plan_is_late, plans=Component(plan.plans), field=plan.requested) if logged else there
    puts = Choice(late, (release_lock, plan.too_late), (release_lock, forget_decisions, plan.put, *number))
    yield transition(plan.actions[2], me, at=plan.timed, effect=puts, changes=(*changed, "lock", *log))


def take_number(own: Any, decisions: Decisions, field: str) -> Changes:
    """The plan takes the next number of the decision log."""
    return {"decisions": (*decisions, getattr(own, field))}


def note_decisions(own: Any, decisions: Decisions) -> Changes:
    """Remember how many numbers were taken at the look."""
    return {"own": own._replace(seen=len(decisions))}


def forget_decisions(own: Any) -> Changes:
    return {"own": own._replace(seen=0)}


def plan_is_there(own: Any, plans: tuple[Any, ...], field: str) -> bool:
    """Whether a plan of the same kind has the same time: another actor has read it."""
    return any(plan.requested == getattr(own, field) for plan in plans)


def plan_is_late(own: Any, plans: tuple[Any, ...], decisions: Decisions, field: str) -> bool:
    """Whether the number is taken as well, perhaps by what the plan rests on."""
    return plan_is_there(own, plans, field) or len(decisions) > own.seen
