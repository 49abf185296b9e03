"""Compactors whose plan a restore has undone: they find out before they start, as they read, or under the lock.

So do log compactors, in the same steps; a replacing write reads nothing, and finds out under the lock alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..kernel.lock import LOCK_IS_FREE
from ..machine.transition import Action, Changes, Guard, Transition, given, transition
from ..mechanisms.restores.checks import PLAN_STANDS, input_stands, stands
from ..timeline.decisions import caught_up
from ..timeline.looking import NOT_LOOKED, about_to_publish, looks_under_lock
from ..timeline.publication import UNDER_LOCK, Check, release_lock
from . import Setting, compactor, log_compactor, replacer

WHO: tuple[tuple[str, Any, Callable[[Any], int]], ...] = (
    (compactor.KIND, compactor.Compactor, compactor.group_of),
    (log_compactor.KIND, log_compactor.LogCompactor, log_compactor.group_of),
)
ACTIONS = (
    *(Action(f"{kind}_finds_plan_gone", "is about to start its plan, and a restore has undone it",
             "{actor} finds its plan gone") for kind, *_ in WHO),
    *(Action(f"{kind}_misses_input", "finds a file of its plan deleted, by the restore that has undone the plan",
             "{actor} finds its input gone") for kind, *_ in WHO),
    *(Action(f"{kind}_is_refused", "under the lock: finds that a restore has undone its plan; gives the lock back",
             "{actor} finds that its plan was undone") for kind in (*(kind for kind, *_ in WHO), replacer.KIND)),
    *(Action(f"{kind}_gives_up", "deletes its files, then, under the lock, what it left of its instant",
             "{actor} takes its files back") for kind in (*(kind for kind, *_ in WHO), replacer.KIND)),
)  # fmt: skip

REFUSED = "refused"


def transitions(setting: Setting) -> Iterator[Transition]:
    for kind, idle, group_of in WHO if setting.if_any("restores") else ():
        for me in setting.of(kind):
            becomes_idle = given(become, state=idle())
            gone = Guard("a restore must have undone its plan", PLAN_STANDS.holds, negated=True)
            lost = Guard("a file of its plan must be gone", input_stands(group_of).holds, negated=True)
            yield transition(f"{kind}_finds_plan_gone", me, at="about to start its plan", guards=(gone,),
                             effect=becomes_idle)  # fmt: skip
            yield transition(f"{kind}_misses_input", me, at="running its plan", guards=(lost,), effect=becomes_idle)
            yield from _refused(kind, me, stands("plan"), UNDER_LOCK, (), idle(), setting)
    for me in setting.of(replacer.KIND):
        if asked := replacer.still_stands(setting):
            protocol = setting.protocol_of(me)
            unsure = (NOT_LOOKED,) if looks_under_lock(protocol) else ()
            where = asked.asked_at(about_to_publish(protocol), protocol)
            yield from _refused(replacer.KIND, me, asked, where, unsure, replacer.Replacer("gave up"), setting)


def become(state: Any) -> Changes:
    return {"own": state}


def _refused(
    kind: str, me: str, asked: Check, where: str, unsure: tuple[Guard, ...], after: Any, setting: Setting
) -> Iterator[Transition]:
    yield caught_up(transition(f"{kind}_is_refused", me, at=where, to=REFUSED, guards=(*unsure, ~asked.guard),
                               effect=release_lock, changes=("own", "lock")), setting)  # fmt: skip
    yield transition(f"{kind}_gives_up", me, at=REFUSED, guards=(LOCK_IS_FREE,), effect=given(become, state=after))
