"""What each kind of actors chooses for itself: a world may say just that, and no choice is kept and ignored."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World, actions
from nbcc.model.actions import Setting
from nbcc.simulator import specs

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


class Traced(Protocol):
    """A protocol that notes which of its choices an actor looks at."""

    __slots__ = ("asked",)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __getattribute__(self, name: str) -> Any:
        if name in OWN:
            object.__getattribute__(self, "asked").add(name)
        return object.__getattribute__(self, name)


OWN = frozenset(choice for mechanism in actions.kinds().values() for choice in mechanism.chooses)
"""The choices that some kind makes for itself. All others are the table's, whoever looks at them."""


@pytest.fixture(scope="module")
def looked_at() -> dict[str, set[str]]:
    """Kind of actors -> the choices that one of them looked at, as its own, in runs at random of the named worlds."""
    asked: dict[str, set[str]] = defaultdict(set)

    def protocol_of(setting: Setting, actor: str) -> Protocol:
        if actor not in setting.own:
            traced = object.__new__(Traced)
            object.__setattr__(traced, "asked", asked[actions.kind_of(actor)])
            for name, value in setting.world.protocol_of(actor, setting.protocol).to_mapping().items():
                object.__setattr__(traced, name, value)
            setting.own[actor] = traced
        return setting.own[actor]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Setting, "protocol_of", protocol_of)
        for world in filter(specs.has_table, specs.world_names()):
            for protocol in PROTOCOLS:
                _walk(specs.world(world), protocol)
    return asked


def _walk(world: World, protocol: Protocol) -> None:
    if world.actors.get("loader") and protocol.slicing != "completion":
        return  # is not modelled
    model, rng = Model(world, protocol), Random(f"{world.name} {protocol.differences()}")
    for _ in range(20 if world.actors.get("loader") else 3):  # its conflicts are rare
        state = model.initial
        for _ in range(60):
            if not (steps := list(model.successors(state))):
                break
            _, state = rng.choice(steps)


@pytest.mark.parametrize("kind", sorted(actions.kinds()))
def test_a_kind_looks_at_its_own_choices_and_at_all_of_them(kind: str, looked_at: dict[str, set[str]]) -> None:
    assert looked_at[kind] == set(actions.kinds()[kind].chooses)


def test_a_choice_that_an_actor_does_not_make_is_refused() -> None:
    crew = World(actors={"writer": 1, "compactor": 1, "reader": 1})
    with pytest.raises(ValueError, match=r"\[actor.c1\], a compactor: unknown field 'concurrency'; known: completion_"):
        replace(crew, settings={"c1": {"concurrency": "occ"}})
    with pytest.raises(ValueError, match=r"\[actor.reader\], a reader: unknown field 'slicing'; known: none"):
        replace(crew, settings={"reader": {"slicing": "base_instant"}})
    assert replace(crew, settings={"c1": {"plan_takes": "any_log"}}).settings
