"""The generated page docs/mechanisms.md, and the checks of what the features of the mechanisms name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

from nbcc.model.answers import KINDS
from nbcc.model.mechanisms import actions
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices
from nbcc.model.validation import nearest
from nbcc.model.world import World, limit_names
from nbcc.simulator.lockstep.mechanism import Feature, Names
from nbcc.simulator.lockstep.mechanisms import features, rooms
from nbcc.simulator.search import mutants

from .markdown import table

BY_HAND: Final = (
    "archive", "clean", "cluster", "commit_log_compaction", "configured", "give_back", "hold", "log_compact",
    "plan_clustering", "plan_log_compaction", "procedure",
)  # fmt: skip
"""Calls of the peer that only tests in tests/interop make; no random history contains them."""


def missing(mechanism: Feature) -> Iterator[str]:
    """Yield a sentence for each name of the feature that does not exist."""
    for field, known in _known().items():
        named = getattr(mechanism, field)
        for word in (named,) if isinstance(named, str) else named:
            if word and word not in known and not (field == "engine" and _is_function(word)):
                yield f"{mechanism.name}: {field} names {word!r}, which is not there; {nearest(word, known)}"
    if mechanism.hudi and mechanism.hudi_impossible:
        yield f"{mechanism.name}: it names steps on Hudi and also says that they are impossible"
    if mechanism.boundary and _plain(mechanism.boundary) not in _plain(_boundary()):
        yield f"{mechanism.name}: specs/boundary.md does not say {mechanism.boundary!r}"


def homeless(all_of_them: Iterable[Feature]) -> Iterator[str]:
    """Return the actions of the model, operations of the engine and options of the protocol that no mechanism names."""
    found = tuple(all_of_them)
    for field, there in (("model", actions()), ("engine", _operations()), ("options", choices())):
        named = {word for mechanism in found for word in getattr(mechanism, field)}
        yield from (f"{field}: no mechanism names {word!r}" for word in there if word not in named)


def _known() -> dict[str, Iterable[str]]:
    from nbcc.simulator.lockstep.mapping import STEPS

    of_world = (each.name for each in fields(World) if each.name != "limits")
    limits = (f"world.{name}" for name in (*of_world, *limit_names()))
    return {
        "model": tuple(actions()),
        "options": (*choices(), *limits),
        "engine": _operations(),
        "hudi": (*(step.call for step in STEPS.values() if step.call), *BY_HAND, *KINDS),
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


def mapped(mechanism: Feature) -> str:
    """Return how model and engine are compared: by a row of the mapping for each action, or by the answer of a read."""
    from nbcc.simulator.lockstep.mapping import MAPPING

    if mechanism.model:
        return "every action" if {*mechanism.model} <= {row.action for row in MAPPING} else ""
    return "the answer" if mechanism.options and {*mechanism.engine} & {*KINDS} else ""


LONG: Final = 130
"""The length of a sentence that is shortened in the table."""
COLUMNS: Final[dict[str, Callable[[Feature], str]]] = {
    "model": lambda m: "model" * bool(m.model or m.options),
    "engine": lambda m: "engine" * bool(m.engine or m.engine_refuses),
    "mapping": mapped,
    "Apache Hudi": lambda m: "Hudi" * bool(m.hudi or m.hudi_impossible),
    "mutants": lambda m: ", ".join(m.mutants),
    "verdicts": lambda m: ", ".join(m.verdicts),
    "gallery": lambda m: m.trace,
    "boundary": lambda m: m.boundary,
}
"""Column of the file -> its answer; "" if it is open."""
HEAD: Final = """# Mechanisms

Generated by `python -m tools.regenerate mechanisms` from the
[files of the mechanisms](../simulator/lockstep/mechanisms): what nbcc has of Hudi. A file lists the operations of the
engine, the steps on Hudi, the mutants and the protocols that weaken the mechanism. `nbcc explain NAME` prints it with
its actions and options and a run.

- *actions*: of the model. *breaks*: the promises that its mutants break. *run*: a run of the gallery.
- *Hudi*: **yes** if Apache Hudi takes its steps in compared histories; **no** if it cannot, with the reason below.
"""


def page() -> str:
    """Return the text of docs/mechanisms.md."""
    found = tuple(features().values())
    parts = (_table(found), _unanswered(found), _reasons(found), _references(found))
    return "\n".join([HEAD, *(line for part in parts for line in part)]).rstrip() + "\n"


def _table(found: Iterable[Feature]) -> Iterator[str]:
    rows = (
        (
            f"[{m.name}]",
            first_sentence(m.about),
            len(m.model),
            _broken(m) or NOT_YET,
            f"[{_number(m.trace)}]" if m.trace else NOT_YET,
            "yes" if m.hudi else "no" if m.hudi_impossible else NOT_YET,
        )
        for m in found
    )
    yield from (*table(("mechanism", "what it does", "actions", "breaks", "run", "Hudi"), rows), "")


def first_sentence(text: str) -> str:
    """Return the text up to its first full stop or semicolon; of a long sentence, the part before its colon."""
    sentence = re.split(r"[.;](?: |$)", text, maxsplit=1)[0]
    return f"{sentence if len(sentence) <= LONG else sentence.partition(': ')[0]}."


def _broken(mechanism: Feature) -> str:
    """Return the promises that the mechanism's mutants break; a mutant of the checks may break none."""
    broken = {mutants.load(name).breaks for name in mechanism.mutants}
    return ", ".join(promise for promise in PROMISES if promise in broken)


def _unanswered(found: Iterable[Feature]) -> Iterator[str]:
    for m in found:
        if open_columns := [title for title, answer in COLUMNS.items() if not answer(m)]:
            yield from (f"- {m.name} has no answer for: {', '.join(open_columns)}", "")


def _reasons(found: Iterable[Feature]) -> Iterator[str]:
    yield from ("## Not on Apache Hudi, not in the engine", "")
    for m in found:
        if m.hudi_impossible:
            yield f"- {m.name}: {m.hudi_impossible}"
        if m.engine_refuses:
            yield f"- {m.name}, in the engine: {m.engine_refuses}"
    yield ""


def _references(found: Iterable[Feature]) -> Iterator[str]:
    homes = {each.name: module for module, room in rooms().items() for each in room.features}
    yield from (f"[{m.name}]: ../simulator/lockstep/mechanisms/{homes[m.name]}.py" for m in found)
    runs = sorted({m.trace for m in found if m.trace})
    yield from (f"[{_number(run)}]: ../specs/traces/{run}.svg" for run in runs)


def _number(run: str) -> str:
    return run.partition("-")[0]
