"""The proofs of resizes with other services, and of resizes by range: each weaker rule fails an obligation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from nbcc.simulator.search.prove.lemmas import LEMMAS, cleaning, core, resize_services, resizes, resizes_by_range
from nbcc.simulator.search.prove.logic import Term, Update, both
from nbcc.simulator.search.prove.obligations import discharge, obligations
from nbcc.simulator.search.prove.system import Move

LEMMAS_OF = {lemmas.name: lemmas for lemmas in LEMMAS}


class CleansInputsOfPendingPlans(resize_services.CleanedResizes):
    """A clean keeps the inputs of no plan, as if each plan took the newest base file."""

    def schedule_clean(self, s: Any, a: Term, o: Term, w: Term) -> Mapping[str, Update]:
        return cleaning.CleaningLemmas.schedule_clean(self, s, a, o, w)


class CommitsAfterItsRollback(resize_services.RolledBackResizes):
    """A writer that has moved its logs does not look at its heartbeat again."""

    def writers(self) -> tuple[Move, ...]:
        moved = {each.name: each for each in resizes.ResizeLemmas.completing_writes(self)}
        return tuple(moved[each.name] if each.name == "writer takes completion time" else each
                     for each in super().writers())  # fmt: skip


class PlansLeaveLateLogsOut(resizes_by_range.ResizesByRange):
    """A plan takes the logs of its own file groups alone, and readers those of all."""

    def takes(self, s: Any, log: Term) -> Term:
        w = s.write_of(log)
        return both(super().takes(s, log), resizes.ResizeLemmas.opens(self, s, w, s.done))


WEAKER: dict[str, tuple[type[core.Core], str, str, str]] = {
    "a clean deletes the inputs of a pending plan": (
        CleansInputsOfPendingPlans, "resizes_cleaned", "cleaner schedules clean", resize_services.SERVED),
    "a writer completes after its rollback": (
        CommitsAfterItsRollback, "resizes_rolled_back", "writer takes completion time",
        "a live writer that has its completion time is not rolled back"),
    "a plan leaves late logs out that readers by range take": (
        PlansLeaveLateLogsOut, "resizes_by_range", "compactor schedules plan",
        "a base file holds exactly the logs that completed before its barrier"),
}  # fmt: skip
"""Weaker rule of resizes -> the relation, its file of lemmas, and an action and a clause that it does not preserve."""


def answer(relation: core.Core, action: str, clause: str) -> str:
    """Whether the action preserves the clause."""
    return discharge(next(each for each in obligations(relation.system()) if (
        each.kind, each.action, each.clause) == ("preserved", action, clause))).answer  # fmt: skip


@pytest.mark.parametrize("rule", WEAKER)
def test_a_weaker_rule_of_resizes_fails_an_obligation(rule: str) -> None:
    weaker, name, action, clause = WEAKER[rule]
    lemmas = LEMMAS_OF[name]
    assert answer(lemmas.relation(lemmas.options()), action, clause) == "PROVED"
    assert answer(weaker(lemmas.options()), action, clause) == "FAILED"
