"""Mechanisms: what of Hudi is here, each held together from model to boundary by one file of `specs/mechanisms`.

A mechanism is done when every column of its row is filled; an empty one is shown as empty, never filled by a promise.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

from nbcc.model.answers import KINDS
from nbcc.model.mechanisms import actions
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices
from nbcc.model.validation import nearest, refuse_unknown
from nbcc.model.world import world_names

from . import mutants

Names = tuple[str, ...]
_REQUIRED: Final = ("format", "title", "about", "source", "issue")
_LISTS: Final = ("model", "settings", "engine", "hudi", "mutants", "verdicts", "promises")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One mechanism. `model`: actions; `settings`: fields of the protocol, of the world as `world.field`;

    `engine`: table operations, or `module:function` of the engine, or else `engine_refuses` says what it does instead;
    `hudi`: steps of the peer or kinds of query, or else `hudi_impossible` says why there are none;
    `verdicts`: protocols whose pins show what each weaker choice costs;
    `trace`: a run of the gallery; `boundary`: words of specs/boundary.md.
    """

    name: str
    title: str
    about: str
    source: str
    issue: int
    model: Names = ()
    settings: Names = ()
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
    """The mechanisms by name of their file."""
    folder = files("nbcc") / "specs" / "mechanisms"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load(name: str) -> Mechanism:
    """A mechanism by name; ValueError says what there is, or what is wrong with its file."""
    if name not in (known := names()):
        raise ValueError(f"no mechanism is called {name!r}; {nearest(name, known)}")
    text = (files("nbcc") / "specs" / "mechanisms" / f"{name}.toml").read_text(encoding="utf-8")
    return from_mapping(name, tomllib.loads(text))


def from_mapping(name: str, given: Mapping[str, Any]) -> Mechanism:
    """A mechanism from the fields of its file; ValueError names the nearest field, or the one that is missing."""
    known = [field.name for field in fields(Mechanism) if field.name != "name"]
    refuse_unknown(given, ("format", *known), f"mechanism {name!r}")
    if missing := [field for field in _REQUIRED if field not in given]:
        raise ValueError(f"mechanism {name!r}: {missing[0]!r} is missing")
    values: dict[str, Any] = {
        field: tuple(value) if field in _LISTS else value for field, value in given.items() if field != "format"
    }
    return Mechanism(name=name, **values)


def missing(mechanism: Mechanism) -> Iterator[str]:
    """What the file names and nobody has, a sentence each."""
    for field, known in _known().items():
        named = getattr(mechanism, field)
        for word in (named,) if isinstance(named, str) else named:
            if word and word not in known and not (field == "engine" and _is_function(word)):
                yield f"{mechanism.name}: {field} names {word!r}, which is not there; {nearest(word, known)}"
    if mechanism.hudi and mechanism.hudi_impossible:
        yield f"{mechanism.name}: it has steps on Hudi, and says that they are impossible"
    if mechanism.boundary and _plain(mechanism.boundary) not in _plain(_boundary()):
        yield f"{mechanism.name}: specs/boundary.md does not say {mechanism.boundary!r}"


def homeless(all_of_them: Iterable[Mechanism]) -> Iterator[str]:
    """Actions of the model, operations of the engine and choices of the protocol that no mechanism names."""
    found = tuple(all_of_them)
    for field, there in (("model", actions()), ("engine", _operations()), ("settings", choices())):
        named = {word for mechanism in found for word in getattr(mechanism, field)}
        yield from (f"{field}: no mechanism names {word!r}" for word in there if word not in named)


def _known() -> dict[str, Iterable[str]]:
    """Field -> the words that it may hold."""
    from .systems.hudi_steps import BY_HAND, STEPS

    limits = (f"world.{name}" for name in world_names())
    return {
        "model": tuple(actions()),
        "settings": (*choices(), *limits),
        "engine": _operations(),
        "hudi": (*(step.call for step in STEPS if step.call), *BY_HAND, *KINDS),
        "mutants": mutants.names(),
        "verdicts": tuple(_pins()),
        "promises": tuple(PROMISES),
        "trace": tuple(sorted(e.name[:-5] for e in _folder("traces") if e.name.endswith(".json"))),
    }


def _operations() -> Names:
    from nbcc.engine.actions import operations

    return tuple(operations())


def _is_function(word: str) -> bool:
    module, _, function = word.partition(":")
    try:
        return bool(function) and callable(getattr(import_module(f"nbcc.engine.{module}"), function, None))
    except ModuleNotFoundError:
        return False


def _folder(kind: str) -> Iterator[Any]:
    return (files("nbcc") / "specs" / kind).iterdir()


@cache
def _pins() -> dict[str, Any]:
    pins: dict[str, Any] = tomllib.loads((files("nbcc") / "specs" / "sizes.toml").read_text("utf-8"))["protocols"]
    return pins


@cache
def _boundary() -> str:
    return (files("nbcc") / "specs" / "boundary.md").read_text("utf-8")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


# The table that docs/mechanisms.md holds.

NOT_YET: Final = "–"
"""An empty column."""


def mapped(mechanism: Mechanism) -> str:
    """How the model's part is held against the engine's: a row of the mapping an action, or the answer of a read."""
    from .crosscheck.mapping import MAPPING

    if mechanism.model:
        return "every action" if {*mechanism.model} <= {row.action for row in MAPPING} else ""
    return "the answer" if mechanism.settings and {*mechanism.engine} & {*KINDS} else ""


COLUMNS: Final[dict[str, Callable[[Mechanism], str]]] = {
    "model": lambda m: _code((*m.model, *m.settings)),
    "engine": lambda m: _code(m.engine) or (f"refuses: {m.engine_refuses}" if m.engine_refuses else ""),
    "mapping": mapped,
    "Apache Hudi": lambda m: _code(m.hudi) or (f"impossible: {m.hudi_impossible}" if m.hudi_impossible else ""),
    "mutants": lambda m: _code(m.mutants),
    "verdicts": lambda m: _code(m.verdicts),
    "gallery": lambda m: f"[{m.trace}](../specs/traces/{m.trace}.svg)" if m.trace else "",
    "boundary": lambda m: f"“{m.boundary}”" if m.boundary else "",
}
"""The eight columns, each by its title."""


def _code(words: Names) -> str:
    return ", ".join(f"`{word}`" for word in words)


def page() -> str:
    """docs/mechanisms.md."""
    found = sorted(map(load, names()), key=lambda m: (m.issue, m.name))
    answered = [m for m in found if all(cell(m) for cell in COLUMNS.values())]
    full = [m for m in answered if not m.hudi_impossible and not m.engine_refuses]
    impossible = sum(bool(m.hudi_impossible) for m in answered)
    refused = sum(bool(m.engine_refuses) for m in answered)
    lines = [
        "# Mechanisms",
        "",
        "Generated from [specs/mechanisms](../specs/mechanisms): what of Hudi is here, and where. A mechanism is done",
        f"when all eight columns are answered; {NOT_YET}: not answered. `nbcc explain NAME` shows it with its run.",
        "",
        f"{len(full)} of {len(found)} have every column. {impossible} cannot be played on Apache Hudi, and the engine "
        f"refuses {refused}: their cells say why.",
        "",
        f"| mechanism | {' | '.join(COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
    ]
    for m in found:
        cells = " | ".join(cell(m) or NOT_YET for cell in COLUMNS.values())
        lines.append(f"| **{m.title}** (`{m.name}`). {m.about} *{m.source}* | {cells} |")
    return "\n".join(lines) + "\n"
