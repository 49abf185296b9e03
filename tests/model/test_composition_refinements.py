"""Refinements of a composition: outcomes, exits, mechanisms composed later, and conditions that are exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from nbcc.model import assembly
from nbcc.model.machine.composition import Composition, NoTransition
from nbcc.model.machine.order import Refinement, commute
from nbcc.model.machine.transition import Changes, Guard, Transition, go_to, preset, transition
from nbcc.model.protocol import Protocol
from nbcc.model.world import World
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


@pytest.mark.parametrize("operation", ["extend", "precede"])
def test_a_transition_in_the_place_of_an_effect_is_named(operation: str) -> None:
    add: Any = getattr(system().select("takes"), operation)
    with pytest.raises(TypeError, match=f"{operation} adds an effect, which is a function; insert_before adds sleeps"):
        add(transition("sleeps", "w1", at="idle"))


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


NOT_CHECKED = Guard("{me} must not have checked", lambda own: not own.checked, place=True)
FREE = Guard("the lock must be free", lambda lock: lock is None)


def two_at_one_step() -> Composition:
    """Two transitions of one actor that start at one step, and at one place of it."""
    composition = Composition(World(), Protocol(), {"writer": ("w1",)}, lambda me: Protocol(), {"writer": ("idle",)})
    for action in ("passes", "aborts"):
        composition.add(transition(action, "w1", at="holds the lock", guards=(NOT_CHECKED, FREE), tags=("commits",)))
    return composition


def leaves(me: str) -> Transition:
    return transition("leaves", me, to="idle")


def test_transitions_of_one_step_share_an_exit() -> None:
    composition = two_at_one_step()
    composition.select("commits").exit(leaves)
    [added] = composition.select("leaves")
    assert (added.at, added.to) == ("holds the lock", "idle")


def test_an_exit_requires_the_place_and_no_other_condition_of_its_start() -> None:
    composition = two_at_one_step()
    composition.select("passes").exit(lambda me: leaves(me).require(NOT_CHECKED)).exit(
        lambda me: transition("stops", me)
    )
    assert composition.select("leaves").one.guards == (NOT_CHECKED,)
    assert composition.select("stops").one.guards == (NOT_CHECKED,)


class Greeting(NamedTuple):
    """A fact for these tests."""

    actor: str


def composition() -> Composition:
    return assembly.compose(World(actors={"writer": 1}), Protocol(), only=())


def test_a_refinement_of_a_fact_reaches_actors_that_are_noted_before_and_after_it() -> None:
    made, reached = composition(), list[str]()
    made.register(Greeting("w1"))
    made.begin("first", ())
    made.refine_facts(Greeting, lambda fact: reached.append(f"{made.mechanism}: {fact.actor}"))
    made.begin("second", ())
    made.register(Greeting("w2"))
    assert reached == ["first: w1", "first: w2"]
    assert made.mechanism == "second"


def test_one_condition_takes_the_place_of_another() -> None:
    made = composition()
    old, new = Guard("the moon must shine", lambda: True), Guard("the sun must shine", lambda: True)
    made.add(transition("writer_waits_for_light", "w1", guards=(old,)))
    made.select("writer_waits_for_light").swap(old, new)
    assert made.select("writer_waits_for_light").one.guards == (new,)


def test_a_view_lists_its_values_also_if_parameters_of_its_function_are_given() -> None:
    def doubled(factor: int) -> Iterator[int]:
        yield from (factor, 2 * factor)

    made = composition()
    made.map_view("doubled", preset(doubled, factor=3))
    assert assembly.names_of(made, World(), Protocol()).view("doubled").call() == (3, 6)


def test_an_actor_may_rest_at_a_step_that_a_mechanism_adds() -> None:
    assert composition().idle_steps["writer"] == ("idle", "timed out, with a pending write left")
