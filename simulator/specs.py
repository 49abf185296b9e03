"""Loads worlds (search configurations) and protocols (sets of timeline rules) from TOML files, by name or path.

A protocol file contains descriptions, the name of the protocol that it `extends`, and only those options that it
changes. The sections of a world file are those that `World.from_mapping` accepts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from nbcc.model import Model, Protocol, World, extensions
from nbcc.model.mechanisms import kind_of
from nbcc.model.protocol import choices
from nbcc.model.validation import nearest, refuse_controls, refuse_unknown

Made = TypeVar("Made")
SHAPES: Mapping[str, tuple[type, str]] = {
    **{name: (dict, f"a table: [{name}]") for name in ("table", "actors", "limits", "data", "hudi_options")},
    "actor": (dict, "tables, one an actor: [actor.w1]"),
    "writes": (list, "an array of tables: [[writes]]"),
    "seen_on_hudi": (list, "an array of tests: [\"tests/interop/test_x.py::test_y\"]"),
    **dict.fromkeys(("about", "extends", "source", "used_by", "read_not_run", "name"), (str, "a text")),
}
"""Field -> its type in TOML. The code that uses a field checks its value."""
ABOUT = ("format", "about", "extends", "source", "used_by", "seen_on_hudi", "read_not_run", "hudi_options")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolFile:
    """A protocol (a set of timeline rules), with the descriptions and Hudi options of its file. `source` names the
    document that describes the protocol, and `used_by` names the systems that use it.

    What `used_by` states about Apache Hudi has evidence: `seen_on_hudi` names tests that saw it on Apache Hudi, and
    `read_not_run` names what was read instead.
    """

    name: str
    about: str
    source: str
    used_by: str
    seen_on_hudi: tuple[str, ...] = ()
    read_not_run: str = ""
    hudi_options: Mapping[str, Any] = field(hash=False)
    protocol: Protocol

    @property
    def evidence(self) -> tuple[str, ...]:
        """How the rule is known to be one of Apache Hudi's, one sentence each."""
        read = (f"read in the source, not run: {self.read_not_run}",) if self.read_not_run else ()
        return (*hudi_evidence(self.seen_on_hudi), *read)


def hudi_evidence(tests: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each test that saw a behaviour on Apache Hudi."""
    return tuple(f"seen on Apache Hudi by {test}" for test in tests)


def ancestors(name: str) -> Iterator[str]:
    """Yield the protocol itself, and the protocols that it extends, directly or indirectly."""
    reading: str | None = name
    while reading is not None:
        yield reading
        reading = _read("protocols", reading).get("extends")


def world_names() -> tuple[str, ...]:
    return _names("worlds")


def protocol_names() -> tuple[str, ...]:
    return tuple(sorted(_names("protocols"), key=lambda name: (name != "default", name)))


def about(kind: str, name: str) -> str:
    """Return the description of a world or protocol; `kind` is "worlds" or "protocols"."""
    return str(_read(kind, name).get("about", ""))


def world(name: str) -> World:
    """Return the world (a search configuration) with the given name or path.

    Raises ValueError if the world does not exist, or if its file is invalid.
    """
    fields = _read("worlds", name)
    parsed = _naming_file("world", name, lambda: World.from_mapping({"name": _short(name), **fields}))
    for actor in parsed.settings:
        if (number := re.search(r"\d+$", actor)) and int(number[0]) > parsed.actors.get(kind_of(actor), 0):
            there = f"there are {parsed.actors.get(kind_of(actor), 0)} of the kind {kind_of(actor)!r}"
            raise ValueError(f"world {name!r}: world [actor.{actor}]: there is no such actor; {there}")
    return parsed


def protocol(name: str) -> Protocol:
    """Return the protocol (a set of timeline rules) with the given name or path.

    Raises ValueError if the protocol does not exist, or if its file is invalid.
    """
    return protocol_file(name).protocol


def protocol_file(name: str) -> ProtocolFile:
    """Return a protocol, with the descriptions and Hudi options given in its file. An option in a protocol file
    overrides the same option in the files that it extends.
    """
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
        seen_on_hudi=tuple(map(str, first.get("seen_on_hudi", ()))),
        read_not_run=str(first.get("read_not_run", "")),
        hudi_options=options,
        protocol=_naming_file("protocol", name, lambda: Protocol.from_mapping(merged)),
    )


def system(world_name: str, protocol_name: str = "default") -> Model:
    return Model(world(world_name), protocol(protocol_name))


def _naming_file(kind: str, name: str, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except ValueError as error:
        raise ValueError(f"{kind} {name!r}: {error}") from None


def _folder(kind: str) -> Traversable:
    return files("nbcc") / "specs" / kind


def _names(kind: str) -> tuple[str, ...]:
    return tuple(sorted({*_own_names(kind), *extensions.files_of(kind)}))


@cache  # listing the folder of an installed package takes longer than reading a file in it
def _own_names(kind: str) -> tuple[str, ...]:
    return tuple(e.name[: -len(".toml")] for e in _folder(kind).iterdir() if e.name.endswith(".toml"))


def _short(name: str) -> str:
    return Path(name).stem if name.endswith(".toml") else name


def _read(kind: str, name: str) -> dict[str, Any]:
    if (given := extensions.files_of(kind).get(name)) is not None:
        return _checked(kind, name, {"format": 1, **given})
    if name.endswith(".toml"):
        path: Traversable = Path(name)
        if not path.is_file():
            raise ValueError(f"{kind[:-1]} file {name!r} does not exist")
    else:
        if name not in (known := _names(kind)):
            raise ValueError(f"no {kind[:-1]} is called {name!r}; {nearest(name, known, f'nbcc list {kind}')}")
        path = _folder(kind) / f"{name}.toml"
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{kind[:-1]} {name!r} is not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{kind[:-1]} {name!r} is nested too deeply") from None
    return _checked(kind, name, fields)


def _checked(kind: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    refuse_controls(fields, f"{kind[:-1]} {name!r}")
    if fields.get("format") != 1:
        raise ValueError(f"{kind[:-1]} {name!r}: format {fields.get('format')!r} is not known; this version reads 1")
    for field_name, (shape, words) in SHAPES.items():
        if not isinstance(fields.get(field_name, shape()), shape):
            raise ValueError(f"{kind[:-1]} {name!r}: {field_name} must be {words}")
    for table in (*fields.get("writes", []), *fields.get("actor", {}).values()):
        if not isinstance(table, dict):
            raise ValueError(f"{kind[:-1]} {name!r}: writes and actor hold tables, found {table!r}")
    return fields
