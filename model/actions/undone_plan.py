"""Compactors whose plan a restore has undone: they find out before they start, as they read, or under the lock."""

from __future__ import annotations

from collections.abc import Iterator

from ..conditions import at, lock_is_free
from ..publication import given_back
from ..restoring import is_undone, stands
from ..step import Action, Guard, Row
from . import Setting
from .compactor import Compactor, loses_input

ACTIONS = (
    Action("compactor_finds_plan_gone", "is about to start its plan, and a restore has undone it",
           "{actor} finds its plan gone"),
    Action("compactor_misses_input", "finds a file of its plan deleted, by the restore that has undone the plan",
           "{actor} finds its input gone"),
    Action("compactor_is_refused", "under the lock: finds that a restore has undone its plan; gives the lock back",
           "{actor} finds that its plan was undone"),
    Action("compactor_gives_up", "deletes its files, then, under the lock, what it left of its instant",
           "{actor} takes its files back"),
)  # fmt: skip

REFUSED = "refused"


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of("compactor") if "restores" in setting.first else ():
        yield from _undone(me)


def _undone(me: str) -> Iterator[Row]:
    gone = Guard("a restore must have undone its plan", lambda own, restores: is_undone(restores, own.plan))
    lost = Guard("a file of its plan must be gone", loses_input)
    idle = (me,)
    yield Row("compactor_finds_plan_gone", me, (me, "restores"), idle, (at(me, "about to start its plan"),),
              lambda own, _: (Compactor(),), (gone,))  # fmt: skip
    yield Row("compactor_misses_input", me, (me, "restores"), idle, (at(me, "running its plan"),),
              lambda own, _: (Compactor(),), (lost,))  # fmt: skip
    yield Row("compactor_is_refused", me, (me, "lock", "restores"), (me, "lock"), (at(me, "under the lock"),),
              lambda own, lock, _: (own._replace(step=REFUSED), given_back(me, lock)),
              (stands("plan").guard(2, fails=True),))  # fmt: skip
    yield Row("compactor_gives_up", me, (me, "lock"), idle, (at(me, REFUSED),), lambda own, lock: (Compactor(),),
              (lock_is_free(),))  # fmt: skip
