"""Describes how nbcc implements each mechanism of Hudi, one file per mechanism in `specs/mechanisms`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any, Final

from nbcc.model.validation import nearest, refuse_unknown

Names = tuple[str, ...]
_REQUIRED: Final = ("format", "title", "about", "source", "issue")
_LISTS: Final = ("model", "options", "engine", "hudi", "mutants", "verdicts", "promises")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One mechanism of Hudi, with the parts of nbcc that implement or test it.

    `model` lists the mechanism's actions in the model. `options` lists the protocol options and, with the prefix
    `world.`, the world limits that configure the mechanism. `engine` lists the engine's table operations or functions
    (`module:function`) that implement the mechanism. `engine_refuses` is the text of the engine's refusal if the engine
    does not implement the mechanism. `hudi` lists the steps or query kinds that exercise the mechanism on Apache Hudi.
    `hudi_impossible` is the reason why nbcc cannot run the mechanism on Apache Hudi. `verdicts` lists protocols that
    weaken the mechanism; their verdicts show which promises then break. `trace` names a run in the gallery that shows
    the mechanism. `boundary` is a phrase from the mechanism's line in specs/boundary.md.
    """

    name: str
    title: str
    about: str
    source: str
    issue: int
    model: Names = ()
    options: Names = ()
    engine: Names = ()
    engine_refuses: str = ""
    hudi: Names = ()
    hudi_impossible: str = ""
    mutants: Names = ()
    verdicts: Names = ()
    promises: Names = ()
    trace: str = ""
    boundary: str = ""


def names() -> Names:
    folder = files("nbcc") / "specs" / "mechanisms"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load(name: str) -> Mechanism:
    """Return the mechanism with the given name.

    Raises ValueError if the name is unknown, or if the mechanism's file is invalid.
    """
    if name not in (known := names()):
        raise ValueError(f"no mechanism is called {name!r}; {nearest(name, known, 'nbcc list mechanisms')}")
    text = (files("nbcc") / "specs" / "mechanisms" / f"{name}.toml").read_text(encoding="utf-8")
    return from_mapping(name, tomllib.loads(text))


def from_mapping(name: str, given: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism described by the fields of a TOML file.

    Raises ValueError if a field is unknown or missing.
    """
    known = [field.name for field in fields(Mechanism) if field.name != "name"]
    refuse_unknown(given, ("format", *known), f"mechanism {name!r}")
    if missing := [field for field in _REQUIRED if field not in given]:
        raise ValueError(f"mechanism {name!r}: {missing[0]!r} is missing")
    values: dict[str, Any] = {
        field: tuple(value) if field in _LISTS else value for field, value in given.items() if field != "format"
    }
    return Mechanism(name=name, **values)
