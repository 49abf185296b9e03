"""The generated page docs/mechanisms.md, and the checks of what the files of `specs/mechanisms` name."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

from nbcc.model.answers import KINDS
from nbcc.model.mechanisms import actions
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices
from nbcc.model.validation import nearest
from nbcc.model.world import world_names
from nbcc.simulator import mutants
from nbcc.simulator.mechanisms import Mechanism, Names, load, names


def missing(mechanism: Mechanism) -> Iterator[str]:
    """A sentence for each name in the file that does not exist."""
    for field, known in _known().items():
        named = getattr(mechanism, field)
        for word in (named,) if isinstance(named, str) else named:
            if word and word not in known and not (field == "engine" and _is_function(word)):
                yield f"{mechanism.name}: {field} names {word!r}, which is not there; {nearest(word, known)}"
    if mechanism.hudi and mechanism.hudi_impossible:
        yield f"{mechanism.name}: it names steps on Hudi and also says that they are impossible"
    if mechanism.boundary and _plain(mechanism.boundary) not in _plain(_boundary()):
        yield f"{mechanism.name}: specs/boundary.md does not say {mechanism.boundary!r}"


def homeless(all_of_them: Iterable[Mechanism]) -> Iterator[str]:
    """The actions of the model, operations of the engine and options of the protocol that no mechanism names."""
    found = tuple(all_of_them)
    for field, there in (("model", actions()), ("engine", _operations()), ("settings", choices())):
        named = {word for mechanism in found for word in getattr(mechanism, field)}
        yield from (f"{field}: no mechanism names {word!r}" for word in there if word not in named)


def _known() -> dict[str, Iterable[str]]:
    """Field -> the words that it may hold."""
    from nbcc.simulator.systems.hudi_steps import BY_HAND, STEPS

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


NOT_YET: Final = "–"
"""An empty column."""


def mapped(mechanism: Mechanism) -> str:
    """How model and engine are compared: by a row of the mapping for each action, or by the answer of a read."""
    from nbcc.simulator.crosscheck.mapping import MAPPING

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
"""Title -> the cell of a mechanism."""


def _code(words: Names) -> str:
    return ", ".join(f"`{word}`" for word in words)


def page() -> str:
    """The text of docs/mechanisms.md."""
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
