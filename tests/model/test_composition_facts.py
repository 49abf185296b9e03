"""Refinements that reach transitions of mechanisms composed later, and conditions that are exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from nbcc.model import Protocol, World, assembly
from nbcc.model.machine.composition import Composition
from nbcc.model.machine.transition import Guard, preset, transition


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
