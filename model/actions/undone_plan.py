"""Compactors whose plan a restore has undone: they find out before they start, as they read, or under the lock.

So do log compactors, in the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..conditions import at, lock_is_free
from ..publication import given_back
from ..restoring import loses_input, stands
from ..step import Action, Guard, Row
from ..table import is_undone
from . import Setting, compactor, log_compactor

WHO: tuple[tuple[str, Any, Callable[[Any], int]], ...] = (
    (compactor.KIND, compactor.Compactor, compactor.group_of),
    (log_compactor.KIND, log_compactor.LogCompactor, log_compactor.group_of),
)
ACTIONS = tuple(
    action
    for kind, *_ in WHO
    for action in (
        Action(f"{kind}_finds_plan_gone", "is about to start its plan, and a restore has undone it",
               "{actor} finds its plan gone"),
        Action(f"{kind}_misses_input", "finds a file of its plan deleted, by the restore that has undone the plan",
               "{actor} finds its input gone"),
        Action(f"{kind}_is_refused", "under the lock: finds that a restore has undone its plan; gives the lock back",
               "{actor} finds that its plan was undone"),
        Action(f"{kind}_gives_up", "deletes its files, then, under the lock, what it left of its instant",
               "{actor} takes its files back"),
    )
)  # fmt: skip

REFUSED = "refused"


def rows(setting: Setting) -> Iterator[Row]:
    for kind, idle, group_of in WHO if setting.if_any("restores") else ():
        for me in setting.of(kind):
            yield from _undone(kind, me, idle(), group_of)


def _undone(kind: str, me: str, idle: Any, group_of: Callable[[Any], int]) -> Iterator[Row]:
    gone = Guard("a restore must have undone its plan", lambda own, restores: is_undone(restores, own.plan))
    lost = Guard("a file of its plan must be gone", lambda own, seen: loses_input(own.plan, group_of(own), seen))
    mine = (me,)
    yield Row(f"{kind}_finds_plan_gone", me, (me, "restores"), mine, (at(me, "about to start its plan"),),
              lambda own, _: (idle,), (gone,))  # fmt: skip
    yield Row(f"{kind}_misses_input", me, (me, "restores"), mine, (at(me, "running its plan"),),
              lambda own, _: (idle,), (lost,))  # fmt: skip
    yield Row(f"{kind}_is_refused", me, (me, "lock", "restores"), (me, "lock"), (at(me, "under the lock"),),
              lambda own, lock, _: (own._replace(step=REFUSED), given_back(me, lock)),
              (stands("plan").guard(2, fails=True),))  # fmt: skip
    yield Row(f"{kind}_gives_up", me, (me, "lock"), mine, (at(me, REFUSED),), lambda own, lock: (idle,),
              (lock_is_free(),))  # fmt: skip
