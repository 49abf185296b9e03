"""Refinements of one transition by two mechanisms: they commute, or one declares that it comes after the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import pytest

from nbcc.model.machine.composition import Composition
from nbcc.model.machine.order import Refinement, Unordered, commute
from nbcc.model.machine.selection import Selection
from nbcc.model.machine.transition import Branch, Changes, Component, Guard, preset, transition
from tests.search.counting import NEVER, Ran, double, never, system


def paint(count: int) -> Changes:
    return {"noted": count}


def shut(lock: str | None) -> Changes:
    return {"lock": lock}


PLACE = Guard("{me} must be there", never, place=True)


def leaving(some: Selection) -> str:
    """An action that no transition has yet."""
    return f"leaves {len(tuple(some.composition.find('leaves')))}"


OPERATIONS: dict[str, Callable[[Selection], object]] = {
    "require": lambda some: some.require(NEVER),
    "require_place": lambda some: some.require(PLACE),
    "tag": lambda some: some.tag("tagged"),
    "add_argument": lambda some: some.add_argument(lambda: ((),)),
    "extend count": lambda some: some.extend(double, "count"),
    "extend lock": lambda some: some.extend(shut, "lock"),
    "extend noted by count": lambda some: some.extend(paint, "noted"),
    "precede count": lambda some: some.precede(double, "count"),
    "insert_before": lambda some: some.insert_before("x", lambda each: transition("is before", each)),
    "insert_after": lambda some: some.insert_after("y", lambda each: transition("is after", each)),
    "split": lambda some: some.split(lambda each: each, lambda each: each.renamed("is second")),
    "exit": lambda some: some.exit(lambda me: transition(leaving(some), me, tags=("leaves",))),
    "replace": lambda some: some.replace(lambda each: each),
}
COMMUTE = {
    *(frozenset((one, other)) for one in ("require", "require_place", "add_argument", "tag") for other in OPERATIONS
      if other not in ("replace", "split") and (one, other) != ("require_place", "exit")),
    *(frozenset(("exit", other)) for other in OPERATIONS
      if other not in ("require_place", "replace", "split", "insert_before")),
    *map(frozenset, (
        ("extend count", "extend lock"), ("extend lock", "extend noted by count"),
        ("extend count", "precede count"), ("extend lock", "precede count"), ("extend noted by count", "precede count"),
        ("insert_before", "insert_after"),
        *((effect, insertion) for effect in OPERATIONS if effect.partition(" ")[0] in ("extend", "precede")
          for insertion in ("insert_before", "insert_after")),
    )),
}  # fmt: skip
"""Two refinements that lead to the same transition in either order. An operation with itself: by two mechanisms."""


def refined(first: str, then: str, after: tuple[str, ...]) -> Composition:
    composition = system()
    for mechanism, operation, comes_after in (("one", first, ()), ("other", then, after)):
        composition.begin(mechanism, comes_after)
        OPERATIONS[operation](composition.select("counts", actors=["w1"]))
    return composition


@pytest.mark.parametrize(("first", "then"), list(product(OPERATIONS, repeat=2)))
def test_refinements_without_an_order_must_commute(first: str, then: str) -> None:
    if frozenset((first, then)) in COMMUTE:
        assert shape(refined(first, then, ())) == shape(refined(then, first, ()))
    else:
        with pytest.raises(Unordered, match="counts of w1, and the order matters"):
            refined(first, then, ())


def shape(composition: Composition) -> dict[tuple[str, str], Any]:
    """What the transitions are made of, independent of the order in which conditions and effects were added."""
    return {key: (each.at, each.to, {*each.guards}, {*each.effects}, len(each.arguments), {*each.changes})
            for key, each in composition.transitions.items()}  # fmt: skip


@pytest.mark.parametrize(("first", "then"), [pair for pair in permutations(OPERATIONS, 2) if {*pair} not in COMMUTE])
def test_ordered_refinements_need_not_commute(first: str, then: str) -> None:
    assert refined(first, then, ("one",)).transitions


def test_two_mechanisms_that_change_one_component_need_an_order() -> None:
    with pytest.raises(Unordered, match=r"one \(extend\) and other \(extend\) both refine counts of w1"):
        refined("extend count", "extend count", ())
    with pytest.raises(Unordered, match=r"write after=\('one',\) in the Mechanism of other"):
        refined("extend count", "extend noted by count", ())
    assert refined("extend count", "extend noted by count", ("one",)).select("counts", actors=["w1"])


def test_an_order_holds_across_a_mechanism_in_between() -> None:
    composition = system()
    composition.begin("one", ())
    composition.select("counts").extend(double, "count")
    composition.begin("between", ("one",))
    composition.begin("other", ("between",))
    composition.select("counts").extend(double, "count")
    assert Ran(composition, "takes", "counts")["count"] == 8


def test_a_mechanism_may_refine_its_own_refinements() -> None:
    composition = system()
    composition.select("counts").extend(double, "count").extend(double, "count").precede(double, "count")
    assert Ran(composition, "takes", "counts")["count"] == (1 * 2 + 1) * 4


def test_refinements_of_different_transitions_need_no_order() -> None:
    composition = system()
    composition.begin("one", ())
    composition.select("counts", actors=["w1"]).extend(double, "count")
    composition.begin("other", ())
    composition.select("counts", actors=["w2"]).extend(double, "count")
    composition.select("releases", actors=["w1"]).extend(double, "count")
    assert Ran(composition, "takes", "counts", "releases")["count"] == 8


def test_a_renamed_transition_remembers_how_it_was_refined() -> None:
    composition = system()
    composition.begin("one", ())
    composition.select("counts").replace(lambda each: each.renamed("adds"))
    composition.begin("other", ())
    with pytest.raises(Unordered, match="adds of w1"):
        composition.select("adds").require(NEVER)


def test_what_an_effect_reads_counts_through_choices_and_given_parameters() -> None:
    def is_odd(count: int) -> bool:
        return count % 2 == 1

    def write(value: int, target: str) -> Changes:
        return {target: value}

    choice = Branch(is_odd, (preset(write, value=Component("lock"), target="noted"),), ())
    for effect, component in ((choice, "count"), (choice, "lock")):
        composition = system()
        composition.begin("one", ())
        composition.select("counts").extend(lambda: {}, component)
        composition.begin("other", ())
        with pytest.raises(Unordered):
            composition.select("counts").extend(effect, "noted")
    assert commute(Refinement("one", "extend", frozenset(), frozenset({"target"})), Refinement("other", "extend"))
