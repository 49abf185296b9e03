"""Compactors whose plan a restore has undone: they find out before they start, as they read, or under the lock.

So do log compactors, in the same steps; a replacing write reads nothing, and finds out under the lock alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..conditions import at, lock_is_free
from ..services.restoring import loses_input, stands
from ..step import Action, Guard, Row
from ..table import is_undone
from ..timeline.decisions import caught_up
from ..timeline.looking import about_to_publish, looks_under_lock, not_looked
from ..timeline.publication import UNDER_LOCK, Check, given_back
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


def rows(setting: Setting) -> Iterator[Row]:
    for kind, idle, group_of in WHO if setting.if_any("restores") else ():
        for me in setting.of(kind):
            yield from _undone(kind, me, idle(), group_of)
            yield from _refused(kind, me, stands("plan"), (at(me, UNDER_LOCK),), idle(), setting=setting)
    for me in setting.of(replacer.KIND):
        if asked := replacer.still_stands(setting):
            protocol = setting.protocol_of(me)
            unsure = (not_looked(me),) if looks_under_lock(protocol) else ()
            where = at(me, asked.asked_at(about_to_publish(protocol), protocol))
            yield from _refused(
                replacer.KIND, me, asked, (where, *unsure), replacer.Replacer("gave up"), setting=setting
            )


def _undone(kind: str, me: str, idle: Any, group_of: Callable[[Any], int]) -> Iterator[Row]:
    gone = Guard("a restore must have undone its plan", lambda own, restores: is_undone(restores, own.plan))
    lost = Guard("a file of its plan must be gone", lambda own, seen: loses_input(own.plan, group_of(own), seen))
    yield Row(f"{kind}_finds_plan_gone", me, (me, "restores"), (me,), (at(me, "about to start its plan"),),
              lambda own, _: (idle,), (gone,))  # fmt: skip
    yield Row(f"{kind}_misses_input", me, (me, "restores"), (me,), (at(me, "running its plan"),),
              lambda own, _: (idle,), (lost,))  # fmt: skip


def _refused(
    kind: str, me: str, asked: Check, where: tuple[Guard, ...], after: Any, *, setting: Setting
) -> Iterator[Row]:
    yield caught_up(Row(f"{kind}_is_refused", me, (me, "lock", *asked.reads), (me, "lock"), where,
                        lambda own, lock, *_: (own._replace(step=REFUSED), given_back(me, lock)),
                        (asked.guard(2, fails=True),)), setting)  # fmt: skip
    yield Row(f"{kind}_gives_up", me, (me, "lock"), (me,), (at(me, REFUSED),), lambda own, lock: (after,),
              (lock_is_free(),))  # fmt: skip
