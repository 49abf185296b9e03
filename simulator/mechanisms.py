"""The mechanisms of Hudi in nbcc, one file each in `specs/mechanisms`."""

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
    """One mechanism, with the parts of nbcc that implement or test it.

    `model` are the mechanism's actions in the model. `options` are the mechanism's options of the protocol, and its
    limits in the form `world.limit`. `engine` are the operations of the engine's table that implement the mechanism, or
    `module:function`. `engine_refuses` is the engine's refusal, if the engine lacks the mechanism. `hudi` is the
    mechanism's steps on Apache Hudi, or its kinds of query. `hudi_impossible` is the reason why Apache Hudi has no
    steps for the mechanism. `verdicts` are protocols whose verdicts show what each weaker option breaks. `trace` is a
    run of the gallery that shows the mechanism. `boundary` contains words that occur in the mechanism's line of
    specs/boundary.md.
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
    """The mechanism with this name.

    Raises ValueError if no mechanism has this name, or if its file is invalid.
    """
    if name not in (known := names()):
        raise ValueError(f"no mechanism is called {name!r}; {nearest(name, known, 'nbcc list mechanisms')}")
    text = (files("nbcc") / "specs" / "mechanisms" / f"{name}.toml").read_text(encoding="utf-8")
    return from_mapping(name, tomllib.loads(text))


def from_mapping(name: str, given: Mapping[str, Any]) -> Mechanism:
    """Make a mechanism from the fields of its file.

    Raises:
        ValueError: a field is unknown or missing.
    """
    known = [field.name for field in fields(Mechanism) if field.name != "name"]
    refuse_unknown(given, ("format", *known), f"mechanism {name!r}")
    if missing := [field for field in _REQUIRED if field not in given]:
        raise ValueError(f"mechanism {name!r}: {missing[0]!r} is missing")
    values: dict[str, Any] = {
        field: tuple(value) if field in _LISTS else value for field, value in given.items() if field != "format"
    }
    return Mechanism(name=name, **values)
