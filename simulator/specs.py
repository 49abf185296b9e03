"""Worlds and protocols by name, from the TOML files that are shipped as package data (`nbcc/specs`), or by path.

A protocol file holds `format`, `about`, `extends`, `source`, `used_by`, `hudi_options` and only the fields that differ
from what it extends. A world file holds the sections of `World.from_mapping`, or `model` and the counts of another
small system.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from nbcc.model import Model, Protocol, World
from nbcc.model.mechanisms import kind_of
from nbcc.model.protocol import choices
from nbcc.model.validation import nearest, refuse_unknown

from .explore.hudi_v5 import HudiV5, Setting
from .explore.two_phase_commit import TwoPhaseCommit

Made = TypeVar("Made")
OTHER_MODELS: dict[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], TwoPhaseCommit | HudiV5]]] = {
    "two_phase_commit": (("resource_managers",), lambda given: TwoPhaseCommit(**given)),
    "hudi_v5": (tuple(f.name for f in dataclasses.fields(Setting)), lambda given: HudiV5(Setting(**given))),
}
"""Models without our table: the fields of their world files, and what makes them."""
SHAPES: Mapping[str, tuple[type, str]] = {
    **{name: (dict, f"a table: [{name}]") for name in ("table", "actors", "limits", "data", "hudi_options")},
    "actor": (dict, "tables, one an actor: [actor.w1]"),
    "writes": (list, "an array of tables: [[writes]]"),
    **dict.fromkeys(("about", "extends", "source", "used_by", "model", "name"), (str, "a text")),
}
"""What the fields of the files are, as TOML; their values are looked at where they are used."""
ABOUT = ("format", "about", "extends", "source", "used_by", "hudi_options")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolFile:
    """A protocol with what its file says of it; `source` is where the choice comes from, `used_by` who makes it."""

    name: str
    about: str
    source: str
    used_by: str
    hudi_options: Mapping[str, Any] = field(hash=False)
    protocol: Protocol


def world_names() -> tuple[str, ...]:
    """The worlds that can be named."""
    return _names("worlds")


def protocol_names() -> tuple[str, ...]:
    """The protocols that can be named, `default` first."""
    return tuple(sorted(_names("protocols"), key=lambda name: (name != "default", name)))


def about(kind: str, name: str) -> str:
    """The sentence that a file of `kind` (worlds or protocols) says of itself."""
    return str(_read(kind, name).get("about", ""))


def world(name: str) -> World:
    """The world of this name or path; ValueError says what exists."""
    given = _read("worlds", name)
    if "model" in given:
        raise ValueError(f"world {name!r} is a world of the model {given['model']!r}, which has no table")
    made = _told_where("world", name, lambda: World.from_mapping({"name": _short(name), **given}))
    for actor in made.settings:
        if (number := re.search(r"\d+$", actor)) and int(number[0]) > made.actors.get(kind_of(actor), 0):
            there = f"there are {made.actors.get(kind_of(actor), 0)} of the kind {kind_of(actor)!r}"
            raise ValueError(f"world {name!r}: world [actor.{actor}]: there is no such actor; {there}")
    return made


def protocol(name: str) -> Protocol:
    """The protocol of this name or path; ValueError says what exists."""
    return protocol_file(name).protocol


def protocol_file(name: str) -> ProtocolFile:
    """The protocol with its `about`, `source` and Hudi options; of a chain of `extends` the last word counts."""
    merged: dict[str, Any] = {}
    options: dict[str, Any] = {}
    seen: list[str] = []
    reading: str | None = name
    while reading is not None:
        if reading in seen:
            raise ValueError(f"protocol {name!r}: extends itself: {' -> '.join([*seen, reading])}")
        seen.append(reading)
        given = _read("protocols", reading)
        refuse_unknown(given, (*ABOUT, *choices()), f"protocol {reading!r}")
        options = {**given.get("hudi_options", {}), **options}
        merged = {**{key: value for key, value in given.items() if key in choices()}, **merged}
        reading = given.get("extends")
    first = _read("protocols", name)
    return ProtocolFile(
        name=_short(name),
        about=str(first.get("about", "")),
        source=str(first.get("source", "")),
        used_by=str(first.get("used_by", "")),
        hudi_options=options,
        protocol=_told_where("protocol", name, lambda: Protocol.from_mapping(merged)),
    )


def system(world_name: str, protocol_name: str = "default") -> Model | TwoPhaseCommit | HudiV5:
    """What a search explores: the model of a world under a protocol, or another model that a world names."""
    given = _read("worlds", world_name)
    model = given.get("model")
    if model is None:
        return Model(world(world_name), protocol(protocol_name))
    if model not in OTHER_MODELS:
        raise ValueError(f"world {world_name!r}: unknown model {model!r}; {nearest(str(model), OTHER_MODELS)}")
    fields, make = OTHER_MODELS[model]
    refuse_unknown(given, ("format", "about", "source", "model", *fields), f"world {world_name!r}")
    try:
        return make({name: value for name, value in given.items() if name in fields})
    except TypeError as error:
        raise ValueError(f"world {world_name!r}: {error}") from None


def has_table(world_name: str) -> bool:
    """Whether a world is one of our table, or of another model that calibrates the search."""
    return "model" not in _read("worlds", world_name)


def source(world_name: str) -> str:
    """Where a world of another model comes from."""
    return str(_read("worlds", world_name).get("source", ""))


def _told_where(kind: str, name: str, make: Callable[[], Made]) -> Made:
    """Run `make`; a ValueError gets the name of the file in front."""
    try:
        return make()
    except ValueError as error:
        raise ValueError(f"{kind} {name!r}: {error}") from None


def _folder(kind: str) -> Traversable:
    return files("nbcc") / "specs" / kind


def _names(kind: str) -> tuple[str, ...]:
    return tuple(sorted(e.name[: -len(".toml")] for e in _folder(kind).iterdir() if e.name.endswith(".toml")))


def _short(name: str) -> str:
    return Path(name).stem if name.endswith(".toml") else name


def _read(kind: str, name: str) -> dict[str, Any]:
    if name.endswith(".toml"):
        path: Traversable = Path(name)
        if not path.is_file():
            raise ValueError(f"{kind[:-1]} file {name!r} does not exist")
    else:
        if name not in (known := _names(kind)):
            raise ValueError(f"no {kind[:-1]} is called {name!r}; {nearest(name, known)}")
        path = _folder(kind) / f"{name}.toml"
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{kind[:-1]} {name!r} is not TOML: {error}") from None
    if given.get("format") != 1:
        raise ValueError(f"{kind[:-1]} {name!r}: format {given.get('format')!r} is not known; this version reads 1")
    for field_name, (shape, words) in SHAPES.items():
        if not isinstance(given.get(field_name, shape()), shape):
            raise ValueError(f"{kind[:-1]} {name!r}: {field_name} must be {words}")
    for table in (*given.get("writes", []), *given.get("actor", {}).values()):
        if not isinstance(table, dict):
            raise ValueError(f"{kind[:-1]} {name!r}: writes and actor hold tables, found {table!r}")
    return given
