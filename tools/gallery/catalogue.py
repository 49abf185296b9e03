"""The catalogue of the gallery: one entry for each run, in the order of the course."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from nbcc.model import Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.model.validation import refuse_unknown
from nbcc.simulator import specs

from .goals import GOALS

BROKEN = "broken"
FIELDS = ("name", "part", "title", "promise", "world", "protocol", "find", "steps_of", "order", "predict", "shows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run of the gallery.

    ``find`` is BROKEN for the shortest counterexample of the promise, or a goal for the shortest run to it. Instead,
    ``steps_of`` names another entry, whose steps and rows are played under the protocol of this one, or ``order`` lists
    pairs of an actor and an action: each actor takes its first possible step until it has taken the action. With BROKEN
    these steps must break the promise. ``part`` is the chapter, ``predict`` a question, ``shows`` the answer.
    """

    name: str
    part: str
    title: str
    promise: str
    world: World
    world_name: str
    protocol: Protocol
    protocol_name: str
    find: str
    steps_of: str
    order: tuple[tuple[str, str], ...]
    predict: str
    shows: str

    @property
    def keeps(self) -> bool:
        """Return whether the promise of the entry holds in its run."""
        return self.find != BROKEN and (bool(self.find or self.order) or not self.protocol.differences())


def catalogue() -> tuple[Entry, ...]:
    """All entries.

    Raises:
        ValueError: an entry has an unknown field or value.
    """
    text = (files("nbcc") / "specs" / "traces" / "gallery.toml").read_text(encoding="utf-8")
    entries = tuple(map(_entry, tomllib.loads(text)["run"]))
    names = [entry.name for entry in entries]
    for entry in entries:
        if entry.steps_of and entry.steps_of not in names:
            raise ValueError(f"gallery {entry.name}: no entry {entry.steps_of!r}")
    return entries


def _entry(given: Mapping[str, Any]) -> Entry:
    where = f"gallery {given.get('name')!r}"
    refuse_unknown(given, FIELDS, where)
    find, steps_of = given.get("find", ""), given.get("steps_of", "")
    order = tuple((actor, action) for actor, action in given.get("order", ()))
    if given["promise"] not in PROMISES:
        raise ValueError(f"{where}: no promise {given['promise']!r}")
    given_steps = bool(steps_of) + bool(order)
    if given_steps > 1 or find not in ({BROKEN, ""} if given_steps else {BROKEN, *GOALS}):
        raise ValueError(f"{where}: steps_of, order, or find = {BROKEN!r} or one of {', '.join(GOALS)}")
    world = given["world"]
    protocol = given.get("protocol", "default")
    return Entry(
        name=given["name"],
        part=given["part"],
        title=given["title"],
        promise=given["promise"],
        world=specs.world(world) if isinstance(world, str) else World.from_mapping(world),
        world_name=world if isinstance(world, str) else "",
        protocol=specs.protocol(protocol) if isinstance(protocol, str) else Protocol.from_mapping(protocol),
        protocol_name=protocol if isinstance(protocol, str) else "",
        find=find,
        steps_of=steps_of,
        order=order,
        predict=given["predict"],
        shows=given["shows"],
    )
