"""What each kind of actors chooses for itself: a world may say just that, and no choice is kept and ignored."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.assembly import is_modelled
from nbcc.model.mechanisms import kind_of, kinds
from nbcc.model.variants.slicing import Slicing
from nbcc.model.world import chosen_by
from nbcc.simulator import specs
from tests.builders.by_day import NIGHTLY

pytestmark = pytest.mark.xdist_group("options of actors")  # `looked_at` takes a minute at night: in one worker only

PROTOCOLS = (
    Protocol(),
    Protocol(concurrency="occ", early_detection="on"),
    Protocol(concurrency="single_writer", completion_time="outside_lock"),
    Protocol(slicing="base_instant"),
    Protocol(services="foreign", concurrency="occ"),
    Protocol(lock_wait="times_out"),
    Protocol(bulk_insert="unchecked", concurrency="occ"),
)
"""Under each of them other choices matter."""


RARE = ("bulk_inserter",)
"""Kinds whose conflicts are rare."""

OWN = frozenset(name for kind in kinds() for name in chosen_by(kind))
"""The options that actors of some kind choose for themselves. The others are the table's, for all actors."""


RULES = {"plan_takes", "slicing"}
"""Options by which rules are composed for every actor. A kind that does not choose one has the table's value."""


class TracedPart:
    """A part of a protocol that notes which of its options are read."""

    def __init__(self, part: Any, asked: set[str]) -> None:
        self._part, self._asked = part, asked

    def __getattr__(self, name: str) -> Any:
        if name in OWN:
            self._asked.add(name)
        return getattr(self._part, name)


class Traced(Protocol):
    """A protocol that notes in `asked` which of its options an actor reads; one that is made of it notes nothing."""

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __getitem__(self, part: type[Any]) -> Any:
        return TracedPart(super().__getitem__(part), vars(self).get("asked", set()))


@pytest.fixture(scope="module")
def looked_at() -> dict[str, set[str]]:
    """Kind of actors -> the options that one of them read, as its own, in runs at random of the named worlds."""
    asked: dict[str, set[str]] = defaultdict(set)
    protocol_of = World.protocol_of

    def traced(world: World, actor: str, protocol: Protocol) -> Protocol:
        own = object.__new__(Traced)
        object.__setattr__(own, "options", protocol_of(world, actor, protocol).options)
        object.__setattr__(own, "asked", asked[kind_of(actor)])
        return own

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(World, "protocol_of", traced)
        for world in specs.world_names():
            for protocol in PROTOCOLS:
                _walk(specs.world(world), protocol)
    return asked


def _walk(world: World, protocol: Protocol) -> None:
    if world.actors.get("bulk_inserter") and protocol[Slicing].slicing != "completion":
        return  # is not modelled
    if not is_modelled(world, protocol):
        return
    model, rng = Model(world, protocol), Random(f"{world.name} {protocol.differences()}")
    for _ in range(60 if NIGHTLY and any(world.actors.get(kind) for kind in RARE) else 3):
        state = model.initial
        for _ in range(60):
            if not (steps := list(model.successors(state))):
                break
            _, state = rng.choice(steps)


@pytest.mark.parametrize(
    "kind", [pytest.param(each, marks=pytest.mark.nightly if each in RARE else ()) for each in sorted(kinds())]
)
def test_a_kind_looks_at_its_own_choices_and_at_all_of_them(kind: str, looked_at: dict[str, set[str]]) -> None:
    assert looked_at[kind] - RULES == set(chosen_by(kind)) - RULES
    assert looked_at[kind] >= set(chosen_by(kind))


def test_a_choice_that_an_actor_does_not_make_is_refused() -> None:
    crew = World(actors={"writer": 1, "compactor": 1, "reader": 1})
    with pytest.raises(ValueError, match=r"\[actor.c1\], a compactor: unknown field 'concurrency'; known: completion_"):
        crew.replace(settings={"c1": {"concurrency": "occ"}})
    with pytest.raises(ValueError, match=r"\[actor.reader\], a reader: unknown field 'slicing'; known: none"):
        crew.replace(settings={"reader": {"slicing": "base_instant"}})
    assert crew.replace(settings={"c1": {"plan_takes": "any_log"}}).settings
