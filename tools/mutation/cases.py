"""The cases in which generated mutants are searched: worlds under protocols."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from nbcc.model import Model, Protocol, World
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from nbcc.simulator.verdicts.bound import bound_of, sentence
from nbcc.simulator.verdicts.kills import accepted, small_worlds

from .random_worlds import random_worlds

LARGEST: Final = 30_000
"""States of the largest world of specs/worlds in which mutants are hunted."""


class Case(NamedTuple):
    """A world under a protocol.

    `world` is the number of a small world, or a name. The protocol is the default, one weaker option (`field` and
    `value`), or named by `protocol`. A random world has the protocol of the same name.
    """

    world: int | str
    field: str = ""
    value: str = ""
    protocol: str = ""

    @property
    def size(self) -> World:
        return _world(self.world)

    @property
    def own(self) -> str:
        """The difference of the case from the small worlds under the default protocol; '' for these worlds."""
        choice = self.protocol or (f"{self.field}={self.value}" if self.field else "")
        return choice or (self.world if isinstance(self.world, str) else "")

    @property
    def kind(self) -> str:
        """What counts as a kill in this case: 'protocol', 'world', or '' in the small worlds, where a violated promise
        counts.
        """
        return "protocol" if self.field or self.protocol else "world" if self.own else ""

    @property
    def where(self) -> str:
        """The case in words."""
        where = sentence(bound_of(self.size))
        return f"{self.own} in {where}" if self.own else where

    def model(self) -> Model:
        return Model(_world(self.world), _protocol(self.field, self.value, self.protocol))


@cache
def _world(name: int | str) -> World:
    if isinstance(name, int):
        return _small()[name]
    return random_worlds()[name].world if name in random_worlds() else specs.world(name)


@cache
def _protocol(field: str, value: str, name: str) -> Protocol:
    if name:
        return random_worlds()[name].protocol if name in random_worlds() else specs.protocol(name)
    return Protocol.from_mapping({field: value}) if field else Protocol()


@cache
def _small() -> tuple[World, ...]:
    return small_worlds()


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases; those that kill most mutants in the shortest time come first."""
    return (*_default(), *_weaker(), *_named(), *(Case(name, protocol=name) for name in random_worlds()))


def _default() -> tuple[Case, ...]:
    return tuple(Case(number) for number in range(len(_small())))


def _weaker() -> tuple[Case, ...]:
    worlds = [bound_of(world) for world in _small()]
    demo = worlds.index(bound_of(specs.world("demo")))
    found = []
    for field, values in choices().items():
        for value in values[1:]:
            mine = [kill.bound for kill in accepted() if kill.mutant == f"{field}={value}"]
            first = [number for number, bound in enumerate(worlds) if bound in mine][:1]
            found += [Case(number, field, value) for number in dict.fromkeys([*first, demo])]
    return tuple(found)


@cache
def _named() -> tuple[Case, ...]:
    text = (files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8")
    pinned: dict[str, dict[str, Any]] = tomllib.loads(text)
    states = {name: int(each["distinct"]) for name, each in pinned["worlds"].items()}
    few = {name for name, count in states.items() if count <= LARGEST}
    found = [Case(name) for name in few]
    found += [Case(each["world"], protocol=name) for name, each in pinned["protocols"].items() if each["world"] in few]
    return tuple(sorted(found, key=lambda case: (states[str(case.world)], case)))
