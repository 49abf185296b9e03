"""Counts the names of options, kinds of actors and actions that appear as string literals outside their own mechanism,
and the class names of the wheel that two modules define.

A mechanism has two rooms: its file in the model, and its file of the same name in `simulator/lockstep/mechanisms`.
Everywhere else, code refers to an option by its declaration, to a kind by its `Kind` and to an action by a constant, so
that mypy and a search for references find the place. `CEILINGS` may only fall.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from nbcc.model.machine.options import names_of
from nbcc.model.mechanisms import PACKAGES, of_package

ROOT: Final = Path(__file__).parents[1]
READ: Final = ("model", "simulator", "engine", "tools")
LOCKSTEP: Final = Path("simulator/lockstep/mechanisms")

CEILINGS: Final = {"options": 25, "kinds": 73, "actions": 73}
"""The most literals of each sort of name. Lower a number as soon as the count is below it."""

DOUBLED: Final = 14
"""The most class names that two modules of the wheel define: model and engine have the same name for the same thing."""

HOMONYMS: Final = {
    "bulk_insert": "an operation of the engine",
    "checkpoint": "a file of a table, or a folder of Spark",
    "claims": "a component of a state, or a kind of file",
    "clock": "a component of a state, or the value of `read_time`",
    "clustering": "an action of the timeline",
    "completion_time": "a view of the model",
    "decision": "a kind of file",
    "file_ids": "a value of `clustering` and of `replacing`",
    "horizon": "a component of a state",
    "listing": "a step of a reader",
    "requests": "requests to a store, or a tag of transitions",
    "timeline": "a folder, an operation of the engine, or an observation",
}
"""Options whose name is also another word, and what the word means elsewhere. Their literals are not counted."""


def rooms() -> dict[str, dict[str, set[Path]]]:
    """Return, for each sort of name, the rooms (files or folders) of each name: where its literal may be."""
    found: dict[str, dict[str, set[Path]]] = {sort: {} for sort in CEILINGS}
    for package in PACKAGES:
        for module, mechanism in of_package(package).items():
            own = {Path("model", package, f"{module}.py"), Path("model", package, module), LOCKSTEP / f"{module}.py"}
            names = {
                "options": names_of(mechanism.options) if mechanism.options else (),
                "kinds": tuple(kind.name for kind in mechanism.kinds),
                "actions": tuple(action.name for action in mechanism.actions),
            }
            for sort, some in names.items():
                for name in (each for each in some if each not in HOMONYMS):
                    found[sort].setdefault(name, set()).update(own)
    return found


def literals(root: Path = ROOT) -> dict[str, Counter[str]]:
    """Return, for each sort of name, how many literals each file contains outside the rooms of the name."""
    homes = rooms()
    found: dict[str, Counter[str]] = {sort: Counter() for sort in homes}
    for path, text in _sources(root):
        places = {path, *path.parents}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for sort, names in homes.items():
                    if node.value in names and not names[node.value] & places:
                        found[sort][str(path)] += 1
    return found


def doubled_classes(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the class names that several modules of the wheel define, with these modules."""
    found: dict[str, list[str]] = {}
    for path, text in _sources(root):
        if path.parts[0] != "tools":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append(str(path))
    return {name: paths for name, paths in sorted(found.items()) if len(paths) > 1}


def _sources(root: Path) -> Iterator[tuple[Path, str]]:
    for package in READ:
        for path in sorted((root / package).rglob("*.py")):
            yield path.relative_to(root), path.read_text("utf-8")


def report(found: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Yield the counts, and below each count the files, those with most literals first."""
    for sort, files in found.items():
        yield f"{files.total()} literals of {sort} in {len(files)} files; the ceiling is {CEILINGS[sort]}"
        yield from (f"  {count:4} {path}" for path, count in files.most_common())


if __name__ == "__main__":
    at = Path(*sys.argv[1:]) if sys.argv[1:] else ROOT
    print("\n".join(report(literals(at))))
    doubled = doubled_classes(at)
    print(f"{len(doubled)} class names of two modules; the ceiling is {DOUBLED}")
    print("\n".join(f"       {name}: {', '.join(paths)}" for name, paths in doubled.items()))
