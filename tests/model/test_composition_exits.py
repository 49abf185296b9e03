"""Exits of a composition: they require the place from which they lead."""

from __future__ import annotations

from nbcc.model.machine.composition import Composition
from nbcc.model.machine.transition import Guard, Transition, transition
from nbcc.model.protocol import Protocol
from nbcc.model.world import World

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
