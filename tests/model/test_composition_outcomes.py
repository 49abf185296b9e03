"""Operations that give a transition another outcome, or take it away."""

from __future__ import annotations

import pytest

from nbcc.model.machine.composition import NoTransition
from nbcc.model.machine.order import Refinement, commute
from nbcc.model.machine.transition import Changes, go_to
from tests.search.counting import Ran, double, note, system


def is_even(count: int) -> bool:
    return count % 2 == 0


def test_a_transition_has_another_outcome_where_a_condition_holds() -> None:
    composition = system()
    composition.select("counts").divert(is_even, go_to("idle"))
    usual = Ran(composition, "takes", "counts")
    assert (usual["count"], usual["w1"].step) == (2, "done")
    composition.select("takes").extend(double, "count")
    other = Ran(composition, "takes", "counts")
    assert (other["count"], other["w1"].step) == (2, "idle")


def test_a_later_outcome_is_decided_first() -> None:
    composition = system()
    composition.select("counts").divert(is_even, go_to("even"))
    composition.select("counts").divert(lambda lock: lock == "w1", go_to("locked"))
    assert Ran(composition, "takes", "counts")["w1"].step == "locked"


def test_an_effect_that_is_added_later_happens_in_every_outcome() -> None:
    composition = system()
    composition.select("takes").extend(double, "count")
    composition.select("counts").divert(is_even, go_to("idle")).extend(note, "noted")
    assert Ran(composition, "takes", "counts")["noted"] == 2


@pytest.mark.parametrize("other", ["require", "add_argument", "insert_before"])
def test_another_outcome_commutes_with_what_neither_runs_nor_replaces_effects(other: str) -> None:
    assert commute(Refinement("one", "divert"), Refinement("other", other))
    assert commute(Refinement("one", other), Refinement("other", "divert"))


@pytest.mark.parametrize("other", ["divert", "extend", "precede", "insert_after", "split", "replace"])
def test_another_outcome_and_an_effect_need_an_order(other: str) -> None:
    assert not commute(Refinement("one", "divert"), Refinement("other", other))
    assert not commute(Refinement("one", other), Refinement("other", "divert"))


def test_a_removed_transition_is_no_transition_any_more() -> None:
    def reset() -> Changes:
        return {"count": 0}

    composition = system()
    composition.select("counts", actors=["w1"]).extend(reset, "count").remove()
    assert Ran(composition, "takes").possible == []
    assert composition.find("counts").keys == (("w2", "counts"),)
    with pytest.raises(NoTransition, match="w1 has no transition counts"):
        composition.select("counts", actors=["w1"])
