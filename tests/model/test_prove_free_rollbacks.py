"""The proof of rollbacks without a lock: each weaker rule fails an obligation, most by an entry that decides both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.search.prove.lemmas.entries import Contents
from nbcc.simulator.search.prove.lemmas.free_commits import FreeOptions
from nbcc.simulator.search.prove.lemmas.free_rollbacks import (
    CONTENTS,
    NEVER_BOTH,
    ROLLED_BACK,
    FreeRollbacks,
)
from nbcc.simulator.search.prove.logic import Term, no
from nbcc.simulator.search.prove.obligations import discharge, obligations
from nbcc.simulator.search.prove.system import Move, ProvedSystem

LISTS_UNDECIDED = "an author lists announcements that no entry which it knows decides"


def with_rollbacks(**parts: Any) -> ProvedSystem:
    """The relation in which rollbacks have other rules."""

    class Changed(FreeRollbacks):
        contents = replace(CONTENTS, plans=(CONTENTS.plans[0], replace(ROLLED_BACK, **parts)))

    return Changed(FreeOptions()).system()


def with_writes(**parts: Any) -> ProvedSystem:
    """The relation in which writes that may be rolled back have other rules."""
    first, *others = CONTENTS.commits

    class Changed(FreeRollbacks):
        contents = Contents((replace(first, **parts), *others), CONTENTS.plans, CONTENTS.asks)

    return Changed(FreeOptions()).system()


class IsRefusedAtOnce(FreeRollbacks):
    """A writer gives its write up as soon as its heartbeat has expired, although no entry rolls the write back."""

    def writers(self) -> tuple[Move, ...]:
        *others, finds = super().writers()
        return (*others, replace(finds, guard=lambda s, w: s.expired(w)))


class RollsBackLiveWrites(FreeRollbacks):
    """A rollbacker does not look at heartbeats."""

    def rollbackers(self) -> tuple[Move, ...]:
        plans, *others = super().rollbackers()
        return (replace(plans, guard=lambda s, b, o, w, t: no(s.asked(o))), *others)


def never(s: Any, a: Term, x: Term) -> Term:
    return False


WEAKER: dict[str, tuple[Callable[[], ProvedSystem], str, str]] = {
    "an entry decides a write and its rollback": (
        lambda: with_rollbacks(yields=never), "author puts entry", NEVER_BOTH),
    "an author lists a write that it knows to be rolled back": (
        lambda: with_writes(refuted=never), "author starts listing announcements", LISTS_UNDECIDED),
    "an author lists the rollback of a write that is on the timeline": (
        lambda: with_rollbacks(refuted=never), "author starts listing announcements", LISTS_UNDECIDED),
    "a writer gives up a write that no entry rolls back": (
        lambda: IsRefusedAtOnce(FreeOptions()).system(), "writer finds its write rolled back",
        "a write is decided after its announcement, and published after its decision"),
    "a rollback of a live write": (
        lambda: RollsBackLiveWrites(FreeOptions()).system(), "rollbacker plans rollback",
        "a write that is rolled back has an expired heartbeat"),
}  # fmt: skip
"""Weaker rule -> the relation, and an action and a clause of the invariant that it then does not preserve."""


def answer(system: ProvedSystem, action: str, clause: str) -> str:
    return discharge(next(each for each in obligations(system) if (
        each.kind, each.action, each.clause) == ("preserved", action, clause))).answer  # fmt: skip


@pytest.mark.parametrize("rule", WEAKER)
def test_a_weaker_rule_of_rollbacks_fails_an_obligation(rule: str) -> None:
    weaker, action, clause = WEAKER[rule]
    assert answer(FreeRollbacks(FreeOptions()).system(), action, clause) == "PROVED"
    assert answer(weaker(), action, clause) == "FAILED"
