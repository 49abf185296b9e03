"""Where generated mutants are hunted: small worlds, weaker choices, the worlds and protocols of specs, drawn worlds."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple
from typing import Protocol as Interface

from nbcc.model import Model, Protocol, World
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from nbcc.simulator.verdicts.bound import bound_of, sentence
from nbcc.simulator.verdicts.kills import accepted, small_worlds

from .drawn import drawn

MOST: Final = 30_000
"""States of the largest world of specs/worlds in which a mutant is hunted."""


class Searched(Interface):
    """A model in which mutants are looked for. `own`: what sets it apart from the ladder under the default protocol, in
    a word, or ''; `kind`: what sees a mutant here, but for promises of that ladder; `where`: all of it in words."""

    @property
    def own(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def where(self) -> str: ...
    def model(self) -> Model: ...


class Case(NamedTuple):
    """A small world, by its number, or a world of specs by name; under the default protocol, one weaker choice, or a
    protocol of specs by name. A drawn world stands under the protocol of its own name."""

    world: int | str
    field: str = ""
    value: str = ""
    protocol: str = ""

    @property
    def given(self) -> World:
        return _world(self.world)

    @property
    def own(self) -> str:
        choice = self.protocol or (f"{self.field}={self.value}" if self.field else "")
        return choice or (self.world if isinstance(self.world, str) else "")

    @property
    def kind(self) -> str:
        return "setting" if self.field or self.protocol else "world" if self.own else ""

    @property
    def where(self) -> str:
        where = sentence(bound_of(self.given))
        return f"{self.own} in {where}" if self.own else where

    def model(self) -> Model:
        return Model(_world(self.world), _protocol(self.field, self.value, self.protocol))


@cache
def _world(name: int | str) -> World:
    if isinstance(name, int):
        return _small()[name]
    return drawn()[name].world if name in drawn() else specs.world(name)


@cache
def _protocol(field: str, value: str, name: str) -> Protocol:
    if name:
        return drawn()[name].protocol if name in drawn() else specs.protocol(name)
    return Protocol.from_mapping({field: value}) if field else Protocol()


@cache
def _small() -> tuple[World, ...]:
    return small_worlds()


@cache
def cases() -> tuple[Case, ...]:
    """All of them, those first in which most mutants are seen soonest."""
    return (*_default(), *_weaker(), *_named(), *(Case(name, protocol=name) for name in drawn()))


def _default() -> tuple[Case, ...]:
    """The default protocol in every small world."""
    return tuple(Case(number) for number in range(len(_small())))


def _weaker() -> tuple[Case, ...]:
    """Weaker choices, one at a time, where they first break something, and in the world of the demo."""
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
    """The worlds of specs, and its protocols each in the world in which its figures are pinned, by their states."""
    text = (files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8")
    pinned: dict[str, dict[str, Any]] = tomllib.loads(text)
    states = {name: int(each["distinct"]) for name, each in pinned["worlds"].items()}
    few = {name for name, count in states.items() if count <= MOST}
    found = [Case(name) for name in few]
    found += [Case(each["world"], protocol=name) for name, each in pinned["protocols"].items() if each["world"] in few]
    return tuple(sorted(found, key=lambda case: (states[str(case.world)], case)))
