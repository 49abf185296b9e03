"""A search kept in a file, so that it can go on in another process: after a stop at a bound, or after a reboot.

A file is taken up only by the search that wrote it: same system, promises, reductions and model code. It is read with
an unpickler that knows plain values and our own named tuples, and runs nothing else.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from array import array
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from nbcc.model import Model

from .search import Search

FOLDERS = ("model", "simulator/explore")
"""Whose source decides what a search finds."""
FIGURES = ("generated", "depth", "at", "level_end", "stands_for", "goes_back")


class NoCheckpoint(ValueError):
    """A file that was not written by this search."""


def identity(system: Any, promises: Sequence[Any], reduced: bool) -> str:
    """What must be the same for a search to go on."""
    what: Any = repr(system)
    if isinstance(system, Model):
        what = (system.world.to_mapping(), system.protocol.to_mapping())
    elif hasattr(system, "setting"):
        what = system.setting
    said = repr((what, [promise.name for promise in promises], reduced, code(*FOLDERS)))
    return hashlib.sha256(said.encode()).hexdigest()


def code(*folders: str) -> str:
    """A name for our source in these folders: what other code has found is not taken up."""
    sources = [sorted((files("nbcc") / each).rglob("*.py")) for each in folders]  # type: ignore[attr-defined]  # no zip
    return hashlib.sha256(b"".join(each.read_bytes() for each in chain.from_iterable(sources))).hexdigest()


def read(path: Path, wanted: str) -> dict[str, Any] | None:
    """What was written down; None where nothing was. NoCheckpoint: another search wrote it, or nobody did."""
    if not path.exists():
        return None
    try:
        kept = _Careful(io.BytesIO(path.read_bytes())).load()
        same = kept["format"] == 1 and kept["identity"] == wanted
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise NoCheckpoint(f"{path} is no checkpoint of a search; name another file, or delete it") from None
    if not same:
        raise NoCheckpoint(f"{path} was written by another search, or by other code; name another file, or delete it")
    found: dict[str, Any] = kept
    return found


def write(path: Path, search: Search, wanted: str) -> None:
    """Write a search down, whole or not at all."""
    ends = search.ends
    kept = {
        "format": 1,
        "identity": wanted,
        "values": search.space.system.coding.dump() if hasattr(search.space.system, "coding") else None,
        "states": search.states,
        "parents": search.parents.tobytes(),
        "figures": {name: getattr(search, name) for name in FIGURES},
        "ends": (ends.count, ends.by_budget, ends.deadlock),
        "watches": [(w.reached, w.doubt, w.broken) for w in search.watchers.watches],
    }
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        pickle.dump(kept, file, protocol=5)
    os.replace(beside, path)


def resume(search: Search, kept: dict[str, Any]) -> None:
    """Put a search where another one stopped; the numbers of values were taken over before (`Coding.load`)."""
    search.states = kept["states"]
    search.numbers = {state: number for number, state in enumerate(search.states)}
    search.parents = array("q")
    search.parents.frombytes(kept["parents"])
    for name, value in kept["figures"].items():
        setattr(search, name, value)
    search.look, search.resumed = search.at, True
    search.ends.count, search.ends.by_budget, search.ends.deadlock = kept["ends"]
    for watch, (reached, doubt, broken) in zip(search.watchers.watches, kept["watches"], strict=True):
        watch.reached, watch.doubt, watch.broken = reached, doubt, broken


class _Careful(pickle.Unpickler):
    """Knows our named tuples and nothing else that is looked up by name."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(import_module(module), name, None) if module.startswith("nbcc.") else None
        if isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields"):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no named tuple of ours")
